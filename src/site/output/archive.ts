import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Clock, NO_LONGER_NEEDED, type WallTime, waitAtMost } from "../../core/base/clock.ts";
import { EXIT, SignalboxError } from "../../core/base/errors.ts";
import { generateRunId } from "../../core/base/ids.ts";
import type { Log } from "../../core/base/log.ts";
import { isJsonObject, parseJson } from "../../core/base/parse-json.ts";
import type { Random } from "../../core/base/random.ts";
import { quoteText } from "../../core/base/text.ts";
import { createFolder } from "../../core/process/create-folder.ts";

// Records of the past in files of this host: a line of JSON for each. The current file is renamed when it is full.

export interface ArchiveOptions {
  /** The current file. Full ones have its name with a time behind it. */
  path: string;
  /** Bytes of one file. A file may be larger by one record, or by what several processes write at once. */
  size: number;
  /** Number of files, with the current one; the oldest are removed. */
  files: number;
}

/** A record. Of two with one id, one is a copy. */
interface ArchiveRecord extends Record<string, unknown> {
  id: string;
}

/** Pause after a failed write, ms. */
const AFTER_FAILURE = 5_000;
/** How long the end of the process waits for the disk, ms. */
const LAST_WAIT = 2_000;
/** Records that wait for a full disk at most; the oldest are dropped. */
const MOST_WAITING = 10_000;
/** Several processes may write to one archive. A link or a pipe is not followed. */
const APPEND_FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
const SAFE_READ_FLAGS = constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface ArchivePorts {
  clock: Clock;
  random: Random;
  log: Log;
}

/** Writes records into an archive. Never throws, and never delays its caller. */
export class ArchiveWriter {
  readonly #ports: ArchivePorts;
  readonly #options: ArchiveOptions;
  readonly #over = new AbortController();
  #waiting: string[] = [];
  #writing: Promise<void> | undefined;
  /** Why the last attempt has failed; undefined if it has not. */
  #fault: string | undefined;
  #lost = 0;

