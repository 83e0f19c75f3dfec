import { isCompacted } from "../../etcd/persist.ts";
import type { KeyRange, KeyValue } from "../../protocol/txn.ts";
import { type ObserverPorts, patiently } from "./ports.ts";

export interface Page {
  kvs: readonly KeyValue[];
  /** Of the whole read: every page is true at it. */
  revision: bigint;
}

export interface ReadOptions {
  /** To read what stood then. Default: now. */
  revision?: bigint | undefined;
  keysOnly?: boolean;
  signal?: AbortSignal | undefined;
}

/** Keys in the first page; later ones are measured by what the one before weighed. */
const FIRST_PAGE = 500;
const LARGEST_PAGE = 10_000;
/** Characters of keys and values that a page is meant to have. */
const PAGE_WEIGHT = 1_000_000;
/** A read that was overtaken by a compaction is begun again so often. */
const TRIES = 5;

/**
 * A range in pages, all at one revision, in the order of keys.
 * @throws StoreError; `compacted` when the revision was compacted away meanwhile
 */
export async function* pages(
  ports: ObserverPorts,
  range: Required<KeyRange>,
  { revision, keysOnly = false, signal }: ReadOptions = {},
): AsyncGenerator<Page> {
  let { key } = range;
  let limit = FIRST_PAGE;
  let pinned = revision;
  for (;;) {
    const request = { ...range, key, limit, keysOnly, ...(pinned !== undefined && { revision: pinned }) };
    const page = await patiently(ports, (call) => ports.store.range(request, call), signal);
    pinned ??= page.revision;
    yield { kvs: page.kvs, revision: pinned };
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return;
    key = `${last.key}\0`;
    limit = pageSize(page.kvs);
  }
}

function pageSize(kvs: readonly KeyValue[]): number {
  const weight = kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  return Math.min(LARGEST_PAGE, Math.max(1, Math.floor((PAGE_WEIGHT * kvs.length) / Math.max(1, weight))));
}

/** Every key of a range at one revision. @throws StoreError */
export async function readAll(
  ports: ObserverPorts,
  range: Required<KeyRange>,
  options: ReadOptions = {},
): Promise<KeyValue[]> {
  const kvs: KeyValue[] = [];
  for await (const page of pages(ports, range, options)) kvs.push(...page.kvs);
  return kvs;
}

/** What a read is poured into. */
export interface Sink {
  readonly ranges: readonly Required<KeyRange>[];
  begin(): void;
  see(kv: KeyValue): void;
  finish(revision: bigint): void;
}

/**
 * Reads all of a sink's ranges at one revision; begun again when a compaction overtakes it.
 * @returns the revision
 * @throws StoreError
 */
export async function load(ports: ObserverPorts, sink: Sink, options: ReadOptions = {}): Promise<bigint> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await loadOnce(ports, sink, options);
    } catch (error) {
      if (!isCompacted(error) || options.revision !== undefined || left <= 1) throw error;
    }
  }
}

/**
 * etcd answers a read that a compaction overtakes without the keys that are being compacted away, and without a word. So
 * what was read counts only if its revision can still be read afterwards.
 * @throws StoreError `compacted`
 */
async function stillThere(
  ports: ObserverPorts,
  { ranges: [range] }: Sink,
  revision: bigint | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (range === undefined || revision === undefined) return;
  const glance = { key: range.key, keysOnly: true, limit: 1, revision };
  await patiently(ports, (call) => ports.store.range(glance, call), signal);
}

async function loadOnce(ports: ObserverPorts, sink: Sink, options: ReadOptions): Promise<bigint> {
  let { revision } = options;
  sink.begin();
  for (const range of sink.ranges) {
    for await (const page of pages(ports, range, { ...options, revision })) {
      revision ??= page.revision;
      for (const kv of page.kvs) sink.see(kv);
    }
  }
  await stillThere(ports, sink, revision, options.signal);
  sink.finish(revision ?? 0n);
  return revision ?? 0n;
}
