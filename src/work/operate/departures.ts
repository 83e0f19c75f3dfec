import { OVER } from "../../base/over.ts";
import { isCompacted, isUnavailable } from "../../etcd/retry.ts";
import { findFirstKey, type Op } from "../../protocol/txn.ts";
import type { ObserverPorts } from "../observe/ports.ts";

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
  /** Reading of the clock, ms; undefined means no limit. */
  deadline?: number | undefined;
  onEvent?(news: DepartureEvent): void;
}

/** Interval at which everything is read again, ms: a watch may fail without an error. */
const REREAD = 10_000;
const PAUSE = 500;
/** Keys in one reading transaction: etcd accepts 128 operations. */
const CHUNK = 100;
/** Largest number of keys to watch one by one; for more, the whole collections are watched. */
const MAX_WATCHED_KEYS = 32;

/**
 * Waits until all given tickets are gone: their commands have ended and their queue entries are free. Continues while
 * etcd is unavailable, and reports that as an event.
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
  const { signal, deadline = Number.POSITIVE_INFINITY } = wait;
  for (let isAway = false; ; ) {
    try {
      const revision = await recount(ports, remaining, signal);
      if (isAway) wait.onEvent?.({ kind: "back" });
      isAway = false;
      if (remaining.isEmpty || clock.now() >= deadline) return remaining.list();
      await watchDepartures(ports, remaining, revision, Math.min(REREAD, deadline - clock.now()), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isUnavailable(error) && !isCompacted(error)) throw error;
      if (!isAway && isUnavailable(error)) wait.onEvent?.({ kind: "away", error: error as Error });
      isAway ||= isUnavailable(error);
      if (clock.now() >= deadline) return remaining.list();
      await clock.sleep(PAUSE * (0.5 + ports.random.generateFraction()), signal);
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

/** Reads which tickets still exist. @returns the revision after which departures are not yet known */
async function recount(
  ports: ObserverPorts,
  remaining: RemainingTickets,
  signal: AbortSignal,
): Promise<bigint> {
  let revision: bigint | undefined;
  for (let keys = remaining.keys; keys.length > 0; keys = keys.slice(CHUNK)) {
    const chunk = keys.slice(0, CHUNK);
    const success = chunk.map((key): Op => ({ op: "range", key, keysOnly: true }));
    const answer = await ports.store.commitTxn({ compare: [], success, failure: [] }, signal);
    revision ??= answer.revision;
    for (const [index, key] of chunk.entries()) {
      const result = answer.results[index];
      remaining.update(key, findFirstKey(result)?.createRevision);
    }
  }
  return revision ?? 0n;
}

async function watchDepartures(
  ports: ObserverPorts,
  remaining: RemainingTickets,
  revision: bigint,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const time = new AbortController();
  const stop = AbortSignal.any([signal, time.signal]);
  const timer = ports.clock.sleep(ms, stop).then(
    () => time.abort(OVER),
    () => {},
  );
  const { keys } = remaining;
  const wide = [ports.keys.locks(), ports.keys.resources()];
  const ranges = keys.length > MAX_WATCHED_KEYS ? wide : keys.map((key) => ({ key }));
  const request = {
    ranges: ranges.map((range) => ({ ...range, only: "deletes" as const })),
    from: revision + 1n,
  };
  try {
    for await (const { events } of ports.store.watch(request, stop)) {
      for (const event of events) if (event.type === "delete") remaining.update(event.key, undefined);
      if (remaining.isEmpty) return;
    }
  } catch (error) {
    if (!time.signal.aborted) throw error;
  } finally {
    time.abort(OVER);
    await timer;
  }
}
