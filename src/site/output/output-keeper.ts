import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import {
  addMs,
  type Clock,
  LONG_AGO,
  type Millis,
  type MonotonicTime,
  NEVER,
  waitAtMost,
} from "../../core/base/clock.ts";
import { clean } from "../../core/base/text.ts";
import { TAIL_BYTES } from "../../core/protocol/output.ts";
import {
  buildSegmentPath,
  type OutputSegment,
  openOutputDirectory,
  pruneOutput,
} from "./output-directory.ts";
import { OutputMask } from "./output-mask.ts";
import { buildLostRecord, encodeRecord, HEADER_BYTES, type OutputRecord } from "./output-record.ts";

/**
 * Bytes kept to build the tail. The window is larger than the tail, because escape sequences and secrets cut at its
 * start must not reach the tail.
 */
const WINDOW_BYTES = 4 * TAIL_BYTES;

/** Keeps the end of the output. */
export class OutputTail {
  #window: Buffer = Buffer.alloc(0);

  take(chunk: Buffer): void {
    this.#window = Buffer.concat([this.#window.subarray(-WINDOW_BYTES), chunk.subarray(-WINDOW_BYTES)]);
  }

  /**
   * Returns the end of the output, at most 4 KiB of UTF-8 with line breaks; undefined when there is no output.
   * @param sanitize  removes what must not appear
   */
  render(sanitize: (text: string) => string = (text) => text): string | undefined {
    const text = sanitize(this.#window.subarray(-WINDOW_BYTES).toString("utf8"));
    const lines = text.split(/\r*\n/).map((line) => clean(line).trimEnd());
    const tail = cutLastBytes(lines.join("\n").trim(), TAIL_BYTES);
    return tail === "" ? undefined : tail;
  }
}

/** Returns the last bytes of a text, cut between characters. */
function cutLastBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  let at = Math.max(0, bytes.length - most);
  while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return bytes.subarray(at).toString("utf8");
}

/** Number of segments of a run, unless they would be larger than the largest. */
const SEGMENTS_PER_RUN = 4;
const LARGEST_SEGMENT = 1024 * 1024;
/** Most bytes of output in one record, so that a viewer can get it in a small chunk. */
const LARGEST_RECORD = 32 * 1024;
/**
 * Bytes that may wait for the disk. What is older than these is dropped. Not more than some times the size of the run, because the
 * end of the run waits for the disk for a limited time only, and most of it would be removed again.
 */
const MOST_WAITING = 1024 * 1024;
const WAITING_SIZES = 4;
/** Pause after a failed write, ms. */
const AFTER_FAILURE = 1_000;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** How long a write waits for those before it, ms. */
const ANSWERS_WITHIN = 10_000;
const NO_ANSWER = "the disk does not answer";
/** Resolves when all that has begun is done. */
let done: Promise<void> = Promise.resolve();
/** Whether a write has waited too long, and its turn has not come since. */
let isStuck = false;

/**
 * Does something when all before it in this process is done, however long that takes. Each call that the disk does not answer keeps a
 * thread of Node.js, which has four: without one, no task would start any more.
 */
function runInTurn(work: () => Promise<void>): Promise<void> {
  const own = done.then(() => {
    isStuck = false;
    return work();
  });
  done = own.catch(() => {});
  return own;
}

/** Writes when it is its turn. @throws the error of the write; Error if the disk does not answer an earlier one */
export async function writeInTurn(clock: Clock, write: () => Promise<void>): Promise<void> {
  if (isStuck) throw new Error(NO_ANSWER); // at once, so that no writes pile up
  const before = done;
  let [hasBegun, isLate] = [false, false];
  const own = runInTurn(async () => {
    if (isLate) return;
    hasBegun = true;
    await write();
  });
  await waitAtMost(clock, ANSWERS_WITHIN, before);
  if (hasBegun) return await own;
  isLate = true;
  isStuck = true;
  throw new Error(NO_ANSWER);
}

interface OutputFileOptions {
  directory: string;
  run: string;
  /** Most bytes of the run. */
  size: number;
  /** Called with the first failure: output is missing from now on, until the disk takes it again. */
  onFault(error: Error): void;
}

/** The kept output of one run: bounded, in segments. Never throws, and never delays its caller. */
export class OutputFile {
  readonly #clock: Clock;
  readonly #options: OutputFileOptions;
  readonly #segmentSize: number;
  readonly #segments: OutputSegment[] = [];
  #handle: FileHandle | undefined;
  /** Position of the next record. */
  #position = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #lost = 0;
  #failedAt: MonotonicTime | undefined;
  #writing: Promise<void> | undefined;

  constructor(clock: Clock, options: OutputFileOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#segmentSize = Math.min(Math.ceil(options.size / SEGMENTS_PER_RUN), LARGEST_SEGMENT);
  }

