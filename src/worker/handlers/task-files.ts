import { constants } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LARGEST_CHECKPOINT } from "../../schedule/state/checkpoint.ts";
import type { ScheduledTask } from "../handler.ts";
import type { HandlerPorts } from "./handler-ports.ts";

/** How often the files are read, ms. */
const READ_EVERY = 1_000;
/** What is read of the progress, bytes. */
const PROGRESS_BYTES = 1_024;

/**
 * The files in which the command of a task says how far it is, in a private directory: its progress, for people, and its
 * checkpoint, for the next start. They are read while they change.
 */
interface TaskFiles {
  /** The variables that name the files. */
  readonly env: Record<string, string>;
  /** Reads the checkpoint once more, when the command has ended. The task saves it. */
  readLast(): Promise<void>;
  /** Removes the files with their directory. */
  close(): Promise<void>;
}

/**
 * Creates the directory, with the checkpoint of an earlier start.
 * @returns undefined if that is not possible, for example on a full disk: the command runs without it
 */
export async function openTaskFiles(
  ports: HandlerPorts,
  task: ScheduledTask,
): Promise<TaskFiles | undefined> {
  const { checkpoint, id: schedule } = task;
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), "signalbox-task-"));
    if (checkpoint !== undefined)
      await writeFile(join(folder, "checkpoint"), checkpoint, { mode: 0o600, flag: "wx" });
    return followTaskFiles(ports, task, folder);
  } catch (error) {
    const told = { schedule, error: String(error) };
    if (checkpoint === undefined) ports.log.debug("no files for progress and checkpoint", told);
    else ports.log.warn("the command does not get its checkpoint, and begins from the start", told);
    if (folder !== undefined) await removeFolder(folder);
    return undefined;
  }
}

function followTaskFiles({ clock, log }: HandlerPorts, task: ScheduledTask, folder: string): TaskFiles {
  const [progressFile, checkpointFile] = [join(folder, "progress"), join(folder, "checkpoint")];
  const over = new AbortController();
  let isClosed = false;
  let progress: string | undefined;
  let { checkpoint } = task;
  /** Why a checkpoint is not kept, each reason once. */
  const faults = new Set<string>();

  const reportFault = (why: string) => {
    if (faults.has(why)) return;
    faults.add(why);
    const { id: schedule, run } = task;
    log.warn("a checkpoint is not kept, an earlier one stays", { schedule, run, why });
  };

  const readProgress = async () => {
    // The command may not have written it yet.
    const bytes = await readStart(progressFile, PROGRESS_BYTES).catch(() => undefined);
    const text = bytes?.toString("utf8");
    if (text !== undefined && text !== progress) task.reportProgress(text);
    progress = text;
  };

  const readCheckpoint = async () => {
    let text: string;
    try {
      const bytes = await readStart(checkpointFile, LARGEST_CHECKPOINT + 1);
      if (bytes.length > LARGEST_CHECKPOINT)
        return reportFault(`it is larger than ${LARGEST_CHECKPOINT} bytes`);
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") reportFault(FAULTS[code ?? ""] ?? message);
      return;
    }
    // A shell empties the file before it writes it. After a success, a checkpoint that was read late must not be saved.
    if (text === "" || text === checkpoint || isClosed) return;
    checkpoint = text;
    void task.saveCheckpoint(text).catch((error: Error) => {
      reportFault(error.message);
      if (checkpoint === text) checkpoint = undefined; // saved again at the next look
    });
  };

  const follow = async () => {
    for (;;) {
      await clock.sleep(READ_EVERY, over.signal).catch(() => {});
      if (over.signal.aborted) return;
      await readProgress();
      await readCheckpoint();
    }
  };

  const reading = follow();
  const stop = async () => {
    over.abort(new Error("the command has ended"));
    await reading;
  };
  return {
    env: { SIGNALBOX_PROGRESS_FILE: progressFile, SIGNALBOX_CHECKPOINT_FILE: checkpointFile },
    async readLast() {
      await stop();
      await readCheckpoint();
    },
    async close() {
      isClosed = true;
      await stop();
      await removeFolder(folder);
    },
  };
}

async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {});
}

const FAULTS: Readonly<Record<string, string>> = {
  ELOOP: "the file is a symbolic link; write or rename a file there",
  ERR_ENCODING_INVALID_ENCODED_DATA: "it is not text in UTF-8",
};

async function readStart(path: string, most: number): Promise<Buffer> {
  // The command may have put something else there: a pipe would block a thread, a link lead elsewhere.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    if (!(await file.stat()).isFile()) throw new Error("it is not a file");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
