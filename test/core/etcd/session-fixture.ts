/** A session on the in-memory etcd, with a manual clock, and with answers that the test delays or loses. */

import { afterEach, beforeEach, expect } from "vitest";
import { addMs, type MonotonicTime, toMonotonicTime } from "../../../src/core/base/clock.ts";
import { silentLog } from "../../../src/core/base/log.ts";
import {
  MemoryEtcd,
  type MemoryEtcdOptions,
  MemoryStore,
} from "../../../src/core/etcd/memory/memory-store.ts";
import { Session, type SessionProof } from "../../../src/core/etcd/session/session.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import { put, remove } from "../protocol/claim-fixture.ts";
import { ManualClock, waitForPending } from "./manual-clock.ts";

/** Handles one call; `call` executes it on etcd. */
export type Fate = <T>(call: () => Promise<T>) => Promise<T>;

type Named = "grant" | "renew" | "revoke" | "prove";

export const TICKET = "/signalbox/locks/a/0123456789abcdef";

export class SessionFixture {
  readonly clock = new ManualClock();
  readonly etcd: MemoryEtcd;
  readonly store: ScriptedStore;
  /** When each call was sent, ms. */
  readonly sent: Record<Named, number[]> = { grant: [], renew: [], revoke: [], prove: [] };
  /** What becomes of the next calls, one each; after those, they are answered at once. */
  readonly fates: Partial<Record<Named, Fate[]>> = {};
  /** What becomes of every call for which there is no fate. */
  always: Partial<Record<Named, Fate>> = {};
  /** The TTLs in s that the server states at the next renewals, where they are not those of the session. */
  readonly stated: number[] = [];
  /** The raft terms in which the next renewals are answered, where that is not the present one. */
  readonly terms: bigint[] = [];
  /** Horizons, in the order in which the keeper was told of them. */
  readonly extended: MonotonicTime[] = [];
  readonly #random = { generateBytes: (n: number) => new Uint8Array(n).fill(7), generateFraction: () => 1 };

  /** How far the clock has jumped without waking anybody, as when a machine was suspended. */
  skipped = 0;
  /** How long the machine was paused, ms: etcd's time is so much further. */
  paused = 0;

  constructor(options: Omit<MemoryEtcdOptions, "now"> = {}) {
    this.etcd = new MemoryEtcd({ now: () => this.clock.elapsed + this.paused, ...options });
    this.store = new ScriptedStore(this.etcd, this);
  }

  /** A hypervisor pauses the machine: etcd's time goes on, no clock of the machine does. */
  pauseMachine(ms: number): void {
    this.paused += ms;
  }

  get ports() {
    const clock = {
      now: () => addMs(this.clock.now(), this.skipped),
      getWallTime: () => this.clock.getWallTime() + this.skipped,
      sleep: (ms: number, signal?: AbortSignal) => this.clock.sleep(ms, signal),
    };
    return { store: this.store, clock, random: this.#random, log: silentLog };
  }

  static async open(ttl: number) {
    const fixture = new SessionFixture();
    return { fixture, session: await fixture.openSession(ttl) };
  }

  /** A session with a ticket on it, and a keeper who looks at the ticket. */
  async openSession(ttl: number): Promise<Session> {
    const session = await Session.open(this.ports, ttl, toMonotonicTime(10_000));
    put(this.etcd, TICKET, "", session.id);
    session.keepAlive(this.createKeeper(session));
    return session;
  }

  removeTicket(): void {
    remove(this.etcd, TICKET);
  }

  createKeeper(session: Session) {
    return {
      prove: () =>
        this.call("prove", async (): Promise<SessionProof> => {
          const { count, raftTerm } = this.etcd.range({ key: TICKET });
          return { raftTerm, fault: count === 0 ? "the ticket is gone" : undefined };
        }),
      onHorizonMoved: () => void this.extended.push(session.horizon),
    };
  }

  call<T>(name: Named, call: () => Promise<T>): Promise<T> {
    this.sent[name].push(this.clock.elapsed);
    const fate = this.fates[name]?.shift() ?? this.always[name];
    return fate === undefined ? call() : fate(call);
  }

  /** Applied, and answered so much later. */
  delayAnswer(ms: number): Fate {
    return async (call) => {
      const answer = await call();
      await this.clock.sleep(ms);
      return answer;
    };
  }

  /** Applied, but the answer is lost, which is known so much later. */
  loseAnswer(ms: number): Fate {
    return async (call) => {
      await call();
      return this.loseRequest(ms)(call);
    };
  }

  /** Not applied, and not answered either, which is known so much later. */
  loseRequest(ms = 0): Fate {
    return async () => {
      if (ms > 0) await this.clock.sleep(ms);
      throw new StoreError("unavailable", "no answer");
    };
  }

  /** From now on, etcd gets neither renewals nor reads. */
  cutOff(): void {
    this.always = { renew: this.loseRequest(), prove: this.loseRequest() };
  }

  /** A new leader first. */
  electLeaderFirst(): Fate {
    return async (call) => {
      this.etcd.electLeader();
      return call();
    };
  }

  /** Refused with this error. */
  refuse(kind: StoreError["kind"]): Fate {
    return () => Promise.reject(new StoreError(kind, "refused"));
  }
}

class ScriptedStore extends MemoryStore {
  readonly #fixture: SessionFixture;

  constructor(etcd: MemoryEtcd, fixture: SessionFixture) {
    super(etcd);
    this.#fixture = fixture;
  }

  override grant(...args: Parameters<MemoryStore["grant"]>) {
    return this.#fixture.call("grant", () => super.grant(...args));
  }

  override renew(...args: Parameters<MemoryStore["renew"]>) {
    const renew = async () => {
      const answer = await super.renew(...args);
      const { stated, terms } = this.#fixture;
      return { ...answer, ttl: stated.shift() ?? answer.ttl, raftTerm: terms.shift() ?? answer.raftTerm };
    };
    return this.#fixture.call("renew", renew);
  }

  override revoke(...args: Parameters<MemoryStore["revoke"]>) {
    return this.#fixture.call("revoke", () => super.revoke(...args));
  }
}

/** Fails each test of a file in which a promise is rejected that nobody handles. */
export function failOnUnhandledRejections(): void {
  const unhandled: unknown[] = [];
  const keep = (reason: unknown) => void unhandled.push(reason);
  beforeEach(() => void process.on("unhandledRejection", keep));
  afterEach(async () => {
    await waitForPending();
    process.off("unhandledRejection", keep);
    expect(unhandled.splice(0)).toEqual([]);
  });
}

/** The kind of a session's loss; undefined while it is not lost. */
export function getLossKind(session: Session): string | undefined {
  return session.signal.aborted ? session.signal.reason.kind : undefined;
}
