import type { WallTime } from "../../core/base/clock.ts";
import { isCompacted } from "../../core/etcd/store.ts";
import { parseAuditRecord } from "../../core/protocol/audit.ts";
import { parsePastRuns } from "../../core/protocol/history.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import { parseTicket, type Ticket } from "../../core/protocol/ticket.ts";
import type { KeyRange, KeyValue, WatchBatch, WatchEvent } from "../../core/protocol/txn.ts";
import { parseOutcomes } from "../../schedule/state/outcome.ts";
import { parseRunning } from "../../schedule/state/running-record.ts";
import { type ObserverPorts, readWithRetries } from "./ports.ts";

/** A revision of etcd, and when the last change with a stated time was made that it includes. */
export interface TimedRevision {
  revision: bigint;
  /** By the clock of the host that made the change, ms since the epoch; undefined if no value states a time. */
  at: WallTime | undefined;
}

/** The revision that was current at a time. */
interface FoundRevision {
  kind: "found";
  revision: bigint;
  /** The last change with a stated time until then, ms since the epoch; undefined if there was none. */
  from: WallTime | undefined;
  /** The first one after it; undefined if there is none yet. */
  until: WallTime | undefined;
}

/**
 * How many of the newest keys are looked at. A value need not state a time, and a run that claims again states when it
 * claimed first, so the latest of several times counts.
 */
const EXAMINED_KEYS = 4;

/** Whether a read failed because etcd has compacted its revision. */
export function isTooOld(error: unknown): boolean {
  return isCompacted(error);
}

/** Reads the current revision of etcd. @throws StoreError */
export async function readCurrentRevision(ports: ObserverPorts, signal: AbortSignal): Promise<bigint> {
  return (await readWithRetries(ports, buildGlance(ports.keys), signal)).revision;
}

function buildGlance(keys: Keys) {
  return { key: keys.getFullRange().key, limit: 1, keysOnly: true };
}

/** Reads when the last change until a revision was made, as far as values state times. @throws StoreError */
export async function readTimeOfRevision(
  ports: ObserverPorts,
  revision: bigint,
  signal: AbortSignal,
): Promise<TimedRevision> {
  const sort = { by: "mod", order: "descend" } as const;
  const pages = await Promise.all(
    listTimedRanges(ports.keys).map((range) =>
      readWithRetries(ports, { ...range, revision, sort, limit: EXAMINED_KEYS }, signal),
    ),
  );
  const newest = pages.flatMap(({ kvs }) => kvs).sort((a, b) => Number(b.modRevision - a.modRevision));
  const times = newest.flatMap((kv) => findStatedTime(ports.keys, kv) ?? []).slice(0, EXAMINED_KEYS);
  return { revision, at: times.length === 0 ? undefined : Math.max(...times) };
}

/**
 * Finds the revision that was current at a time: the last one before the first change with a later time. Clocks of hosts
 * differ, so the result is as exact as they are.
 * @returns `tooOld` with the oldest revision that can be read, if none of that time can be
 * @throws StoreError
 */
export async function findRevisionAt(
  ports: ObserverPorts,
  at: WallTime,
  signal: AbortSignal,
): Promise<FoundRevision | { kind: "tooOld"; oldest: TimedRevision }> {
  const now = await readTimeOfRevision(ports, await readCurrentRevision(ports, signal), signal);
  if (now.at === undefined || now.at <= at)
    return { kind: "found", revision: now.revision, from: now.at, until: undefined };
  let high: TimedRevision = now;
  /** Undefined while all lower revisions that were tried have been compacted. */
  let low: TimedRevision | undefined;
  let least = 0n;
  while (high.revision - least > 1n) {
    const revision = (least + high.revision) / 2n;
    const middle = await readTimeOfRevision(ports, revision, signal).catch(ignoreCompacted);
    if (middle?.at !== undefined && middle.at > at) high = middle;
    else {
      least = revision;
      low = middle ?? low;
    }
  }
  if (low === undefined) return { kind: "tooOld", oldest: high };
  return { kind: "found", revision: low.revision, from: low.at, until: high.at };
}

