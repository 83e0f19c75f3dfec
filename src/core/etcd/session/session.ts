import {
  addMs,
  type Clock,
  formatDuration,
  type Millis,
  type MonotonicTime,
  NO_LONGER_NEEDED,
  raceAbort,
  type Seconds,
  subtractTime,
} from "../../base/clock.ts";
import { generateSessionId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import { computeRenewalPeriod } from "../../config/ttl.ts";
import { isUnavailable, retryUnavailable, type Store, StoreError } from "../store.ts";
import { ClockReading, Horizon } from "./horizon.ts";

/** Why a session can no longer be used; the reason of its `signal`. */
export class SessionLost extends Error {
  /**
   * `horizon`: the session may have expired. `unfounded`: the keys that it holds are gone. `expired`: the session and
   * its keys are gone on the server. `moved`: another process has taken it over, and its runs with it.
   */
  readonly kind: "horizon" | "expired" | "unfounded" | "moved";

  constructor(kind: SessionLost["kind"], message: string) {
    super(message);
    this.name = "SessionLost";
    this.kind = kind;
  }
}

/** Whether an error says that a session is gone, or can no longer be used. */
export function isSessionGone(error: unknown): boolean {
  return error instanceof SessionLost || (error instanceof StoreError && error.kind === "noSession");
}

/**
 * Grants a session. A repeated grant finds its own id taken, which counts as success; the time to live is then at least
 * the requested one.
 */
export async function grantOnce(
  store: Store,
  id: bigint,
  ttl: Seconds,
  signal?: AbortSignal,
): Promise<{ ttl: Seconds; raftTerm: bigint }> {
  try {
    return await store.grant(id, ttl, signal);
  } catch (error) {
    if (error instanceof StoreError && error.kind === "exists") return { ttl, raftTerm: 0n };
    throw error;
  }
}

/** The result of a linearizable read of the keys that a session holds. */
export interface SessionProof {
  raftTerm: bigint;
  /** Why the session has nothing left to hold; undefined when all keys are present. */
  fault: string | undefined;
}

/** A ticket as it was last read or written. */
export interface TicketVersion {
  key: string;
  modRevision: bigint;
}

/** The run, worker or agent that uses a session. */
export interface SessionOwner {
  /**
   * Lists the keys that `prove` reads: if all are unchanged, it would find no fault. Undefined if that is not known.
   */
  listTickets?(): readonly TicketVersion[] | undefined;
  /** Reads the keys that the session holds, linearizably. @param store  where to read; by default, that of the owner */
  prove(store?: Store): Promise<SessionProof>;
  /** Called after each move of the horizon: forward, or back after a pause of the machine. */
  onHorizonMoved(): void;
}

interface SessionPorts {
  store: Store;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Maximum number of consecutive renewals while the raft term changes. */
const AT_ONCE = 3;

/**
 * A session and its horizon: the instant after which it may have expired on the server.
 *
 * Every time counts from before the call was sent, so a slow response can only make the horizon too early. A renewal
 * counts when a read sent after its response shows that the keys of the session still exist, with an unchanged raft
 * term throughout: a leader that was paused and replaced may acknowledge renewals that have no effect.
 */
export class Session {
  readonly id: bigint;
  readonly signal: AbortSignal;
  /**
   * A raft term that was stated before the grant was sent: etcd has granted the session in this term or a later one.
   * Undefined if that is not known.
   */
  readonly grantTerm: bigint | undefined;
  readonly #ports: SessionPorts;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  readonly #horizon: Horizon;
  /** Aborted when a renewal is due at once and the result of a renewal in flight no longer counts. */
  #urgentRenewal = new AbortController();
  #ttl: Millis;
  #term: bigint;
  #owner: SessionOwner | undefined;

  private constructor(ports: SessionPorts, id: bigint, granted: GrantedSession) {
    this.id = id;
    this.signal = this.#lost.signal;
    this.grantTerm = granted.grantTerm;
    this.#ports = ports;
    this.#ttl = granted.ttl * 1000;
    const horizonListener = {
      onClockJump: (jump: Millis) => this.#handleClockJump(jump),
      onShortened: (jump: Millis) => this.#handleShortenedHorizon(jump),
    };
    this.#horizon = new Horizon(ports.clock, horizonListener, granted.sent, this.#ttl, this.#stop.signal);
    this.#term = granted.raftTerm;
    void this.#watchHorizon();
  }

  /**
   * Grants a session with a new random id.
   * @param ttl    a whole number
   * @param until  instant until which an unreachable etcd is retried
   * @throws StoreError
   */
  static async open(
    ports: SessionPorts,
    ttl: Seconds,
    until: MonotonicTime,
    signal?: AbortSignal,
  ): Promise<Session> {
    const id = generateSessionId(ports.random);
    // The answer to the grant may state a later term than that of the grant: a transfer of leadership takes milliseconds.
    const term = await retryUnavailable(ports, until, (call) => ports.store.readTerm(call), signal);
    const sent = new ClockReading(ports.clock); // before the first attempt, which may be the one that was applied
    const granted = await retryUnavailable(
      ports,
      until,
      (call) => grantOnce(ports.store, id, ttl, call),
      signal,
    );
    return new Session(ports, id, { ...granted, grantTerm: term || undefined, sent });
  }

  /**
   * Takes over a session that another process has opened: renews it, and checks with a read sent after the renewal that
   * its keys exist.
   * @param prove  reads the keys that the session holds, linearizably
   * @param until  instant until which an unreachable etcd is retried
   * @returns undefined if the session or its keys are gone
   * @throws StoreError, or the signal's reason
   */
  static async resume(
    ports: SessionPorts,
    id: bigint,
    prove: () => Promise<SessionProof>,
    until: MonotonicTime,
    signal?: AbortSignal,
  ): Promise<Session | undefined> {
    for (;;) {
      const sent = new ClockReading(ports.clock);
      const renewed = await retryUnavailable(
        ports,
        until,
        (call) => renewOnce(ports.store, id, call),
        signal,
      );
      const proof = await retryUnavailable(ports, until, prove, signal);
      if (renewed === undefined || proof.fault !== undefined) return undefined;
      const { ttl, raftTerm } = renewed;
      if (raftTerm === proof.raftTerm && sent.measureJump() === 0)
        return new Session(ports, id, { ttl, raftTerm, grantTerm: undefined, sent });
      signal?.throwIfAborted();
      if (ports.clock.now() >= until) throw new StoreError("unavailable", "etcd's leader keeps changing");
    }
  }

  /** Instant by which all work that relies on this session must have ended. */
  get horizon(): MonotonicTime {
    return this.#horizon.at;
  }

  /** Whether the machine may have been paused since the last successful renewal. Start nothing while this is true. */
  get isDoubted(): boolean {
    return this.#horizon.isDoubted;
  }

  /** Waits until `lead` before the horizon, also when the horizon moves meanwhile. @throws the signal's reason */
  async waitUntilHorizonNear(lead: Millis, signal: AbortSignal): Promise<void> {
    await this.#horizon.waitUntilNear(lead, signal);
  }

  /** Time to live, as last returned by the server. */
  get ttl(): Millis {
    return this.#ttl;
  }

  /**
   * Renews in the background until the session is lost or `stopRenewing` is called. A later owner replaces an earlier
   * one.
   */
  keepAlive(owner: SessionOwner): void {
    const isKept = this.#owner !== undefined;
    this.#owner = owner;
    if (isKept) return;
    void this.#renewPeriodically().catch((error) => {
      if (!this.#stop.signal.aborted) this.#ports.log.error("renewing stopped", { error: String(error) });
    });
  }

  /** Marks the session as lost, for a reason that the caller found. */
  lose(reason: SessionLost): void {
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(reason);
    this.#stop.abort(reason);
  }

  /** Stops renewing. The session remains until it expires. */
  stopRenewing(): void {
    this.#stop.abort(NO_LONGER_NEEDED);
  }

  /** Ends the session and every key on it. @param until  instant until which an unreachable etcd is retried */
  async end(until: MonotonicTime): Promise<void> {
    this.stopRenewing();
    await retryUnavailable(this.#ports, until, (call) => this.#ports.store.revoke(this.id, call));
  }

  async #renewPeriodically(): Promise<void> {
    const { clock } = this.#ports;
    for (let due = addMs(clock.now(), computeRenewalPeriod(this.#ttl)); !this.#stop.signal.aborted; ) {
      const urgent = await this.#pauseUntil(due);
      due = addMs(clock.now(), computeRenewalPeriod(this.#ttl));
      try {
        const isTermStable = await raceAbort(this.#renewWithStableTerm(urgent), urgent);
        if (this.#stop.signal.aborted) return;
        if (isTermStable) this.#owner?.onHorizonMoved();
        else due = clock.now();
      } catch (error) {
        this.#logRenewalFailure(error);
        due = addMs(clock.now(), Math.min(500, computeRenewalPeriod(this.#ttl)));
      }
    }
  }

  /**
   * Waits for the next renewal.
   * @returns a signal that aborts that renewal early
   * @throws when the session is lost or renewing has stopped
   */
  async #pauseUntil(due: MonotonicTime): Promise<AbortSignal> {
    const { clock } = this.#ports;
    const stop = this.#stop.signal;
    const either = AbortSignal.any([stop, this.#urgentRenewal.signal]);
    await clock.sleep(Math.max(0, subtractTime(due, clock.now())), either).catch(() => stop.throwIfAborted());
    if (this.#urgentRenewal.signal.aborted) this.#urgentRenewal = new AbortController();
    return AbortSignal.any([stop, this.#urgentRenewal.signal]);
  }

  /**
   * Renews, and renews again at once when the raft term changed meanwhile. Limits the attempts to spare an unstable
   * cluster.
   */
  async #renewWithStableTerm(urgent: AbortSignal): Promise<boolean> {
    for (let tries = 0; tries < AT_ONCE; tries += 1) {
      if (await this.#renewOnce(urgent)) return true;
      urgent.throwIfAborted();
      this.#ports.log.debug("the raft term changed, renewing again");
    }
    await this.#ports.clock.sleep(100, this.#stop.signal);
    return false;
  }

  /**
   * Renews once and reads the proof. Returns false when the term changed meanwhile: the renewal may have been
   * acknowledged by a former leader.
   */
  async #renewOnce(urgent: AbortSignal): Promise<boolean> {
    const sent = new ClockReading(this.#ports.clock);
    const renewed = await renewOnce(this.#ports.store, this.id, urgent);
    const proof = await this.#prove();
    if (this.#stop.signal.aborted) return true;
    // After a stop or suspend, buffered responses arrive first. Check the horizon before they count.
    if (this.#checkExpired()) return true;
    if (proof.fault !== undefined) {
      this.lose(new SessionLost(renewed === undefined ? "expired" : "unfounded", proof.fault));
      return true;
    }
    // The renewal was sent before a pause that may have been longer than the session's time to live.
    if (renewed === undefined || sent.measureJump() > 0) return false;
    const isTermStable = renewed.raftTerm === proof.raftTerm && this.#term === proof.raftTerm;
    this.#term = proof.raftTerm;
    if (isTermStable) this.#extendHorizon(sent, renewed.ttl * 1000);
    return isTermStable;
  }

  async #prove(): Promise<SessionProof> {
    if (this.#owner === undefined) throw new Error("a session without an owner is not renewed");
    return this.#owner.prove();
  }

  #extendHorizon(sent: ClockReading, ttl: Millis): void {
    if (this.isDoubted) this.#ports.log.info("the session is alive: it was renewed after the jump");
    // The marks state the time to live at the grant. Runs that find a mark wait no longer, so the session must not live longer.
    this.#ttl = Math.min(this.#ttl, ttl);
    this.#horizon.extend(sent, this.#ttl);
  }

  #handleClockJump(jump: Millis): void {
    const ms = Math.round(jump);
    this.#ports.log.info(
      "the wall clock jumped forward: renewing at once, the machine may have been paused",
      { ms },
    );
    this.#urgentRenewal.abort(new StoreError("unavailable", "sent before the wall clock jumped"));
  }

  #handleShortenedHorizon(jump: Millis): void {
    const ms = Math.round(jump);
    this.#ports.log.warn(
      "the wall clock jumped forward, and the session was not renewed since: the jump counts as elapsed time",
      { ms },
    );
    if (!this.#checkExpired()) this.#owner?.onHorizonMoved();
  }

  #logRenewalFailure(error: unknown): void {
    if (this.#stop.signal.aborted || this.#urgentRenewal.signal.aborted) return;
    if (isUnavailable(error)) {
      this.#ports.log.warn("etcd does not answer, the session was not renewed", { error: String(error) });
    } else {
      this.#ports.log.error("etcd refuses to renew the session", { error: String(error) });
    }
  }

  /** Checks whether the horizon has passed, and marks the session as lost if so. */
  #checkExpired(): boolean {
    if (this.#ports.clock.now() < this.#horizon.at) return false;
    const pause = formatDuration(Math.round(this.#horizon.movedBackBy / 1_000) * 1_000);
    const why =
      this.#horizon.movedBackBy > 0
        ? ` after a pause of the machine, ${pause} by the wall clock`
        : " in time";
    this.lose(new SessionLost("horizon", `the session could not be renewed${why}`));
    return true;
  }

  async #watchHorizon(): Promise<void> {
    try {
      while (!this.#checkExpired()) await this.#horizon.waitUntilNear(0, this.#stop.signal);
    } catch {
      // stopped: the session is no longer used
    }
  }
}

interface GrantedSession {
  ttl: Seconds;
  raftTerm: bigint;
  grantTerm: bigint | undefined;
  sent: ClockReading;
}

/**
 * Returns undefined when the server does not know the session. That is no proof: a new leader may still be catching up.
 */
async function renewOnce(
  store: Store,
  id: bigint,
  signal: AbortSignal,
): Promise<{ ttl: Seconds; raftTerm: bigint } | undefined> {
  try {
    return await store.renew(id, signal);
  } catch (error) {
    if (error instanceof StoreError && error.kind === "noSession") return undefined;
    throw error;
  }
}