  /** Keeps output. Returns at once. */
  append(kind: 1 | 2, data: Buffer): void {
    const time = this.#clock.getWallTime();
    const most = Math.min(LARGEST_RECORD, Math.max(256, Math.floor(this.#segmentSize / 2) - HEADER_BYTES));
    for (let at = 0; at < data.length; at += most)
      this.#add({ kind, time, data: data.subarray(at, at + most) });
    this.#startWriting();
  }

  /** Notes that output is missing. */
  addLost(bytes: number): void {
    this.#lost += bytes;
  }

  /** Marks the end, and waits until everything is written, but not for a full disk. */
  async close(): Promise<void> {
    this.#add({ kind: 4, time: this.#clock.getWallTime(), data: Buffer.alloc(0) });
    this.#startWriting();
    await this.#writing;
    if (this.#handle !== undefined) await runInTurn(() => this.#closeSegment());
  }

  #add(record: OutputRecord): void {
    if (this.#waitingBytes > Math.min(MOST_WAITING, WAITING_SIZES * this.#options.size)) {
      this.#lost += this.#waitingBytes;
      this.#waiting = [];
      this.#waitingBytes = 0;
    }
    if (this.#lost > 0) this.#push(encodeRecord(buildLostRecord(this.#lost, record.time)));
    this.#lost = 0;
    this.#push(encodeRecord(record));
  }

  #push(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #startWriting(): void {
    const isPausing =
      this.#failedAt !== undefined && this.#clock.now() < addMs(this.#failedAt, AFTER_FAILURE);
    if (this.#writing !== undefined || isPausing) return;
    this.#writing = this.#writeWaiting().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const records = this.#takeRecords();
      const bytes = Buffer.concat(records);
      try {
        await writeInTurn(this.#clock, () => this.#write(bytes));
        this.#failedAt = undefined;
      } catch (error) {
        if (this.#failedAt === undefined) this.#options.onFault(error as Error);
        this.#failedAt = this.#clock.now();
        this.#lost += bytes.length;
        return;
      }
    }
  }

  /** Takes as many records as a segment may have. */
  #takeRecords(): Buffer[] {
    let bytes = 0;
    let count = 0;
    for (const { length } of this.#waiting) {
      if (count > 0 && bytes + length > this.#segmentSize) break;
      bytes += length;
      count += 1;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  async #write(bytes: Buffer): Promise<void> {
    const { start } = this.#segments.at(-1) ?? { start: 0 };
    const position = this.#position;
    try {
      const isRemoved = (await this.#handle?.stat())?.nlink === 0; // others had more output meanwhile
      if (isRemoved || position - start + bytes.length > this.#segmentSize) await this.#closeSegment();
      this.#position += bytes.length; // also after a failure, so that no two segments have one name
      this.#handle ??= await this.#openSegment(position);
      const { bytesWritten } = await this.#handle.write(bytes);
      if (bytesWritten < bytes.length) throw new Error("the disk is full");
    } catch (error) {
      await this.#closeSegment(); // what follows a damaged record cannot be read, so the next one begins a segment
      // A segment that begins with it has nothing to read, and would hide the end of the output that etcd has.
      if (this.#segments.at(-1)?.start === position) await removeSegment(this.#segments.pop());
      throw error;
    }
  }

  async #openSegment(start: number): Promise<FileHandle> {
    const { directory, run, size } = this.#options;
    await openOutputDirectory(directory);
    const path = buildSegmentPath(directory, run, start);
    const handle = await open(path, NEW_FILE, 0o600);
    this.#segments.push({ path, start });
    while (this.#segments.length > Math.max(1, Math.floor(size / this.#segmentSize)))
      await removeSegment(this.#segments.shift());
    return handle;
  }

  async #closeSegment(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => {});
  }
}

async function removeSegment(segment: OutputSegment | undefined): Promise<void> {
  if (segment !== undefined) await unlink(segment.path).catch(() => {}); // pruned by another process
}

/** Where and how much output is kept. */
export interface OutputStorage {
  directory: string;
  /** Most bytes of one run. */
  size: number;
  /** How long output is kept after the end of a run, ms. */
  age: Millis;
  masks: readonly RegExp[];
}

interface OutputKeeperOptions extends OutputStorage {
  run: string;
  /** What is not output, and is removed. */
  removed?: RegExp | undefined;
  onFault(error: Error): void;
}

/** Interval of looks for old runs, ms. */
const PRUNE_EVERY = 60_000;
let nextPrune = LONG_AGO;

/** Keeps the output of one run: masked, in files, and its end. Never throws, and never delays its caller. */
export class OutputKeeper {
  readonly #clock: Clock;
  readonly #options: OutputKeeperOptions;
  readonly #file: OutputFile;
  readonly #tail = new OutputTail();
  readonly #masks: Record<1 | 2, OutputMask>;
  #hasOutput = false;

  constructor(clock: Clock, options: OutputKeeperOptions) {
    const { masks, removed } = options;
    this.#clock = clock;
    this.#options = options;
    this.#file = new OutputFile(clock, options);
    this.#masks = { 1: new OutputMask(masks, removed), 2: new OutputMask(masks, removed) };
  }

  take(chunk: Buffer, descriptor: 1 | 2): void {
    this.#keep(this.#masks[descriptor].take(chunk), descriptor);
  }

  /** Notes that output is missing here. */
  addLost(bytes: number): void {
    this.#hasOutput = true;
    this.#file.addLost(bytes);
  }

  /** Returns the end of the output, for etcd; undefined when there is no output. */
  renderTail(): string | undefined {
    this.#keep(this.#masks[1].end(), 1);
    this.#keep(this.#masks[2].end(), 2);
    return this.#tail.render();
  }

  /** Marks the end of the run, and waits until the output is in the files. A run without output has no files. */
  async close(): Promise<void> {
    this.renderTail();
    if (!this.#hasOutput) return;
    await this.#file.close();
    const { directory, age } = this.#options;
    if (this.#clock.now() < nextPrune) return;
    nextPrune = NEVER; // a second look would keep a second thread while the disk does not answer
    await pruneOutput(directory, { age, now: this.#clock.getWallTime() });
    nextPrune = addMs(this.#clock.now(), PRUNE_EVERY);
  }

  #keep(bytes: Buffer, descriptor: 1 | 2): void {
    if (bytes.length === 0) return;
    this.#hasOutput = true;
    this.#tail.take(bytes);
    this.#file.append(descriptor, bytes);
  }
}
