import { addMs, type Clock, type MonotonicTime, subtractTime } from "../../core/base/clock.ts";
import { generateRunId } from "../../core/base/ids.ts";
import type { Log } from "../../core/base/log.ts";
import type { Random } from "../../core/base/random.ts";
import type { Store } from "../../core/etcd/store.ts";
import { waitForChange } from "../../core/etcd/wait-for-change.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import {
  formatOutputChunk,
  type OutputRequest,
  parseOutputChunk,
  parseOutputRequest,
} from "../../core/protocol/output.ts";
import { findFirstKey, type KeyValue, type Op, type OpResult } from "../../core/protocol/txn.ts";
import { listSegments } from "./output-directory.ts";
import { findOutputStart, type OutputStart, readRecords } from "./output-reader.ts";
import { cutFirst, encodeRecord, HEADER_BYTES, type OutputRecord } from "./output-record.ts";

interface OutputServerPorts {
  store: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  log: Log;
}

interface OutputServerOptions {
  /** Full name of this host. */
  host: string;
  /** The only run that is answered for; undefined for all whose output is in the directory. */
  run?: string;
  directory: string;
  /** Whether this process runs it now. */
  isRunning(run: string): boolean;
}

/** Pause between two answers, ms. */
const ANSWER_PAUSE_MS = 500;
/** How long to let the process that runs the command answer first, ms. */
const RUNNER_FIRST_MS = 1_000;
/** Interval of reads when nobody asks, ms: a watch can stop without an error. */
const READ_INTERVAL_MS = 60_000;
/** Pause after an error, ms. */
const FAILURE_PAUSE_MS = 2_000;
/** Most viewers in one answer, and most bytes for all of them before base64. */
const MAX_VIEWERS = 20;
const MAX_ANSWER_BYTES = 720 * 1024;
const MAX_PIECE_BYTES = 192 * 1024;

/** Answers requests for the output of runs of this host. Writes nothing while nobody asks. */
export class OutputServer {
  readonly #ports: OutputServerPorts;
  readonly #options: OutputServerOptions;
  readonly #id: string;
  readonly #viewers = new Map<string, ViewerState>();

  constructor(ports: OutputServerPorts, options: OutputServerOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#id = generateRunId(ports.random);
  }

