import {
  type Millis,
  type MonotonicTime,
  NEVER,
  NO_LONGER_NEEDED,
  subtractTime,
  type WallTime,
} from "../../core/base/clock.ts";
import { isCompacted, isUnavailable } from "../../core/etcd/store.ts";
import type { AuditAction } from "../../core/protocol/audit.ts";
import { deleteEntries } from "../../core/protocol/guards.ts";
import { type QueueEntry, serializeTicket, toQueueEntry } from "../../core/protocol/ticket.ts";
import { type Compare, findFirstKey, type Op } from "../../core/protocol/txn.ts";
import { VanishedTickets } from "../../core/run/vanished-tickets.ts";
import type { ObserverPorts } from "../observe/ports.ts";
import { type ActionResult, executeInChunks, formatOperator, type OperatorPorts } from "./operator-action.ts";

/** Tickets that an operator wants to remove, as they were read. */
interface Eviction {
  action: Extract<AuditAction, "reset" | "drain">;
  target: string;
  entries: readonly QueueEntry[];
  /** Revision that the operator has read. */
  seen: bigint;
  reason?: string | undefined;
  /** Further conditions that must hold. At most 20: together with the tickets, fewer than etcd's 128 operations. */
  compare?: readonly Compare[];
}

/**
 * Returns whether a reset request can be written into the ticket, or whether it needs none. Others can only be removed.
 */
export function canRequestReset({ ticket, vanished }: QueueEntry): boolean {
  return ticket !== undefined && vanished === undefined;
}

/**
 * Asks runs to give up their claims: writes a request into every ticket. The runner then ends its command and removes
 * its queue entries. A ticket in grace has no command to end, so it is deleted. A ticket with a request is not changed.
 * @returns `changed` as soon as a ticket differs from what was read; undefined when there was nothing to write
 * @throws SignalboxError 77, StoreError
 */
export function requestResets(ports: OperatorPorts, eviction: Eviction): Promise<ActionResult | undefined> {
  const at = ports.clock.getWallTime();
  const { reason } = eviction;
  const request = { by: formatOperator(ports.operator), at, ...(reason !== undefined && { why: reason }) };
  const buildRequest = ({ key, ticket, vanished }: QueueEntry): Op[] => {
    if (ticket === undefined || ticket.reset !== undefined || vanished !== undefined) return [];
    if (ticket.state === "grace") return [{ op: "delete", key }];
    return [{ op: "put", key, value: serializeTicket({ ...ticket, reset: request }), keepSession: true }];
  };
  return evictInChunks(ports, eviction, buildRequest, "asked to end");
}

/**
 * Deletes the tickets and marks at once, without waiting for their runs: the next run may start while a command on a host that is
 * cut off is still alive. Returns the same results as `requestResets`.
 */
export function removeTickets(ports: OperatorPorts, eviction: Eviction): Promise<ActionResult | undefined> {
  return evictInChunks(ports, eviction, (entry) => deleteEntries(ports.keys, [entry]), "removed by force");
}

function evictInChunks(
  ports: OperatorPorts,
  eviction: Eviction,
  buildOps: (entry: QueueEntry) => Op[],
  outcome: string,
): Promise<ActionResult | undefined> {
  const { entries, compare = [], ...rest } = eviction;
  const due = entries.filter((entry) => buildOps(entry).length > 0);
  return executeInChunks(ports, { ...rest, outcome, compare }, due, (chunk) => chunk.flatMap(buildOps));
}

/** Identifies a ticket; a later ticket with the same key has another revision. */
interface TicketRef {
  key: string;
  createRevision: bigint;
}

/** An event while waiting for tickets to leave. */
export type DepartureEvent =
  | { kind: "left"; remaining: number }
  | { kind: "away"; error: Error }
  | { kind: "back" };

export interface DepartureWait {
  signal: AbortSignal;
  deadline?: MonotonicTime | undefined;
  onEvent?(news: DepartureEvent): void;
}

/** Interval at which everything is read again, ms: a watch may fail without an error. */
const REREAD_INTERVAL_MS = 10_000;
const RETRY_PAUSE_MS = 500;
/** Tickets in one reading transaction, each with its mark: etcd accepts 128 operations. */
const TICKETS_PER_READ = 60;
/** Largest number of keys to watch one by one; for more, the whole collections are watched. */
const MAX_WATCHED_KEYS = 32;

/**
 * Waits until all given tickets are gone: their commands have ended and their queue entries are free. A ticket that has
 * vanished is gone when its mark is, or may be removed. Continues while etcd is unavailable, and reports that as an event.
 * @returns the tickets that remain at the deadline; empty when all are gone
 * @throws the signal's reason; StoreError when etcd refuses permanently
 */
