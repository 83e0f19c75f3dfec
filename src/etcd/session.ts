import type { Clock } from "../base/clock.ts";
import { newSessionId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { marginOf, renewalPeriod } from "../config/ttl.ts";
import { isUnavailable, persist } from "./persist.ts";
import { type Store, StoreError } from "./store.ts";

/** Why a session is of no use any more; the reason of its `signal`. */
export class SessionLost extends Error {
  /** `horizon`: it may have expired. `unfounded`: what it was kept for is gone. `expired`: both gone, on the server. */
  readonly kind: "horizon" | "expired" | "unfounded";

  constructor(kind: SessionLost["kind"], message: string) {
    super(message);
    this.name = "SessionLost";
    this.kind = kind;
  }
}

/** What a linearizable read says about that for which a session is kept. */
export interface Proof {
  raftTerm: bigint;
  /** Why there is nothing left to hold on to; undefined when all is there. */
  fault: string | undefined;
}

/** Who a session is kept for. */
export interface Keeper {
  /** Reads, linearizably, what the session is kept for. */
  prove(): Promise<Proof>;
  /** Told whenever the horizon has moved. */
  extended(): void;
}

export interface SessionPorts {
  store: Store;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Renewals in a row while the raft term changes under them. */
const AT_ONCE = 3;

/**
 * A session and its horizon: the instant after which it may have expired on the server.
 *
 * Every time counts from before the call was sent, so a slow answer can only make the horizon too early. A renewal
 * counts once a read sent after its answer shows that what the session holds is still there, with one raft term
 * throughout: a leader that was paused and replaced may acknowledge renewals that no longer mean anything.
 */
export class Session {
  readonly id: bigint;
  readonly signal: AbortSignal;
  readonly #ports: SessionPorts;
  readonly #lost = new AbortController();
  readonly #stop = new AbortController();
  #ttl: number;
  #horizon: number;
  #term: bigint;
  #keeper: Keeper | undefined;

  private constructor(ports: SessionPorts, id: bigint, granted: Granted) {
    this.id = id;
    this.signal = this.#lost.signal;
    this.#ports = ports;
    this.#ttl = granted.ttl * 1000;
    this.#horizon = granted.sent + this.#ttl - marginOf(this.#ttl);
    this.#term = granted.raftTerm;
    void this.#watchHorizon();
  }

  /**
   * Grants a session under a fresh random id.
   * @param ttl    whole seconds
   * @param until  instant on the clock until which an unreachable etcd is tried again
   * @throws StoreError
   */
  static async open(ports: SessionPorts, ttl: number, until: number, signal?: AbortSignal): Promise<Session> {
    const id = newSessionId(ports.random);
    const sent = ports.clock.now(); // of the first attempt: it may be the one that was applied
    const granted = await persist(ports, until, (call) => grantOnce(ports.store, id, ttl, call), signal);
    return new Session(ports, id, { ...granted, sent });
  }

  /** Instant on the clock, ms, by which whatever relies on this session must have ended. */
  get horizon(): number {
    return this.#horizon;
  }

  /** Time to live in ms, as the server stated it last. */
  get ttl(): number {
    return this.#ttl;
  }

  /** Renews in the background until the session is lost or rests. A later keeper takes the place of an earlier one. */
  keep(keeper: Keeper): void {
    const isKept = this.#keeper !== undefined;
    this.#keeper = keeper;
    if (isKept) return;
    void this.#renewals().catch((error) => {
      if (!this.#stop.signal.aborted) this.#ports.log.error("renewing stopped", { error: String(error) });
    });
  }

  /** Gives the session up as lost, for a reason that the caller found. */
  lose(reason: SessionLost): void {
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(reason);
    this.#stop.abort(reason);
  }

  /** Stops renewing; the session lives on until it expires. */
  rest(): void {
    this.#stop.abort();
  }

  /** Ends the session and with it every ticket on it. @param until instant until which that is tried */
  async revoke(until: number): Promise<void> {
    this.rest();
    await persist(this.#ports, until, (call) => this.#ports.store.revoke(this.id, call));
  }

  async #renewals(): Promise<void> {
    const { clock } = this.#ports;
    for (let due = clock.now() + renewalPeriod(this.#ttl); !this.#stop.signal.aborted; ) {
      await clock.sleep(Math.max(0, due - clock.now()), this.#stop.signal);
      due = clock.now() + renewalPeriod(this.#ttl);
      try {
        const steady = await this.#renewSteadily();
        if (this.#stop.signal.aborted) return;
        if (steady) this.#keeper?.extended();
        else due = clock.now();
      } catch (error) {
        this.#renewalFailed(error);
        due = clock.now() + Math.min(500, renewalPeriod(this.#ttl));
      }
    }
  }

  /** Renews, and again at once when the raft term changed on the way; a few times, so as not to hammer a cluster in turmoil. */
  async #renewSteadily(): Promise<boolean> {
    for (let tries = 0; tries < AT_ONCE; tries += 1) {
      if (await this.#renewOnce()) return true;
      this.#ports.log.debug("the raft term changed, renewing again");
    }
    await this.#ports.clock.sleep(100, this.#stop.signal);
    return false;
  }

  /** One renewal and its proof. False when the term changed on the way: it may have been a former leader's word. */
  async #renewOnce(): Promise<boolean> {
    const sent = this.#ports.clock.now();
    const renewed = await this.#renewed();
    const proof = await this.#prove();
    if (this.#stop.signal.aborted) return true;
    // After a stop or suspend, buffered answers arrive first: the horizon is checked before they are believed.
    if (this.#passed()) return true;
    if (proof.fault !== undefined) {
      this.lose(new SessionLost(renewed === undefined ? "expired" : "unfounded", proof.fault));
      return true;
    }
    if (renewed === undefined) return false;
    const steady = renewed.raftTerm === proof.raftTerm && this.#term === proof.raftTerm;
    this.#term = proof.raftTerm;
    if (steady) this.#extend(sent, renewed.ttl * 1000);
    return steady;
  }

  async #prove(): Promise<Proof> {
    if (this.#keeper === undefined) throw new Error("a session without a keeper is not renewed");
    return this.#keeper.prove();
  }

  /** Undefined when the server knows no such session. That is not proof: a new leader may still be catching up. */
  async #renewed(): Promise<{ ttl: number; raftTerm: bigint } | undefined> {
    try {
      return await this.#ports.store.renew(this.id, this.#stop.signal);
    } catch (error) {
      if (error instanceof StoreError && error.kind === "noSession") return undefined;
      throw error;
    }
  }

  #extend(sent: number, ttl: number): void {
    this.#ttl = ttl;
    this.#horizon = Math.max(this.#horizon, sent + ttl - marginOf(ttl));
  }

  #renewalFailed(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    if (isUnavailable(error)) {
      this.#ports.log.warn("etcd does not answer, the session was not renewed", { error: String(error) });
    } else {
      this.#ports.log.error("etcd refuses to renew the session", { error: String(error) });
    }
  }

  /** Whether the horizon has passed; if so, the session is lost. */
  #passed(): boolean {
    if (this.#ports.clock.now() < this.#horizon) return false;
    this.lose(new SessionLost("horizon", "the session could not be renewed in time"));
    return true;
  }

  async #watchHorizon(): Promise<void> {
    try {
      while (!this.#passed()) {
        await this.#ports.clock.sleep(this.#horizon - this.#ports.clock.now(), this.#stop.signal);
      }
    } catch {
      // stopped: nobody relies on the session any more
    }
  }
}

interface Granted {
  ttl: number;
  raftTerm: bigint;
  sent: number;
}

/** A repeated grant finds its own id taken: that is success, with the time to live that was asked for at least. */
export async function grantOnce(
  store: Store,
  id: bigint,
  ttl: number,
  signal?: AbortSignal,
): Promise<Omit<Granted, "sent">> {
  try {
    return await store.grant(id, ttl, signal);
  } catch (error) {
    if (error instanceof StoreError && error.kind === "exists") return { ttl, raftTerm: 0n };
    throw error;
  }
}