  /** Answers until the signal is aborted. Never rejects: output is not worth more than the run. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await this.#serve(signal).catch((error) => this.#handleFault(error, signal));
  }

  /** Whether a viewer has not yet got everything. */
  get isNeeded(): boolean {
    return [...this.#viewers.values()].some(({ hasEnded }) => !hasEnded);
  }

  async #handleFault(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#ports.log.info("requests for output are not answered", { error: String(error) });
    await this.#ports.clock.sleep(FAILURE_PAUSE_MS, signal).catch(() => {});
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { store, keys, clock } = this.#ports;
    const range = keys.getOutputRequestRange(this.#options.host, this.#options.run);
    const { kvs, revision } = await store.readRange(range, signal);
    await this.#updateViewers(kvs);
    if (this.#viewers.size === 0)
      await waitForChange(this.#ports, { ranges: [range], from: revision + 1n }, READ_INTERVAL_MS, signal);
    else {
      await this.#answer(signal);
      await clock.sleep(ANSWER_PAUSE_MS, signal);
    }
  }

  async #updateViewers(kvs: readonly KeyValue[]): Promise<void> {
    const present = new Set(kvs.map(({ key }) => key));
    for (const key of this.#viewers.keys()) if (!present.has(key)) this.#viewers.delete(key);
    for (const kv of kvs) {
      const parsed = this.#ports.keys.parse(kv.key);
      const request = parseOutputRequest(kv.value);
      if (parsed.kind !== "outputRequest" || request === undefined || kv.session === 0n) continue;
      const known = this.#viewers.get(kv.key);
      if (known?.kv.createRevision === kv.createRevision) known.request = request;
      else if (await this.#hasOutput(parsed.run)) {
        const viewer = { kv, run: parsed.run, viewer: parsed.viewer, request };
        this.#viewers.set(kv.key, new ViewerState(this.#options.directory, viewer, this.#ports.clock.now()));
      }
    }
  }

  async #hasOutput(run: string): Promise<boolean> {
    const { directory, isRunning } = this.#options;
    return isRunning(run) || (await listSegments(directory, run)).length > 0;
  }

  async #answer(signal: AbortSignal): Promise<void> {
    const { clock, store } = this.#ports;
    const { isRunning, run } = this.#options;
    const now = clock.now();
    const isFirst = (one: ViewerState) => one.run === run || isRunning(one.run);
    const ready = [...this.#viewers.values()]
      .filter(
        (one) => one.isReady && (isFirst(one) || one.number > 0 || now >= addMs(one.seenAt, RUNNER_FIRST_MS)),
      )
      .slice(0, MAX_VIEWERS);
    const most = Math.min(MAX_PIECE_BYTES, Math.floor(MAX_ANSWER_BYTES / ready.length));
    const pieces: [ViewerState, ViewerPiece][] = [];
    for (const state of ready) {
      const piece = await state.readPiece(most, isRunning(state.run), now);
      if (piece !== undefined) pieces.push([state, piece]);
    }
    if (pieces.length === 0) return;
    const success = pieces.map(([state, piece]) => this.#buildPut(state, piece));
    const { results, revision } = await store.commitTxn({ compare: [], success, failure: [] }, signal);
    for (const [index, [state, piece]] of pieces.entries())
      this.#recordAnswer(state, piece, results[index], revision);
  }

  /** Writes a chunk if the viewer still asks, and nobody else answers. */
  #buildPut({ kv, viewer, number, chunkRevision }: ViewerState, piece: ViewerPiece): Op {
    const key = this.#ports.keys.outputChunk(viewer);
    const { records, skipped, isEnd } = piece;
    const chunk = {
      number: number + 1,
      server: this.#id,
      records: records.toString("base64"),
      skipped,
      isEnd,
    };
    return {
      op: "txn",
      txn: {
        compare: [
          { key: kv.key, target: "create", is: "equal", value: kv.createRevision },
          { key, target: "create", is: "equal", value: chunkRevision },
        ],
        success: [{ op: "put", key, value: formatOutputChunk(chunk), session: kv.session }],
        failure: [{ op: "range", key }],
      },
    };
  }

  #recordAnswer(
    state: ViewerState,
    piece: ViewerPiece,
    result: OpResult | undefined,
    revision: bigint,
  ): void {
    if (result?.op !== "txn") return;
    if (result.succeeded) {
      if (state.number === 0) state.chunkRevision = revision;
      state.advance(piece);
      return;
    }
    const written = findFirstKey(result.results[0]);
    const chunk = parseOutputChunk(written?.value);
    // An earlier copy of this call was applied, and its answer was lost.
    const isOwn = chunk?.server === this.#id && chunk.number === state.number + 1;
    if (written !== undefined && isOwn) {
      state.chunkRevision = written.createRevision;
      state.advance(piece);
    } else if (written !== undefined) state.giveUp();
  }
}

/** Bytes that a viewer gets at once, and then for each second: etcd keeps what is written until it is compacted. */
const AT_ONCE = 1024 * 1024;
const EACH_SECOND = 16 * 1024;

/** How much one viewer may get. */
export class OutputBudget {
  #left = AT_ONCE;
  #at: MonotonicTime;

  constructor(now: MonotonicTime) {
    this.#at = now;
  }

  getLeft(now: MonotonicTime): number {
    this.#left = Math.min(AT_ONCE, this.#left + (subtractTime(now, this.#at) / 1_000) * EACH_SECOND);
    this.#at = now;
    return this.#left;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }
}

/** What a viewer gets next. */
interface ViewerPiece {
  records: Buffer;
  skipped: number;
  isEnd: boolean;
  next: number;
}

/** Fewer bytes are not worth a write. */
const MIN_WRITE_BYTES = 4_096;

/** One viewer of the output of a run, as the process that answers sees it. */
class ViewerState {
  readonly kv: KeyValue;
  readonly run: string;
  readonly viewer: string;
  /** When the request was first seen. */
  readonly seenAt: MonotonicTime;
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
    now: MonotonicTime,
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
  async readPiece(most: number, isRunning: boolean, now: MonotonicTime): Promise<ViewerPiece | undefined> {
    this.#pending ??= await this.#readNext(most, isRunning, now);
    return this.#pending;
  }

  async #readNext(most: number, isRunning: boolean, now: MonotonicTime): Promise<ViewerPiece | undefined> {
    this.#start ??= await findOutputStart(this.#directory, this.run, this.request);
    const { position, cut } = this.#start;
    const limit = Math.floor(Math.min(most, this.#budget.getLeft(now)));
    if (limit < MIN_WRITE_BYTES && this.number > 0) return undefined;
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
