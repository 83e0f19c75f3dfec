/** An operator at an in-memory etcd whose answers a test can lose. */
import { randomBytes } from "node:crypto";
import { test as baseTest } from "vitest";
import { ManualClock } from "../../../fixtures/manual-clock.ts";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { StoredKeys } from "../../../fixtures/state/stored-keys.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import { type AuditRecord, parseAuditRecord } from "../../../src/core/protocol/audit.ts";
import type { Txn } from "../../../src/core/protocol/txn.ts";
import type { OperatorPorts } from "../../../src/site/operate/operator-action.ts";
import {
  applyMutation,
  type MutationOptions,
  type ScheduleMutation,
} from "../../../src/site/operate/schedule-mutation.ts";

/** `lost`: applied, the answer lost. `refused`: not applied, as if etcd were away. */
export type Fate = "fine" | "lost" | "refused";

class UnreliableStore extends MemoryStore {
  readonly fates: Fate[] = [];

  override async commitTxn(txn: Txn, signal?: AbortSignal) {
    const fate = this.fates.shift() ?? "fine";
    if (fate === "refused") throw new StoreError("unavailable", "connection refused");
    const answer = await super.commitTxn(txn, signal);
    if (fate === "lost") throw new StoreError("unavailable", "connection reset");
    return answer;
  }
}

export class OperatorFixture extends StoredKeys {
  readonly keys = keys;
  readonly clock = new ManualClock();
  readonly store = new UnreliableStore(MemoryStore.create(this.clock).etcd);
  readonly ports: OperatorPorts = {
    store: this.store,
    keys,
    clock: this.clock,
    random: { generateBytes: (n) => randomBytes(n), generateFraction: () => 0.5 },
    settings: { connectTimeout: 5_000, readOnly: false },
    operator: { user: "root", host: "ops.example.com", sudoUser: "ann" },
  };

  async apply(mutation: ScheduleMutation, options?: MutationOptions) {
    return await applyMutation(this.ports, mutation, options);
  }

  async listRecords(): Promise<(AuditRecord | undefined)[]> {
    const { kvs } = await this.store.readRange(keys.audits());
    return kvs.map(({ key, value }) => parseAuditRecord(key.slice(keys.audits().key.length), value));
  }

  /** Moves time on until a promise is settled. */
  async advanceUntilSettled<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const over = promise.finally(() => {
      isOver = true;
    });
    over.catch(() => {});
    while (!isOver) await this.clock.advance(100);
    return await over;
  }
}

/** `test` with an operator of its own for each: `test("…", async ({ operator }) => …)`. */
export const test = baseTest.extend<{ operator: OperatorFixture }>({
  operator: async ({ task: _ }, use) => await use(new OperatorFixture()),
});
