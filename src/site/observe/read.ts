import { type Millis, NO_LONGER_NEEDED, subtractTime } from "../../core/base/clock.ts";
import { isCompacted } from "../../core/etcd/store.ts";
import type { KeyRange, KeyValue } from "../../core/protocol/txn.ts";
import { type ObserverPorts, readWithRetries } from "./ports.ts";

/** Numbers of keys. */
export interface ReadProgress {
  read: number;
  /** Undefined while it is not known. */
  total: number | undefined;
}

interface Page {
  kvs: readonly KeyValue[];
  /** Revision of the whole read; the same for every page. */
  revision: bigint;
}

type ReadPage = Awaited<ReturnType<typeof readWithRetries>>;

interface ReadOptions {
  /** The revision to read. Default: the current one. */
  revision?: bigint | undefined;
  keysOnly?: boolean;
  /** Begins with the last key. etcd sorts for each page: for readers that need few pages. */
  isReversed?: boolean;
  signal?: AbortSignal | undefined;
}

interface LoadOptions extends ReadOptions {
  /** Called when the sink has the keys of a page. */
  onPage?(): void;
}

/** Keys in the first page. @see PageSize for later ones */
const FIRST_PAGE_KEYS = 500;
/** How often a read is started again after a compaction removed its revision. */
const MAX_READ_TRIES = 5;

/**
 * Reads a range in pages, all at one revision, in the order of keys or its reverse. From the third page on, etcd is asked for a page while the
 * caller handles the one before: half of the time of a long read is etcd's.
 * @throws StoreError; `compacted` when the revision was compacted in the meantime
 */
export async function* readPages(
  ports: ObserverPorts,
  range: Required<KeyRange>,
  { revision, keysOnly = false, isReversed = false, signal }: ReadOptions = {},
): AsyncGenerator<Page> {
  const stop = new AbortController(); // the caller may stop at any page
  const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const size = new PageSize();
  let pinned = revision;
  const sort = isReversed ? ({ by: "key", order: "descend" } as const) : undefined;
  const request = (bounds: Partial<KeyRange>, limit: number): Promise<ReadPage> => {
    const at = { ...range, ...bounds, limit, keysOnly, revision: pinned, ...(sort && { sort }) };
    const start = ports.clock.now();
    const page = readWithRetries(ports, at, either);
    // A failure is reported when the page is awaited.
    page.then(
      () => size.adapt(subtractTime(ports.clock.now(), start)),
      () => {},
    );
    return page;
  };
  try {
    let next: Promise<ReadPage> | undefined = request({}, FIRST_PAGE_KEYS);
    for (let number = 1; next !== undefined; number += 1) {
      const { kvs, more, revision: read }: ReadPage = await next;
      pinned ??= read;
      const last = more ? kvs.at(-1) : undefined;
      const requestNext = (): Promise<ReadPage> | undefined =>
        last && request(isReversed ? { rangeEnd: last.key } : { key: `${last.key}\0` }, size.compute(kvs));
      // Many callers need one page only.
      const early = number > 1 ? requestNext() : undefined;
      yield { kvs, revision: pinned };
      next = early ?? requestNext();
    }
  } finally {
    stop.abort(NO_LONGER_NEEDED);
  }
}

/** Reads every key of a range at one revision. @throws StoreError */
export async function readAll(
  ports: ObserverPorts,
  range: Required<KeyRange>,
  options: ReadOptions = {},
): Promise<KeyValue[]> {
  const kvs: KeyValue[] = [];
  for await (const page of readPages(ports, range, options)) kvs.push(...page.kvs);
  return kvs;
}

/** Receives the keys of a read. */
export interface Sink {
  readonly ranges: readonly Required<KeyRange>[];
  begin(): void;
  add(kv: KeyValue): void;
  finish(revision: bigint): void;
}

/** Counts the keys of ranges. @param revision  undefined: the current one. @throws StoreError */
export async function countKeys(
  ports: ObserverPorts,
  ranges: readonly Required<KeyRange>[],
  { revision, signal }: Pick<ReadOptions, "revision" | "signal">,
): Promise<number> {
  let total = 0;
  for (const range of ranges)
    total += (await readWithRetries(ports, { ...range, revision, countOnly: true }, signal)).count;
  return total;
}

/**
 * Reads all ranges of a sink at one revision. Starts again when the revision is compacted in the meantime.
 * @returns the revision
 * @throws StoreError
 */
export async function load(ports: ObserverPorts, sink: Sink, options: LoadOptions = {}): Promise<bigint> {
  for (let left = MAX_READ_TRIES; ; left -= 1) {
    try {
      return await loadOnce(ports, sink, options);
    } catch (error) {
      if (!isCompacted(error) || options.revision !== undefined || left <= 1) throw error;
    }
  }
}

/**
 * Checks that a revision is still readable after a read. When a compaction overtakes a read, etcd returns the result
 * without the compacted keys and without an error, so a read is valid only if its revision is still readable
 * afterwards.
 * @throws StoreError `compacted`
 */
async function checkRevisionReadable(
  ports: ObserverPorts,
  { ranges: [range] }: Sink,
  revision: bigint | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (range === undefined || revision === undefined) return;
  const glance = { key: range.key, keysOnly: true, limit: 1, revision };
  await readWithRetries(ports, glance, signal);
}

async function loadOnce(ports: ObserverPorts, sink: Sink, options: LoadOptions): Promise<bigint> {
  let { revision } = options;
  sink.begin();
  for (const range of sink.ranges) {
    for await (const page of readPages(ports, range, { ...options, revision })) {
      revision ??= page.revision;
      for (const kv of page.kvs) sink.add(kv);
      options.onPage?.();
    }
  }
  await checkRevisionReadable(ports, sink, revision, options.signal);
  sink.finish(revision ?? 0n);
  return revision ?? 0n;
}

const LARGEST_PAGE = 10_000;
/** Size of a page in characters of keys and values: at first, and its limits. A large one needs memory while it is decoded. */
const PAGE_CHARACTERS = { first: 500_000, least: 100_000, most: 2_000_000 };
/** A page that takes less time may be followed by a larger one; one that takes more, by a smaller one, ms. */
const QUICK_PAGE_MS = 150;
const SLOW_PAGE_MS = 400;

/**
 * The size of the next page of a long read. For each page, etcd 3.4 visits all keys that are left in the range, so that few large
 * pages are much cheaper than many small ones. Over a slow connection, a large page would reach the time limit of a request.
 */
export class PageSize {
  #weight = PAGE_CHARACTERS.first;

  /** Adapts the size to the time that a page took, ms. */
  adapt(took: Millis): void {
    if (took < QUICK_PAGE_MS) this.#weight = Math.min(PAGE_CHARACTERS.most, 2 * this.#weight);
    if (took > SLOW_PAGE_MS) this.#weight = Math.max(PAGE_CHARACTERS.least, this.#weight / 2);
  }

  /** Computes the number of keys for the next page. @param kvs  the page before: the next keys will be similar */
  compute(kvs: readonly KeyValue[]): number {
    const weight = kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    const keys = Math.floor((this.#weight * kvs.length) / Math.max(1, weight));
    return Math.min(LARGEST_PAGE, Math.max(1, keys));
  }
}
