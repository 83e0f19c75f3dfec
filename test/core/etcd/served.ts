import type { Transport } from "../../../fixtures/cluster/test-namespace.ts";
import { startEtcd } from "../../../fixtures/etcd/index.ts";
import { openStore } from "../../../src/core/etcd/open.ts";
import type { StoreOptions } from "../../../src/core/etcd/options.ts";
import type { Store } from "../../../src/core/etcd/store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import type { Subject } from "./contract/index.ts";

/** A store with the real clock. */
export function open(options: StoreOptions): Promise<Store> {
  return openStore(options, { clock: createRealClock() });
}

/** One member and a store over it. */
export async function createServedSubject(
  transport: Transport,
  more: Partial<StoreOptions> = {},
): Promise<Subject> {
  const etcd = await startEtcd();
  // Nothing is asked twice, however slow the machine: what is asked twice is written twice.
  const timeouts = { attempt: 60_000, hedge: 60_000, total: 60_000, probe: 60_000 };
  const store = await open({ endpoints: etcd.endpoints, transport, timeouts, ...more });
  return {
    store,
    compact: async (revision) => {
      await etcd.runEtcdctl("compact", String(revision));
    },
    pass: async () => {},
    putBytes: (key, value) => etcd.putBytes(key, value),
    stop: async () => {
      store.close();
      await etcd.stop();
    },
  };
}