export async function waitUntilGone(
  ports: ObserverPorts,
  tickets: readonly TicketRef[],
  wait: DepartureWait,
): Promise<readonly TicketRef[]> {
  const remaining = new RemainingTickets(tickets, wait);
  const { clock } = ports;
  const vanished = new VanishedTickets(clock);
  const count = (keys: readonly string[]) =>
    recount(ports, remaining, { keys, vanished, signal: wait.signal });
  const { signal, deadline = NEVER } = wait;
  for (let isAway = false; ; ) {
    try {
      const { revision, freeAt } = await count(remaining.keys);
      if (isAway) wait.onEvent?.({ kind: "back" });
      isAway = false;
      if (remaining.isEmpty || clock.now() >= deadline) return remaining.list();
      const ms = Math.min(
        REREAD_INTERVAL_MS,
        subtractTime(deadline, clock.now()),
        freeAt - clock.getWallTime(),
      );
      const watch = { revision, ms, signal, count };
      await watchDepartures(ports, remaining, watch);
    } catch (error) {
      signal.throwIfAborted();
      if (!isUnavailable(error) && !isCompacted(error)) throw error;
      if (!isAway && isUnavailable(error)) wait.onEvent?.({ kind: "away", error: error as Error });
      isAway ||= isUnavailable(error);
      if (clock.now() >= deadline) return remaining.list();
      await clock.sleep(RETRY_PAUSE_MS * (0.5 + ports.random.generateFraction()), signal);
    }
  }
}

/** The tickets that may still exist. */
class RemainingTickets {
  readonly #left: Map<string, bigint>;
  readonly #wait: DepartureWait;

  constructor(tickets: readonly TicketRef[], wait: DepartureWait) {
    this.#left = new Map(tickets.map(({ key, createRevision }) => [key, createRevision]));
    this.#wait = wait;
  }

  get isEmpty(): boolean {
    return this.#left.size === 0;
  }

  get keys(): string[] {
    return [...this.#left.keys()];
  }

  has(key: string): boolean {
    return this.#left.has(key);
  }

  list(): TicketRef[] {
    return [...this.#left].map(([key, createRevision]) => ({ key, createRevision }));
  }

  /** @param createRevision  of the ticket that is now at the key; undefined: none */
  update(key: string, createRevision: bigint | undefined): void {
    if (!this.#left.has(key) || this.#left.get(key) === createRevision) return;
    this.#left.delete(key);
    this.#wait.onEvent?.({ kind: "left", remaining: this.#left.size });
  }
}

/** The result of a read of the remaining tickets. */
interface Recount {
  /** Departures after this revision are not yet known. */
  revision: bigint;
  /** When the first mark of a vanished ticket may be removed: wall clock, ms since the epoch. */
  freeAt: WallTime;
}

/** Reads which tickets still exist. */
async function recount(
  ports: ObserverPorts,
  remaining: RemainingTickets,
  { keys, vanished, signal }: { keys: readonly string[]; vanished: VanishedTickets; signal: AbortSignal },
): Promise<Recount> {
  let revision: bigint | undefined;
  let freeAt = Infinity;
  for (let start = 0; start < keys.length; start += TICKETS_PER_READ) {
    const chunk = keys.slice(start, start + TICKETS_PER_READ);
    const reads = chunk.map((key): Op => ({ op: "range", key, keysOnly: true }));
    const marks = chunk.map((key): Op => ({ op: "range", key: ports.keys.mark(key) }));
    const txn = { compare: [], success: [...reads, ...marks], failure: [] };
    const { results, ...answer } = await ports.store.commitTxn(txn, signal);
    revision ??= answer.revision;
    for (const [index, key] of chunk.entries()) {
      const createRevision = findFirstKey(results[index])?.createRevision;
      const mark = findFirstKey(results[chunk.length + index]);
      // The time of a mark counts from the first read that shows it without its ticket.
      const alone = mark === undefined || createRevision !== undefined ? [] : [toQueueEntry(mark)];
      const heldUntil = vanished.update(alone, answer.raftTerm).get(mark?.key ?? "");
      if (heldUntil === undefined) remaining.update(key, createRevision);
      else freeAt = Math.min(freeAt, heldUntil);
    }
  }
  return { revision: revision ?? 0n, freeAt };
}

/** @param watch.count  reads which of some tickets still exist: a ticket that is deleted may have left its mark */
async function watchDepartures(
  ports: ObserverPorts,
  remaining: RemainingTickets,
  {
    revision,
    ms,
    signal,
    count,
  }: { revision: bigint; ms: Millis; signal: AbortSignal; count(keys: readonly string[]): Promise<Recount> },
): Promise<void> {
  const time = new AbortController();
  const stop = AbortSignal.any([signal, time.signal]);
  const timer = ports.clock.sleep(ms, stop).then(
    () => time.abort(NO_LONGER_NEEDED),
    () => {},
  );
  const { keys } = remaining;
  const wide = [ports.keys.locks(), ports.keys.resources()];
  const narrow = keys.flatMap((key) => [{ key }, { key: ports.keys.mark(key) }]);
  const ranges = keys.length > MAX_WATCHED_KEYS ? wide : narrow;
  const byMark = new Map(keys.map((key) => [ports.keys.mark(key), key]));
  const request = {
    ranges: ranges.map((range) => ({ ...range, only: "deletes" as const })),
    from: revision + 1n,
  };
  try {
    for await (const { events } of ports.store.watch(request, stop)) {
      const deleted = events.flatMap((one) =>
        one.type === "delete" ? [byMark.get(one.key) ?? one.key] : [],
      );
      await count([...new Set(deleted)].filter((key) => remaining.has(key)));
      if (remaining.isEmpty) return;
    }
  } catch (error) {
    if (!time.signal.aborted) throw error;
  } finally {
    time.abort(NO_LONGER_NEEDED);
    await timer;
  }
}
