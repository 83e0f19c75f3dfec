import { isCompacted } from "../etcd/retry.ts";
import { parseAuditRecord } from "../protocol/audit.ts";
import { parsePastRuns } from "../protocol/history.ts";
import type { Keys } from "../protocol/keys.ts";
import { parseTicket, type Ticket } from "../protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../protocol/txn.ts";
import { parseOutcomes } from "../schedule/state/outcome.ts";
import { parseRunning } from "../schedule/state/running-record.ts";
import { type ObserverPorts, readWithRetries } from "./ports.ts";

/** A revision of etcd, and when the last change with a stated time was made that it includes. */
export interface TimedRevision {
  revision: bigint;
  /** By the clock of the host that made the change, ms since the epoch; undefined if no value states a time. */
  at: number | undefined;
}

/** The revision that was current at a time. */
interface FoundRevision {
  kind: "found";
  revision: bigint;
  /** The last change with a stated time until then, ms since the epoch; undefined if there was none. */
  from: number | undefined;
  /** The first one after it; undefined if there is none yet. */
  until: number | undefined;
}

/** No revision of that time can be read any more. */
interface RevisionTooOld {
  kind: "tooOld";
  /** The oldest one that can be read. */
  oldest: TimedRevision;
}

/**
 * How many of the newest keys are looked at. A value need not state a time, and a run that claims again states when it
 * claimed first, so the latest of several times counts.
 */
const NEWEST = 4;

/** Whether a read failed because etcd has compacted its revision. */
export function isTooOld(error: unknown): boolean {
  return isCompacted(error);
}

/** Reads the current revision of etcd. @throws StoreError */
export async function readCurrentRevision(ports: ObserverPorts, signal: AbortSignal): Promise<bigint> {
  const { key } = ports.keys.getFullRange();
  return (await readWithRetries(ports, { key, limit: 1, keysOnly: true }, signal)).revision;
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
      readWithRetries(ports, { ...range, revision, sort, limit: NEWEST }, signal),
    ),
  );
  const newest = pages.flatMap(({ kvs }) => kvs).sort(compareNewestFirst);
  const times = newest.flatMap((kv) => findStatedTime(ports.keys, kv) ?? []).slice(0, NEWEST);
  return { revision, at: times.length === 0 ? undefined : Math.max(...times) };
}

/**
 * Finds the revision that was current at a time: the last one before the first change with a later time. Clocks of hosts
 * differ, so the result is as exact as they are.
 * @param at  ms since the epoch
 * @throws StoreError
 */
export async function findRevisionAt(
  ports: ObserverPorts,
  at: number,
  signal: AbortSignal,
): Promise<FoundRevision | RevisionTooOld> {
  const now = await readTimeOfRevision(ports, await readCurrentRevision(ports, signal), signal);
  if (now.at === undefined || now.at <= at)
    return { kind: "found", revision: now.revision, from: now.at, until: undefined };
  let high: TimedRevision = now;
  /** Undefined while all lower revisions that were tried have been compacted. */
  let low: TimedRevision | undefined;
  let least = 0n;
  while (high.revision - least > 1n) {
    const middle = await readIfKept(ports, (least + high.revision) / 2n, signal);
    if (middle.isKept && middle.at !== undefined && middle.at > at) high = middle;
    else {
      least = middle.revision;
      if (middle.isKept) low = middle;
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
    const middle = (least + high) / 2n;
    if (await isKept(ports, middle, signal)) high = middle;
    else least = middle;
  }
  return await readTimeOfRevision(ports, high, signal);
}

async function readIfKept(
  ports: ObserverPorts,
  revision: bigint,
  signal: AbortSignal,
): Promise<TimedRevision & { isKept: boolean }> {
  try {
    return { ...(await readTimeOfRevision(ports, revision, signal)), isKept: true };
  } catch (error) {
    if (!isCompacted(error)) throw error;
    return { revision, at: undefined, isKept: false };
  }
}

async function isKept(ports: ObserverPorts, revision: bigint, signal: AbortSignal): Promise<boolean> {
  const { key } = ports.keys.getFullRange();
  try {
    await readWithRetries(ports, { key, limit: 1, keysOnly: true, revision }, signal);
    return true;
  } catch (error) {
    if (!isCompacted(error)) throw error;
    return false;
  }
}

function compareNewestFirst(a: KeyValue, b: KeyValue): number {
  return a.modRevision > b.modRevision ? -1 : a.modRevision < b.modRevision ? 1 : 0;
}

/** Lists the ranges of the keys whose values state when they were written. */
function listTimedRanges(keys: Keys): Required<KeyRange>[] {
  return [
    keys.histories(),
    keys.audits(),
    keys.getOutcomesRange(),
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
  if (ticket !== undefined) return findLastChange(ticket, isNew);
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
function findLastChange({ state, reset, grantedAt, enqueuedAt }: Ticket, isNew: boolean): number | undefined {
  if (reset !== undefined) return reset.at;
  if (state === "held") return grantedAt ?? (isNew ? enqueuedAt : undefined);
  return state === "waiting" && isNew ? enqueuedAt : undefined;
}

/** Drops what is not an instant: a key can be written by hand. */
function toInstant(at: number | undefined): number | undefined {
  return at !== undefined && Number.isFinite(at) && at >= 0 && at <= 8.64e15 ? at : undefined;
}