  constructor(ports: ArchivePorts, options: ArchiveOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  append(record: ArchiveRecord): void {
    // The disk does not answer.
    if (this.#waiting.length >= 2 * MOST_WAITING) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(`${JSON.stringify({ v: 1, ...record })}\n`);
    this.#writing ??= this.#writeWaiting().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Waits until everything is written, but not for a full disk. */
  async close(): Promise<void> {
    this.#over.abort(NO_LONGER_NEEDED);
    const { clock, log } = this.#ports;
    await waitAtMost(clock, LAST_WAIT, this.#writing ?? Promise.resolve());
    const lost = this.#lost + this.#waiting.length;
    if (lost > 0)
      log.warn("records were not archived", {
        file: this.#options.path,
        records: lost,
        error: this.#fault ?? "the disk does not answer",
      });
  }

  async #writeWaiting(): Promise<void> {
    const { clock, log } = this.#ports;
    const { path: file } = this.#options;
    while (this.#waiting.length > 0) {
      const isLast = this.#over.signal.aborted;
      try {
        await moveLines(this.#ports, this.#options, this.#waiting);
        if (this.#fault !== undefined) log.info("records are archived again", { file, lost: this.#lost });
        this.#fault = undefined;
        this.#lost = 0;
      } catch (error) {
        this.#lost += this.#waiting.splice(0, Math.max(0, this.#waiting.length - MOST_WAITING)).length;
        const isTold = this.#fault !== undefined || this.#over.signal.aborted; // the end tells it too
        this.#fault = String(error);
        if (!isTold) log.warn("records wait to be archived", { file, error: this.#fault });
        if (isLast) return;
        await clock.sleep(AFTER_FAILURE, this.#over.signal).catch(() => {});
      }
    }
  }
}

/**
 * Returns what is added to the name of a full file. It sorts behind the name of the newest one, even if the clock was set back since:
 * the first of all are removed.
 */
function nameFullFile({ clock, random }: ArchivePorts, newest = ""): string {
  const before = readTime(newest);
  const at = Math.max(clock.getWallTime(), before === undefined ? 0 : before + 1);
  return `${new Date(at).toISOString().replaceAll(/[-:.]/g, "")}-${generateRunId(random)}`;
}

const FULL_FILE_NAME = /\.(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-[0-9a-z]{12,32}$/;

/** Reads the time from the name of a full file; undefined if it has none. */
function readTime(path: string): WallTime | undefined {
  const found = FULL_FILE_NAME.exec(path);
  const time =
    found === null ? Number.NaN : Date.parse(found[0].replace(FULL_FILE_NAME, "$1-$2-$3T$4:$5:$6.$7Z"));
  return Number.isNaN(time) ? undefined : time;
}

/** Bytes of one write, unless a record is larger. */
const LARGEST_WRITE = 1024 * 1024;

/** Moves the first lines to the current file, as many as it has space for. @throws the system's error; Error if the disk is full */
async function moveLines(ports: ArchivePorts, options: ArchiveOptions, waiting: string[]): Promise<void> {
  const { path, size } = options;
  await createFolder(dirname(path), 0o700);
  await renameFull(ports, options, Buffer.byteLength(waiting[0] ?? ""));
  const file = await open(path, APPEND_FLAGS | SAFE_READ_FLAGS, 0o600).catch(explainLink);
  try {
    const used = await readSize(file);
    const end = await readLineEnd(file, used);
    const lines = takeFitting(waiting, Math.min(LARGEST_WRITE, size - used));
    const bytes = Buffer.from(end + lines.join(""));
    const { bytesWritten } = await file.write(bytes);
    const whole = bytes.subarray(end.length, Math.max(end.length, bytesWritten)).toString().split("\n");
    waiting.splice(0, whole.length - 1);
    if (bytesWritten < bytes.length) throw new Error("the disk is full");
  } finally {
    await file.close();
  }
}

/** Returns the first lines that have space, at least one. */
function takeFitting(lines: readonly string[], space: number): string[] {
  let left = space;
  let count = 0;
  for (const line of lines) {
    left -= Buffer.byteLength(line);
    if (count > 0 && left < 0) break;
    count += 1;
  }
  return lines.slice(0, count);
}

/** How long a process may need to rename a file, ms. If it was killed meanwhile, another one does it after that. */
const RENAMED_WITHIN = 10_000;

/**
 * Renames the current file if it has no space for so many bytes, and removes the oldest ones. Only one process does it at a time:
 * another one would rename the next file, which is hardly begun, and the oldest files would be removed too soon.
 */
async function renameFull(
  ports: ArchivePorts,
  { path, size, files }: ArchiveOptions,
  more: number,
): Promise<void> {
  const isFull = async () => {
    const status = await lstat(path).catch(() => undefined);
    return status?.isFile() === true && status.size > 0 && status.size + more > size;
  };
  const lock = `${path}.lock`;
  if (!(await isFull()) || !(await takeLock(lock))) return;
  try {
    if (!(await isFull())) return;
    const newest = (await listFullFiles(path)).at(-1);
    await rename(path, `${path}.${nameFullFile(ports, newest)}`).catch(ignoreMissing); // by hand, or by logrotate
    const full = await listFullFiles(path);
    for (const old of full.slice(0, Math.max(0, full.length - files + 1))) await unlink(old).catch(() => {});
  } finally {
    await unlink(lock).catch(() => {});
  }
}

/** Creates a file that only one process has. @returns false if another process has it */
async function takeLock(lock: string): Promise<boolean> {
  const status = await lstat(lock).catch(() => undefined);
  if (status !== undefined && Math.abs(Date.now() - status.mtimeMs) > RENAMED_WITHIN)
    await unlink(lock).catch(() => {});
  try {
    await (await open(lock, "wx", 0o600)).close();
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EEXIST"; // a full disk must not keep the oldest files
  }
}

function explainLink(error: NodeJS.ErrnoException): never {
  if (error.code !== "ELOOP") throw error;
  throw new Error("it is a symbolic link, which is not followed", { cause: error });
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** @throws Error if it is not a file */
async function readSize(file: FileHandle): Promise<number> {
  const status = await file.stat();
  if (!status.isFile()) throw new Error("it is not a file");
  return status.size;
}

/** Returns the line break that is missing if a process was killed, or found the disk full, in the middle of a line. */
async function readLineEnd(file: FileHandle, size: number): Promise<string> {
  if (size === 0) return "";
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() === "\n" ? "" : "\n";
}

/** Lists the full files of an archive, the oldest first; none if the folder cannot be read. */
async function listFullFiles(path: string): Promise<string[]> {
  const [folder, name] = [dirname(path), basename(path)];
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((one) => one.startsWith(name) && FULL_FILE_NAME.exec(one)?.index === name.length)
    .sort()
    .map((one) => join(folder, one));
}

/**
 * Reads the records of an archive, in the order in which they were written, each once.
 * @param onUnreadable  called with the number of lines that are not records: a process was killed in the middle of one
 * @throws SignalboxError if the archive does not exist, or cannot be read
 */
export async function* readArchive(
  path: string,
  onUnreadable: (lines: number) => void,
): AsyncGenerator<ArchiveRecord> {
  const seen = new Set<string>();
  let unreadable = 0;
  for await (const line of readLines(path)) {
    const record = parseJson(line);
    if (isJsonObject(record) && typeof record.id === "string") {
      if (!seen.has(record.id)) yield record as ArchiveRecord;
      seen.add(record.id);
    } else if (line !== "") unreadable += 1;
  }
  if (unreadable > 0) onUnreadable(unreadable);
}

/** Reads the lines of all files. The current one is opened first: it may be renamed meanwhile. */
async function* readLines(path: string): AsyncGenerator<string> {
  const current = await openFile(path);
  try {
    const { ino } = (await current?.stat()) ?? {};
    const full = await listFullFiles(path);
    if (current === undefined && full.length === 0) throw createReadError(path, "there is none");
    for (const one of full) {
      const file = await openFile(one);
      try {
        if (ino !== undefined && (await file?.stat())?.ino === ino) break; // renamed since; later ones are new
        if (file !== undefined) yield* readFileLines(file);
      } finally {
        await file?.close();
      }
    }
    if (current !== undefined) yield* readFileLines(current);
  } catch (error) {
    throw error instanceof SignalboxError ? error : createReadError(path, error);
  } finally {
    await current?.close();
  }
}

/** Longest line that is read whole, characters. No record is so long. */
const LONGEST_LINE = 4 * 1024 * 1024;

/** Reads the lines of a file. Of a line that is too long, it yields the beginning: a power failure can leave a file full of zeros. */
async function* readFileLines(file: FileHandle): AsyncGenerator<string> {
  let line = "";
  for await (const text of file.createReadStream({ encoding: "utf8", autoClose: false })) {
    const [first = "", ...others] = (text as string).split("\n");
    if (line.length < LONGEST_LINE) line += first;
    for (const other of others) {
      yield line;
      line = other;
    }
  }
  yield line;
}

/** @returns undefined if the file does not exist @throws SignalboxError */
async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new Error("it is not a file");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw createReadError(path, error);
  }
}

function createReadError(path: string, cause: unknown): SignalboxError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new SignalboxError(EXIT.undone, `cannot read the archive ${quoteText(path)}: ${why}`, { cause });
}
