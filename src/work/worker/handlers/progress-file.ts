import { constants } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";

/** How often the file is read, ms. */
const READ_EVERY = 1_000;
/** What is read of it, bytes. */
const READ_BYTES = 1_024;

/** A file in which a command says how far it is, in a private directory. */
export interface ProgressFile {
  readonly path: string;
  /** Removes the file with its directory. */
  close(): Promise<void>;
}

/**
 * Creates the directory of a progress file, and reads the file while it changes.
 * @param report  called with the text
 * @returns undefined if the directory cannot be created, for example on a full disk: the command runs without it
 */
export async function openProgressFile(
  { clock, log }: { clock: Clock; log: Log },
  report: (text: string) => void,
): Promise<ProgressFile | undefined> {
  const folder = await createFolder(log);
  if (folder === undefined) return undefined;
  const path = join(folder, "progress");
  const over = new AbortController();
  const reading = followFile(path, clock, report, over.signal);
  return {
    path,
    close: async () => {
      over.abort(new Error("the command has ended"));
      await reading;
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    },
  };
}

async function createFolder(log: Log): Promise<string | undefined> {
  try {
    return await mkdtemp(join(tmpdir(), "signalbox-progress-"));
  } catch (error) {
    log.debug("no file for progress", { error: String(error) });
    return undefined;
  }
}

async function followFile(
  path: string,
  clock: Clock,
  report: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let before: string | undefined; ; ) {
    await clock.sleep(READ_EVERY, signal).catch(() => {});
    if (signal.aborted) return;
    const text = await readStart(path).catch(() => undefined); // the command has not written it yet
    if (text !== undefined && text !== before) report(text);
    before = text;
  }
}

async function readStart(path: string): Promise<string> {
  // The command may have put something else there: a pipe would block a thread, a link lead elsewhere.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
