import type { Keys } from "../protocol/keys.ts";
import type { WatchBatch, WatchEvent } from "../protocol/txn.ts";
import type { ObserverPorts } from "./ports.ts";

/** A change in the past: its revision, and the keys that it wrote or deleted. */
export interface PastChange {
  revision: bigint;
  keys: readonly string[];
}

/** How many revisions are read at first, and how many times more each time nothing was found. */
const FIRST_SPAN = 64n;
const GROWTH = 8n;
/** How long to wait for a change that etcd may not have, ms: a watch does not say that there is none. */
const PATIENCE = 2_000;
/** Keys that hosts renew all the time. Their changes are no steps. */
const RENEWED: ReadonlySet<string> = new Set([
  "host",
  "agentSession",
  "agentReport",
  "worker",
  "outputChunk",
]);

/** Finds the first change after a revision; undefined if etcd delivers none. @throws StoreError */
export async function findNextChange(
  ports: ObserverPorts,
  revision: bigint,
  signal: AbortSignal,
): Promise<PastChange | undefined> {
  for await (const batch of readChanges(ports, revision + 1n, signal)) {
    const change = toPastChange(ports.keys, batch);
    if (change !== undefined) return change;
  }
  return undefined;
}

/**
 * Finds the last change that a revision includes.
 * @param oldest  the oldest revision that can be read
 * @returns undefined if etcd delivers none @throws StoreError
 */
export async function findLastChange(
  ports: ObserverPorts,
  { revision, oldest }: { revision: bigint; oldest: bigint },
  signal: AbortSignal,
): Promise<PastChange | undefined> {
  for (let span = FIRST_SPAN; ; span *= GROWTH) {
    const start = revision - span + 1n;
    const from = start > oldest ? start : oldest + 1n;
    const found = from > revision ? undefined : await findLastBetween(ports, from, revision, signal);
    if (found !== undefined || from !== start) return found;
  }
}

async function findLastBetween(
  ports: ObserverPorts,
  from: bigint,
  until: bigint,
  signal: AbortSignal,
): Promise<PastChange | undefined> {
  let last: PastChange | undefined;
  for await (const batch of readChanges(ports, from, signal)) {
    if (batch.revision <= until) last = toPastChange(ports.keys, batch) ?? last;
    if (batch.revision >= until) break;
  }
  return last;
}

/** Yields the changes from a revision on, one revision at a time. Ends when etcd has delivered nothing for a while. */
async function* readChanges(
  ports: ObserverPorts,
  from: bigint,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch> {
  const patience = new AbortController();
  const either = AbortSignal.any([signal, patience.signal]);
  let timer = setTimeout(() => patience.abort(), PATIENCE);
  try {
    for await (const { events } of ports.store.watch({ ranges: [ports.keys.getFullRange()], from }, either)) {
      clearTimeout(timer);
      const getRevision = (event: WatchEvent) =>
        event.type === "put" ? event.kv.modRevision : event.revision;
      for (const [revision, own] of Map.groupBy(events, getRevision)) yield { revision, events: own }; // may be several
      timer = setTimeout(() => patience.abort(), PATIENCE);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!patience.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    patience.abort();
  }
}

/** @returns undefined for a change of renewed keys only */
function toPastChange(keys: Keys, { revision, events }: WatchBatch): PastChange | undefined {
  const changed = events
    .map((event) => (event.type === "put" ? event.kv.key : event.key))
    .filter((key) => !RENEWED.has(keys.parse(key).kind));
  return changed.length === 0 ? undefined : { revision, keys: changed };
}
