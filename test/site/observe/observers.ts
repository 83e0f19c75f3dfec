/** Observers of a real etcd that record the updates. */

import type { TestContext } from "vitest";
import { startStopwatch } from "../../../fixtures/steady.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { openStore } from "../../../src/core/etcd/open.ts";
import type { StoreOptions } from "../../../src/core/etcd/options.ts";
import type { Store } from "../../../src/core/etcd/store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import { type EtcdHealth, watchEtcdHealth } from "../../../src/site/observe/etcd-cluster.ts";
import { type FollowEvent, followEtcd } from "../../../src/site/observe/follow.ts";
import type { ObserverPorts } from "../../../src/site/observe/ports.ts";
import { SNAPSHOT_COLLECTIONS } from "../../../src/site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../src/site/state/snapshot-builder.ts";

/** What was told, and when: ms after the beginning; those in which this process stood still do not count. */
export class EventLog<T extends { kind: string }> {
  readonly list: (T & { after: number })[] = [];
  readonly #elapsed = startStopwatch();
  fault: unknown;

  constructor(stream: AsyncIterable<T>) {
    void (async () => {
      for await (const one of stream) this.list.push({ ...one, after: this.now });
    })().catch((error) => {
      this.fault = error;
    });
  }

  get now(): number {
    return this.#elapsed();
  }

  /** The next that is so, of those that come from now on; `ms` it took. */
  async waitForNext(is: (one: T) => boolean): Promise<T & { ms: number }> {
    const [before, since] = [this.list.length, this.now];
    const tell = () =>
      JSON.stringify(this.list.slice(-10).map(({ kind, after }) => [kind, Math.round(after)]));
    const found = await waitUntil("it is told", () => this.list.slice(before).find(is), { describe: tell });
    return { ...found, ms: found.after - since };
  }
}

export class Observer {
  readonly store: Store;
  readonly ports: ObserverPorts;
  readonly fold: SnapshotBuilder;
  readonly #stop = new AbortController();

  private constructor(store: Store, { onTestFinished }: Pick<TestContext, "onTestFinished">) {
    this.store = store;
    const keys = createKeys("/look/");
    this.ports = {
      store,
      keys,
      clock: createRealClock(),
      random: realRandom,
      settings: { connectTimeout: 10_000 },
    };
    this.fold = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
    onTestFinished(() => {
      this.#stop.abort(new Error("the test is over"));
      store.close();
    });
  }

  static async connect(
    context: Pick<TestContext, "onTestFinished">,
    endpoints: readonly string[],
    options: Partial<StoreOptions> = {},
  ): Promise<Observer> {
    return new Observer(
      await openStore({ ...options, endpoints: [...endpoints] }, { clock: createRealClock() }),
      context,
    );
  }

  /** Resolves with the first read. */
  async follow(): Promise<EventLog<FollowEvent>> {
    const told = new EventLog(followEtcd(this.ports, this.fold, this.#stop.signal));
    await told.waitForNext(({ kind }) => kind === "read");
    return told;
  }

  beats(): EventLog<EtcdHealth> {
    return new EventLog(watchEtcdHealth(this.ports, {}, this.#stop.signal));
  }
}
