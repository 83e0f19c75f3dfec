import type { OutputRequest } from "../protocol/output.ts";
import type { KeyValue } from "../protocol/txn.ts";
import { listSegments } from "./output-directory.ts";
import { findOutputStart, type OutputStart, readRecords } from "./output-reader.ts";
import { cutFirst, encodeRecord, HEADER_BYTES, type OutputRecord } from "./output-record.ts";

/** Bytes that a viewer gets at once, and then for each second: etcd keeps what is written until it is compacted. */
const AT_ONCE = 1024 * 1024;
const EACH_SECOND = 16 * 1024;

/** How much one viewer may get. */
export class OutputBudget {
  #left = AT_ONCE;
  #at: number;

  /** @param now  reading of the clock, ms */
  constructor(now: number) {
    this.#at = now;
  }

  getLeft(now: number): number {
    this.#left = Math.min(AT_ONCE, this.#left + ((now - this.#at) / 1_000) * EACH_SECOND);
    this.#at = now;
    return this.#left;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }
}

/** What a viewer gets next. */
export interface ViewerPiece {
  records: Buffer;
  skipped: number;
  isEnd: boolean;
  next: number;
}

/** Fewer bytes are not worth a write. */
const LEAST = 4_096;

/** One viewer of the output of a run, as the process that answers sees it. */
export class ViewerState {
  readonly kv: KeyValue;
  readonly run: string;
  readonly viewer: string;
  /** Reading of the clock when the request was first seen, ms. */
  readonly seenAt: number;
  request: OutputRequest;
  /** Number of the last chunk written. */
  number = 0;
  /** `create_revision` of the chunk's key; 0n before the first. */
  chunkRevision = 0n;
  readonly #directory: string;
  readonly #budget: OutputBudget;
  #start: OutputStart | undefined;
  #hasEnded = false;
  /** Written perhaps: the answer was lost. What is written again must be the same. */
  #pending: ViewerPiece | undefined;

  constructor(
    directory: string,
    of: { kv: KeyValue; run: string; viewer: string; request: OutputRequest },
    now: number,
  ) {
    this.kv = of.kv;
    this.run = of.run;
    this.viewer = of.viewer;
    this.request = of.request;
    this.seenAt = now;
    this.#directory = directory;
    this.#budget = new OutputBudget(now);
  }

  /** Whether the viewer was given the last piece, or another process answers. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether the viewer has read everything that it was given, and more may follow. */
  get isReady(): boolean {
    return !this.#hasEnded && this.request.read >= this.number;
  }

  /**
   * Reads the next piece.
   * @param most  bytes
   * @param isRunning  whether more output may come
   * @returns undefined if there is nothing new; the first piece is never undefined
   */
  async readPiece(most: number, isRunning: boolean, now: number): Promise<ViewerPiece | undefined> {
    this.#pending ??= await this.#readNext(most, isRunning, now);
    return this.#pending;
  }

  async #readNext(most: number, isRunning: boolean, now: number): Promise<ViewerPiece | undefined> {
    this.#start ??= await findOutputStart(this.#directory, this.run, this.request);
    const { position, cut } = this.#start;
    const limit = Math.floor(Math.min(most, this.#budget.getLeft(now)));
    if (limit < LEAST && this.number > 0) return undefined;
    const part = await readRecords(this.#directory, this.run, position, limit);
    const late = this.request.follow ? await this.#skipAhead(part.next, limit) : 0;
    const kept = late > 0 ? await readRecords(this.#directory, this.run, part.next + late, limit) : part;
    const records = cutFirst(kept.records, late > 0 || part.skipped > 0 ? 0 : cut);
    const hasEnd = records.some(({ kind }) => kind === 4);
    const isEnd = hasEnd || (records.length === 0 && !(this.request.follow && isRunning));
    if (records.length === 0 && !isEnd && this.number > 0) return undefined;
    const skipped = late > 0 ? kept.next - position - sumBytes(kept.records) : part.skipped;
    return { records: Buffer.concat(records.map(encodeRecord)), skipped, isEnd, next: kept.next };
  }

  /** Call this when a piece was written. */
  advance({ records, next, isEnd }: ViewerPiece): void {
    this.#start = { position: next, cut: 0 };
    this.#budget.spend(records.length);
    this.#hasEnded = isEnd;
    this.#pending = undefined;
    this.number += 1;
  }

  /** Another process answers. */
  giveUp(): void {
    this.#hasEnded = true;
  }

  /** A viewer that follows gets the newest output. @returns how many bytes after `next` to skip */
  async #skipAhead(next: number, limit: number): Promise<number> {
    const segments = await listSegments(this.#directory, this.run);
    const newest = segments.at(-1);
    if (newest === undefined || newest.start <= next + 4 * limit) return 0;
    return newest.start - next;
  }
}

function sumBytes(records: readonly OutputRecord[]): number {
  return records.reduce((sum, { data }) => sum + HEADER_BYTES + data.length, 0);
}
