import { randomBytes } from "node:crypto";
import { put, write } from "../../../fixtures/etcd/store-calls.ts";
import { ManualClock } from "../../../fixtures/manual-clock.ts";
import { createTicket, keys } from "../../../fixtures/protocol/samples.ts";
import type { AgentPorts } from "../../../src/agent/fence.ts";
import { SharedSessions } from "../../../src/agent/shared-sessions.ts";
import { silentLog } from "../../../src/core/base/log.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import type { SessionProof } from "../../../src/core/etcd/session/session.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";
import type { OpenedSession } from "../../../src/core/run/request.ts";

export const HOST = "web1.example.com";
export const TTL = 30;
export const NEVER = new AbortController().signal;

/** An etcd, and agents of one host. */
export class AgentHost {
  readonly clock = new ManualClock();
  readonly store = MemoryStore.create(this.clock);
  /** Runs whose processes were killed. */
  readonly killed: string[] = [];
  /** Whether the processes of a run can be killed. */
  isKillable = true;
  #agents = 0;

  startAgent(): SharedSessions {
    this.#agents += 1;
    const name = `agent ${this.#agents}`;
    const ports: AgentPorts = {
      store: this.store,
      proofStore: this.store,
      keys,
      clock: this.clock,
      log: silentLog,
      host: HOST,
      random: { generateBytes: (n) => randomBytes(n), generateFraction: () => 0.5 },
      describeSession: () => name,
      killRun: async (run) => {
        if (this.isKillable) this.killed.push(run);
        return this.isKillable;
      },
    };
    return new SharedSessions(ports);
  }

  /** Puts a ticket of a run into the queue of a lock of its own. */
  async putTicket({ store, session }: OpenedSession, run: string): Promise<string> {
    const key = keys.lock(`of ${run}`, run);
    const value = serializeTicket(createTicket({ run, state: "held" }));
    await write(store, put(key, value, session.id));
    return key;
  }

  has(key: string): boolean {
    return this.store.etcd.range({ key }).kvs.length > 0;
  }
}

/** The owner of a claim that is as the test says. */
export class ClaimOwner {
  /** What the next proofs say; `silent`: etcd does not answer; `late`: not before `answer`. */
  state: "present" | "gone" | "silent" | "late" = "present";
  moves = 0;
  readonly answer = Promise.withResolvers<void>();
  readonly #host: AgentHost;

  constructor(host: AgentHost) {
    this.#host = host;
  }

  async prove(): Promise<SessionProof> {
    if (this.state === "silent") throw new Error("no answer");
    const { raftTerm } = this.#host.store.etcd;
    if (this.state === "late") await this.answer.promise;
    return { raftTerm, fault: this.state === "gone" ? "its ticket was removed" : undefined };
  }

  onHorizonMoved(): void {
    this.moves += 1;
  }
}