/** Finds the oldest revision that etcd has not compacted. @throws StoreError */
export async function findOldestRevision(ports: ObserverPorts, signal: AbortSignal): Promise<TimedRevision> {
  let high = await readCurrentRevision(ports, signal);
  let least = 0n;
  while (high - least > 1n) {
    const revision = (least + high) / 2n;
    const glance = { ...buildGlance(ports.keys), revision };
    const kept = await readWithRetries(ports, glance, signal).catch(ignoreCompacted);
    if (kept === undefined) least = revision;
    else high = revision;
  }
  return await readTimeOfRevision(ports, high, signal);
}

function ignoreCompacted(error: unknown): undefined {
  if (!isCompacted(error)) throw error;
}

/** Lists the ranges of the keys whose values state when they were written. */
function listTimedRanges(keys: Keys): Required<KeyRange>[] {
  return [
    keys.histories(),
    keys.audits(),
    keys.outcomeHistories(),
    keys.runnings(),
    keys.locks(),
    keys.resources(),
  ];
}

/**
 * Returns when the last change of a key was made, as the host that made it states; undefined if its value does not state
 * that. Host records are left out: their times are rounded to five minutes.
 */
export function findStatedTime(keys: Keys, kv: KeyValue): number | undefined {
  const { key, value, createRevision, modRevision } = kv;
  const isNew = createRevision === modRevision;
  const ticket = keys.parseQueueKey(key) && parseTicket(value);
  if (ticket !== undefined) return findTicketTime(ticket, isNew);
  const parsed = keys.parse(key);
  switch (parsed.kind) {
    case "history":
      return toInstant(parsePastRuns(value)[0]?.endedAt);
    case "outcomes":
      return toInstant(parseOutcomes(value).runs[0]?.endedAt);
    case "audit":
      // The record is written again when the outcome is known.
      return isNew ? toInstant(parseAuditRecord(parsed.name, value)?.at) : undefined;
    case "running": {
      const running = parseRunning(value);
      return isNew && "value" in running ? toInstant(running.value.since) : undefined;
    }
    default:
      return undefined;
  }
}

/** @param isNew  the ticket has not changed since its claim */
function findTicketTime({ state, reset, grantedAt, enqueuedAt }: Ticket, isNew: boolean): number | undefined {
  if (reset !== undefined) return reset.at;
  if (state === "held") return grantedAt ?? (isNew ? enqueuedAt : undefined);
  return state === "waiting" && isNew ? enqueuedAt : undefined;
}

/** Drops what is not an instant: a key can be written by hand. */
function toInstant(at: WallTime | undefined): number | undefined {
  return at !== undefined && Number.isFinite(at) && at >= 0 && at <= 8.64e15 ? at : undefined;
}

/** A change in the past: its revision, and the keys that it wrote or deleted. */
export interface PastChange {
  revision: bigint;
  keys: readonly string[];
}

/** How many revisions are read at first, and how many times more each time nothing was found. */
const FIRST_SPAN = 64n;
const STEP_GROWTH = 8n;
/** How long to wait for a change that etcd may not have, ms: a watch does not say that there is none. */
const CHANGE_TIMEOUT_MS = 2_000;
/** Keys that hosts renew all the time. Their changes are no steps. */
const RENEWED_COLLECTIONS: ReadonlySet<string> = new Set([
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
  for (let span = FIRST_SPAN; ; span *= STEP_GROWTH) {
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
  let timer = setTimeout(() => patience.abort(), CHANGE_TIMEOUT_MS);
  try {
    for await (const { events } of ports.store.watch({ ranges: [ports.keys.getFullRange()], from }, either)) {
      clearTimeout(timer);
      const getRevision = (event: WatchEvent) =>
        event.type === "put" ? event.kv.modRevision : event.revision;
      for (const [revision, own] of Map.groupBy(events, getRevision)) yield { revision, events: own }; // may be several
      timer = setTimeout(() => patience.abort(), CHANGE_TIMEOUT_MS);
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
    .filter((key) => !RENEWED_COLLECTIONS.has(keys.parse(key).kind));
  return changed.length === 0 ? undefined : { revision, keys: changed };
}
