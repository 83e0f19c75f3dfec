import { isCompacted, isUnavailable } from "../../etcd/persist.ts";
import type { Op } from "../../protocol/txn.ts";
import type { ObserverPorts } from "../observe/ports.ts";

/** A ticket by what makes it that one and no later one. */
export interface Anchor {
  key: string;
  createRevision: bigint;
}

/** What happens while departures are waited for. */
export type DepartureNews =
  | { kind: "left"; remaining: number }
  | { kind: "away"; error: Error }
  | { kind: "back" };

export interface Vigil {
  signal: AbortSignal;
  /** Instant on the clock, ms; undefined waits for ever. */
  deadline?: number | undefined;
  news?(news: DepartureNews): void;
}

/** Everything is read again after this time, ms: a watch may die in silence. */
const REREAD = 10_000;
const PAUSE = 500;
/** Keys in one reading transaction: etcd takes 128 operations. */
const CHUNK = 100;
/** Keys that are watched one by one; of more, their rooms are. */
const FEW = 32;

/**
 * Waits until every one of these tickets is gone: its command dead and its place free. Outlasts the loss of etcd, and
 * says so.
 * @returns the tickets that stand when the deadline has passed; none when all are gone
 * @throws the signal's reason; StoreError when etcd refuses for good
 */
export async function untilGone(
  ports: ObserverPorts,
  anchors: readonly Anchor[],
  vigil: Vigil,
): Promise<readonly Anchor[]> {
  const standing = new Standing(anchors, vigil);
  const { clock } = ports;
  const { signal, deadline = Number.POSITIVE_INFINITY } = vigil;
  for (let isAway = false; ; ) {
    try {
      const revision = await recount(ports, standing, signal);
      if (isAway) vigil.news?.({ kind: "back" });
      isAway = false;
      if (standing.isEmpty || clock.now() >= deadline) return standing.anchors();
      await watchDepartures(ports, standing, revision, Math.min(REREAD, deadline - clock.now()), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isUnavailable(error) && !isCompacted(error)) throw error;
      if (!isAway && isUnavailable(error)) vigil.news?.({ kind: "away", error: error as Error });
      isAway ||= isUnavailable(error);
      if (clock.now() >= deadline) return standing.anchors();
      await clock.sleep(PAUSE * (0.5 + ports.random.unit()), signal);
    }
  }
}

/** The tickets that are not known to be gone. */
class Standing {
  readonly #left: Map<string, bigint>;
  readonly #vigil: Vigil;

  constructor(anchors: readonly Anchor[], vigil: Vigil) {
    this.#left = new Map(anchors.map(({ key, createRevision }) => [key, createRevision]));
    this.#vigil = vigil;
  }

  get isEmpty(): boolean {
    return this.#left.size === 0;
  }

  get keys(): string[] {
    return [...this.#left.keys()];
  }

  anchors(): Anchor[] {
    return [...this.#left].map(([key, createRevision]) => ({ key, createRevision }));
  }

  /** @param createRevision  of what stands at the key now; undefined: nothing */
  found(key: string, createRevision: bigint | undefined): void {
    if (!this.#left.has(key) || this.#left.get(key) === createRevision) return;
    this.#left.delete(key);
    this.#vigil.news?.({ kind: "left", remaining: this.#left.size });
  }
}

/** Looks which of them stand. @returns the revision from which on departures are still unknown */
async function recount(ports: ObserverPorts, standing: Standing, signal: AbortSignal): Promise<bigint> {
  let revision: bigint | undefined;
  for (let keys = standing.keys; keys.length > 0; keys = keys.slice(CHUNK)) {
    const chunk = keys.slice(0, CHUNK);
    const success = chunk.map((key): Op => ({ op: "range", key, keysOnly: true }));
    const answer = await ports.store.txn({ compare: [], success, failure: [] }, signal);
    revision ??= answer.revision;
    for (const [index, key] of chunk.entries()) {
      const result = answer.results[index];
      standing.found(key, result?.op === "range" ? result.kvs[0]?.createRevision : undefined);
    }
  }
  return revision ?? 0n;
}

async function watchDepartures(
  ports: ObserverPorts,
  standing: Standing,
  revision: bigint,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const time = new AbortController();
  const stop = AbortSignal.any([signal, time.signal]);
  const timer = ports.clock.sleep(ms, stop).then(
    () => time.abort(),
    () => {},
  );
  const { keys } = standing;
  const wide = [ports.keys.locks(), ports.keys.resources()];
  const ranges = keys.length > FEW ? wide : keys.map((key) => ({ key }));
  const request = {
    ranges: ranges.map((range) => ({ ...range, only: "deletes" as const })),
    from: revision + 1n,
  };
  try {
    for await (const { events } of ports.store.watch(request, stop)) {
      for (const event of events) if (event.type === "delete") standing.found(event.key, undefined);
      if (standing.isEmpty) return;
    }
  } catch (error) {
    if (!time.signal.aborted) throw error;
  } finally {
    time.abort();
    await timer;
  }
}
