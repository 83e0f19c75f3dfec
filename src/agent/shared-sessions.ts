import {
  addMs,
  type Millis,
  type MonotonicTime,
  raceAbort,
  type Seconds,
  subtractTime,
} from "../core/base/clock.ts";
import { computeRenewalPeriod } from "../core/config/ttl.ts";
import { isSessionGone, Session, SessionLost } from "../core/etcd/session/session.ts";
import { isUnavailable, retryUnavailable, runWithDeadline, StoreError } from "../core/etcd/store.ts";
import { deleteEntries, guardOwned } from "../core/protocol/guards.ts";
import type { Keys } from "../core/protocol/keys.ts";
import { type QueueEntry, toQueueEntry } from "../core/protocol/ticket.ts";
import { findFirstKey, listKeyValues, type Op, type Txn } from "../core/protocol/txn.ts";
import type { OpenedSession, SessionSource, SessionUser } from "../core/run/request.ts";
import { type AgentPorts, type Fence, inspectFence, writeFence } from "./fence.ts";
import { SharedSession } from "./shared-session.ts";

/**
 * How long a session that is not kept open is renewed without runs, ms. A renewal costs no entry in etcd's log, a new
 * session costs two, and crontabs start runs every minute.
 */
const IDLE_RENEWAL_MS = 300_000;
/** Minimum time left, ms, for a caller to retry what has failed. */
const MIN_RETRY_TIME_MS = 1_000;

/** The sessions of an agent: one for each time to live, and those taken over from earlier agents. */
export class SharedSessions implements SessionSource {
  /** Number of sessions of earlier agents that were taken over. */
  takeovers = 0;
  readonly #ports: AgentPorts;
  readonly #own = new Map<Seconds, Promise<SharedSession>>();
  /** Ids of the sessions that this agent has opened. No launcher can know one that is still being opened. */
  readonly #opened = new Set<bigint>();
  readonly #takenOver = new Map<bigint, Promise<SharedSession | undefined>>();
  /** Sessions that are renewed, and when the last renewal that counts was. */
  readonly #renewed = new Map<SharedSession, MonotonicTime>();
  /** Time to live of the session that is kept open. */
  #kept: Seconds | undefined;
  /** Sessions whose tickets are being checked. */
  readonly #sweeping = new Set<SharedSession>();

  constructor(ports: AgentPorts) {
    this.#ports = ports;
  }

