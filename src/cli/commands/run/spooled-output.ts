import { closeSync, constants, fstatSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getErrorMessage } from "../../../core/base/errors.ts";
import type { Log } from "../../../core/base/log.ts";
import { OutputTail } from "../../../site/output/output-keeper.ts";
import type { CommandIo } from "../../frame/command.ts";

const FILE_MODE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;
/** Bytes that are read at once. */
const CHUNK_BYTES = 64 * 1024;
/** Bytes at the end from which the last lines are taken. */
const TAIL_BYTES = 32 * 1024;

/**
 * The output of a command, held back in files without a name, which vanish with the processes that have them open. The
 * command writes to them itself, so output of any length needs no memory here. If standard output and error are the same
 * file, as in cron, one file keeps their order.
 */
export class SpooledOutput {
  readonly descriptors: readonly [stdout: number, stderr: number];
  readonly #io: CommandIo;
  readonly #log: Log;

  constructor(descriptors: readonly [stdout: number, stderr: number], io: CommandIo, log: Log) {
    this.descriptors = descriptors;
    this.#io = io;
    this.#log = log;
  }

  /** @returns undefined if no file can be created; the output then passes as usual */
  static open(io: CommandIo, log: Log): SpooledOutput | undefined {
    try {
      const stdout = openUnnamed();
      return new SpooledOutput([stdout, isSameFile(1, 2) ? stdout : openUnnamed()], io, log);
    } catch (error) {
      log.warn("output is not held back (--quiet-success)", { error: getErrorMessage(error) });
      return undefined;
    }
  }

  /** Returns the last lines: of standard error, if it has any and is a file of its own. */
  readTail(): string | undefined {
    const [stdout, stderr] = this.descriptors;
    return readLastLines(stderr) ?? readLastLines(stdout);
  }

  /** Prints everything. Never throws: the exit code is that of the command. */
  print(): void {
    const [stdout, stderr] = this.descriptors;
    try {
      this.#printFile(stdout, 1);
      if (stderr !== stdout) this.#printFile(stderr, 2);
    } catch (error) {
      this.#log.warn("the output cannot be printed", { error: getErrorMessage(error) });
    }
  }

  close(): void {
    for (const descriptor of new Set(this.descriptors)) closeSync(descriptor);
  }

  #printFile(descriptor: number, to: 1 | 2): void {
    const { size } = fstatSync(descriptor); // what is left in the background may write on
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let at = 0; at < size; ) {
      const length = readSync(descriptor, chunk, 0, Math.min(CHUNK_BYTES, size - at), at);
      if (length === 0 || this.#io.writeBytes?.(chunk.subarray(0, length), to) === false) return;
      at += length;
    }
  }
}

function readLastLines(descriptor: number): string | undefined {
  const { size } = fstatSync(descriptor);
  const end = Buffer.alloc(Math.min(size, TAIL_BYTES));
  const length = readSync(descriptor, end, 0, end.length, size - end.length);
  const tail = new OutputTail();
  tail.take(end.subarray(0, length));
  return tail.render();
}

/** Opens a file that only its descriptor leads to. @throws the system's error */
function openUnnamed(): number {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-output-"));
  try {
    return openSync(join(folder, "output"), FILE_MODE, 0o600);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether two descriptors lead to the same file, pipe or terminal. */
function isSameFile(one: number, other: number): boolean {
  const [a, b] = [fstatSync(one), fstatSync(other)];
  return a.dev === b.dev && a.ino === b.ino;
}
