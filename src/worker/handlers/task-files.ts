import { constants } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { LARGEST_CHECKPOINT } from "../../schedule/state/checkpoint.ts";
import type { ScheduledTask } from "../handler.ts";

/** How often the files are read, ms. */
const READ_EVERY = 1_000;
/** What is read of the progress, bytes. */
const PROGRESS_BYTES = 1_024;

/**
 * The files in which the command of a task says how far it is, in a private directory: its progress, for people, and its
 * checkpoint, for the next start. They are read while they change.
 */
export class TaskFiles {
  readonly #ports: { clock: Clock; log: Log };
  readonly #task: ScheduledTask;
  readonly #folder: string;
  readonly #over = new AbortController();
  readonly #reading: Promise<void>;
  #progress: string | undefined;
  #checkpoint: string | undefined;
  /** Why a checkpoint is not kept, each reason once. */
  readonly #faults = new Set<string>();

  /**
   * Creates the directory, with the checkpoint of an earlier start.
   * @returns undefined if that is not possible, for example on a full disk: the command runs without it
   */
  static async open(ports: { clock: Clock; log: Log }, task: ScheduledTask): Promise<TaskFiles | undefined> {
    const { checkpoint, id: schedule } = task;
    try {
      const folder = await mkdtemp(join(tmpdir(), "signalbox-task-"));
      if (checkpoint !== undefined)
        await writeFile(join(folder, "checkpoint"), checkpoint, { mode: 0o600, flag: "wx" });
      return new TaskFiles(ports, task, folder);
    } catch (error) {
      const told = { schedule, error: String(error) };
      if (checkpoint === undefined) ports.log.debug("no files for progress and checkpoint", told);
      else ports.log.warn("the command does not get its checkpoint, and begins from the start", told);
      return undefined;
    }
  }

  private constructor(ports: { clock: Clock; log: Log }, task: ScheduledTask, folder: string) {
    this.#ports = ports;
    this.#task = task;
    this.#folder = folder;
    this.#checkpoint = task.checkpoint;
    this.#reading = this.#follow();
  }

  /** The variables that name the files. */
  get env(): Record<string, string> {
    return {
      SIGNALBOX_PROGRESS_FILE: join(this.#folder, "progress"),
      SIGNALBOX_CHECKPOINT_FILE: join(this.#folder, "checkpoint"),
    };
  }

  /** Reads the checkpoint once more, when the command has ended. The task saves it. */
  async readLast(): Promise<void> {
    await this.#stop();
    await this.#readCheckpoint();
  }

  /** Removes the files with their directory. */
  async close(): Promise<void> {
    await this.#stop();
    await rm(this.#folder, { recursive: true, force: true }).catch(() => {});
  }

  async #stop(): Promise<void> {
    this.#over.abort(new Error("the command has ended"));
    await this.#reading;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#over;
    for (;;) {
      await this.#ports.clock.sleep(READ_EVERY, signal).catch(() => {});
      if (signal.aborted) return;
      await this.#readProgress();
      await this.#readCheckpoint();
    }
  }

  async #readProgress(): Promise<void> {
    // The command may not have written it yet.
    const bytes = await readStart(join(this.#folder, "progress"), PROGRESS_BYTES).catch(() => undefined);
    const text = bytes?.toString("utf8");
    if (text !== undefined && text !== this.#progress) this.#task.reportProgress(text);
    this.#progress = text;
  }

  async #readCheckpoint(): Promise<void> {
    let text: string;
    try {
      const bytes = await readStart(join(this.#folder, "checkpoint"), LARGEST_CHECKPOINT + 1);
      if (bytes.length > LARGEST_CHECKPOINT)
        return this.#reportFault(`it is larger than ${LARGEST_CHECKPOINT} bytes`);
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") this.#reportFault(FAULTS[code ?? ""] ?? message);
      return;
    }
    // A shell empties the file before it writes it.
    if (text === "" || text === this.#checkpoint) return;
    this.#checkpoint = text;
    void this.#task.saveCheckpoint(text).catch((error: Error) => {
      this.#reportFault(error.message);
      if (this.#checkpoint === text) this.#checkpoint = undefined; // saved again at the next look
    });
  }

  #reportFault(why: string): void {
    if (this.#faults.has(why)) return;
    this.#faults.add(why);
    const { id: schedule, run } = this.#task;
    this.#ports.log.warn("a checkpoint is not kept, an earlier one stays", { schedule, run, why });
  }
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