  async open({ run, ttl }: SessionUser, until: MonotonicTime, signal: AbortSignal) {
    for (;;) {
      const opening = this.#openShared(ttl, until);
      const shared = await this.#waitFor(opening, until, signal);
      if (shared !== "again" && !shared.session.signal.aborted) return openShare(shared, run);
      if (this.#own.get(ttl) === opening) this.#own.delete(ttl);
    }
  }

  /** Opens a session and renews it even while no run uses it, so that operators see this agent. @throws StoreError */
  async keepOpen(ttl: Seconds, until: MonotonicTime): Promise<void> {
    this.#kept = ttl;
    const known = this.#own.get(ttl);
    const shared = await known?.catch(() => undefined);
    if (shared?.session.signal.aborted && this.#own.get(ttl) === known) this.#own.delete(ttl);
    await this.#openShared(ttl, until);
  }

  async resume(
    { run, session, ttl }: SessionUser & { session: bigint },
    until: MonotonicTime,
    signal: AbortSignal,
  ) {
    for (;;) {
      const shared = await this.#waitFor(this.#resumeShared(session, ttl, until), until, signal);
      if (shared === "again") continue;
      if (shared === undefined || shared.session.signal.aborted || shared.isCondemned(run)) return undefined;
      return openShare(shared, run);
    }
  }

  listLive(): SharedSession[] {
    return [...this.#renewed.keys()];
  }

  /** Measures how late the most overdue renewal is; 0 if none is late. */
  measureRenewalLag(): Millis {
    const now = this.#ports.clock.now();
    const lags = [...this.#renewed].map(
      ([{ session }, renewedAt]) => subtractTime(now, renewedAt) - computeRenewalPeriod(session.ttl),
    );
    return Math.max(0, ...lags);
  }

  /** Stops renewing. The sessions are not ended: another agent may take them over. */
  close(): void {
    for (const opening of [...this.#own.values(), ...this.#takenOver.values()]) {
      void opening.then((shared) => shared?.session.stopRenewing()).catch(() => {});
    }
  }

  /**
   * Waits for work that another caller may have begun, with another deadline than this caller's.
   * @returns "again" if that deadline was too early, so that this caller has to begin the work again
   * @throws StoreError, or the signal's reason
   */
  async #waitFor<T>(work: Promise<T>, until: MonotonicTime, signal: AbortSignal): Promise<T | "again"> {
    try {
      // If this caller has begun the work itself, the work ends before this limit, with a better error.
      const latest = addMs(until, MIN_RETRY_TIME_MS);
      return await runWithDeadline(this.#ports.clock, latest, (either) => raceAbort(work, either), signal);
    } catch (error) {
      const hasTime = addMs(this.#ports.clock.now(), MIN_RETRY_TIME_MS) < until;
      if (!signal.aborted && hasTime && (isUnavailable(error) || isSessionGone(error))) return "again";
      throw isSessionGone(error)
        ? new StoreError("unavailable", "the session expired as it was opened")
        : error;
    }
  }

  #openShared(ttl: Seconds, until: MonotonicTime): Promise<SharedSession> {
    const known = this.#own.get(ttl);
    if (known !== undefined) return known;
    const opening = this.#openNew(ttl, until);
    this.#own.set(ttl, opening);
    opening.catch(() => {
      if (this.#own.get(ttl) === opening) this.#own.delete(ttl);
    });
    return opening;
  }

  async #openNew(ttl: Seconds, until: MonotonicTime): Promise<SharedSession> {
    const session = await Session.open(this.#ports, ttl, until);
    const fence = await writeFence(this.#ports, session.id, 0n, until).catch((error) => {
      session.stopRenewing();
      throw error;
    });
    if (fence === undefined) throw new SessionLost("expired", "the session expired as it was opened");
    this.#opened.add(session.id);
    return this.#keepLive(session, fence, undefined);
  }

  #resumeShared(id: bigint, ttl: Seconds, until: MonotonicTime): Promise<SharedSession | undefined> {
    if (this.#opened.has(id)) return Promise.resolve(undefined); // this agent has served the run to its end
    const known = this.#takenOver.get(id);
    if (known !== undefined) return known;
    const resuming = this.#takeOver(id, ttl, until);
    this.#takenOver.set(id, resuming);
    resuming.catch(() => this.#takenOver.delete(id));
    return resuming;
  }

  /**
   * Takes over a session of an earlier agent: writes the fence, so that etcd no longer applies what that agent sends, then
   * renews the session and proves it with a read. For one time to live, nothing on it is removed: until then, a command may
   * run under a deadline that the earlier agent has set.
   * @returns undefined if the session is gone
   * @throws StoreError
   */
  async #takeOver(id: bigint, ttl: Seconds, until: MonotonicTime): Promise<SharedSession | undefined> {
    try {
      const fence = await moveFence(this.#ports, id, until);
      if (fence === undefined) return undefined;
      const sweepFrom = addMs(this.#ports.clock.now(), ttl * 1000);
      const session = await Session.resume(
        this.#ports,
        id,
        () => inspectFence(this.#ports.store, fence),
        until,
      );
      if (session === undefined) return undefined;
      this.takeovers += 1;
      return this.#keepLive(session, fence, sweepFrom);
    } catch (error) {
      if (isSessionGone(error)) return undefined;
      throw error;
    }
  }

  #keepLive(session: Session, fence: Fence, sweepFrom: MonotonicTime | undefined): SharedSession {
    const shared = new SharedSession(this.#ports, session, fence, sweepFrom, (one) =>
      this.#handleRenewal(one),
    );
    if (session.signal.aborted) return shared;
    this.#renewed.set(shared, this.#ports.clock.now());
    session.signal.addEventListener("abort", () => this.#renewed.delete(shared), { once: true });
    return shared;
  }

  #handleRenewal(shared: SharedSession): void {
    if (this.#renewed.has(shared)) this.#renewed.set(shared, this.#ports.clock.now());
    if (this.#sweeping.has(shared)) return;
    this.#sweeping.add(shared);
    void this.#sweep(shared).finally(() => this.#sweeping.delete(shared));
  }

  /** Removes tickets without a run. A session that has had no runs and no tickets for long is no longer renewed. */
  async #sweep(shared: SharedSession): Promise<void> {
    try {
      const isClean = await removeStrayTickets(shared);
      const longest = shared.isTakenOver ? shared.session.ttl : IDLE_RENEWAL_MS;
      if (isClean && shared.idleTime > longest && !(await this.#isKept(shared))) this.#leave(shared);
    } catch (error) {
      if (!isUnavailable(error) && !(error instanceof SessionLost))
        this.#ports.log.warn("the tickets of a session were not checked", { error: String(error) });
    }
  }

  async #isKept(shared: SharedSession): Promise<boolean> {
    return this.#kept !== undefined && shared === (await this.#own.get(this.#kept));
  }

  #leave(shared: SharedSession): void {
    for (const all of [this.#own, this.#takenOver] as Map<unknown, Promise<SharedSession | undefined>>[]) {
      for (const [key, opening] of all)
        void opening.then((one) => one === shared && all.delete(key)).catch(() => {});
    }
    shared.session.lose(new SessionLost("expired", "no run has used the session"));
  }
}

/**
 * Writes the fence of another agent's session. It replaces only the fence that was read, so that a late copy of this call
 * cannot take the session from an agent that has taken it over since.
 * @returns undefined if the session has no fence: it is gone
 * @throws StoreError
 */
async function moveFence(
  ports: AgentPorts,
  session: bigint,
  until: MonotonicTime,
): Promise<Fence | undefined> {
  const key = ports.keys.agentSession(ports.host, session);
  const read: Txn = { compare: [], success: [{ op: "range", key }], failure: [] };
  for (;;) {
    const { results } = await retryUnavailable(ports, until, (call) => ports.store.commitTxn(read, call));
    const found = findFirstKey(results[0]);
    if (found === undefined) return undefined;
    if (found.value === ports.describeSession(session)) return { key, revision: found.modRevision };
    const fence = await writeFence(ports, session, found.modRevision, until);
    if (fence !== undefined) return fence; // otherwise another agent was faster, or the session has ended
  }
}

function openShare(shared: SharedSession, run: string): OpenedSession {
  return { session: shared.addShare(run), store: shared.store };
}

/** Maximum number of tickets in one transaction. With their guards, they stay below etcd's 128 operations. */
const MAX_TICKETS_PER_TRANSACTION = 30;

/**
 * Removes the tickets of a session that belong to no run of this agent. A late copy of a claim can put a ticket after its
 * run has left, and a session that was taken over may have tickets of runs that no launcher has reported. A run whose
 * tickets are about to be removed is never resumed afterwards.
 * @returns whether no such ticket is left
 */
async function removeStrayTickets(shared: SharedSession): Promise<boolean> {
  const { ports, session } = shared;
  const keys = await ports.store.listSessionKeys(session.id, session.signal);
  const isStray = (key: string) => {
    const run = findRun(shared, key);
    return run !== undefined && !shared.hasRun(run);
  };
  const strays = keys.filter(isStray);
  if (strays.length === 0) return true;
  if (shared.sweepFrom !== undefined && ports.clock.now() < shared.sweepFrom) return false;
  let isDone = true;
  for (let at = 0; at < strays.length; at += MAX_TICKETS_PER_TRANSACTION) {
    // A run may have been resumed since. The check and the mark that forbids resuming are one step.
    const chunk = strays.slice(at, at + MAX_TICKETS_PER_TRANSACTION).filter(isStray);
    for (const key of chunk) shared.condemn(findRun(shared, key) ?? "");
    const removable = await filterEnded(shared, chunk);
    isDone &&= removable.length === chunk.length;
    await removeTickets(shared, removable);
  }
  return isDone;
}

function findRun({ ports }: SharedSession, key: string): string | undefined {
  const parsed = ports.keys.parse(key);
  return parsed.kind === "lock" || parsed.kind === "resource" ? parsed.run : undefined;
}

/**
 * Returns the tickets whose runs have certainly ended. After a takeover, the command of a run may live although no guardian
 * has reported it, so it is killed first.
 */
async function filterEnded(shared: SharedSession, keys: readonly string[]): Promise<string[]> {
  if (!shared.isTakenOver) return [...keys];
  const ended: string[] = [];
  for (const key of keys) {
    if (await shared.ports.killRun(findRun(shared, key) ?? "")) ended.push(key);
  }
  return ended;
}

async function removeTickets(shared: SharedSession, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const { store, session, ports } = shared;
  const reads = keys.map((key): Op => ({ op: "range", key }));
  const { results } = await store.commitTxn({ compare: [], success: reads, failure: [] }, session.signal);
  const found = results.flatMap(listKeyValues).map(toQueueEntry);
  const own = found.filter((entry) => entry.session === session.id);
  if (own.length === 0) return;
  ports.log.warn("removing tickets of runs that no launcher has reported", {
    runs: own.map(({ run }) => run).join(","),
  });
  const success = own.map((entry): Op => ({ op: "txn", txn: buildRemoval(ports.keys, entry) }));
  await store.commitTxn({ compare: [], success, failure: [] }, session.signal);
}

function buildRemoval(keys: Keys, entry: QueueEntry): Txn {
  return { compare: guardOwned([entry]), success: deleteEntries(keys, [entry]), failure: [] };
}
