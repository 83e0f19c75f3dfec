/** A real etcd for a file of tests, and stages on it. */
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type Finishing, Stage, type Transport } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { openStore } from "../../../src/etcd/open/open.ts";
import type { Store } from "../../../src/etcd/store.ts";
import { createRealClock } from "../../../src/process/clock.ts";

export {
  JOB_SCRIPT as HOLD,
  type Job,
  Stage,
  TRANSPORTS,
  type Transport,
} from "../../../fixtures/cluster/test-namespace.ts";

/** One etcd for a file of tests. */
export class Theatre {
  #etcd: EtcdMember | undefined;
  #store: Store | undefined;
  #stages = 0;

  constructor() {
    beforeAll(async () => {
      this.#etcd = await startEtcd();
      const timeouts = { total: 30_000 }; // what the test itself asks must not fail on a slow machine
      this.#store = await openStore(
        { endpoints: this.#etcd.endpoints, timeouts },
        { clock: createRealClock() },
      );
    });
    afterAll(async () => {
      this.#store?.close();
      await this.#etcd?.stop();
    });
  }

  /**
   * A prefix and a journal of its own for a test; its processes end with the test.
   * @param context  of a test that runs beside others, which must not count `sessions()`, nor look for `ghosts()`
   */
  async createTestNamespace(
    transport: Transport,
    { onTestFinished: onFinished }: Finishing = { onTestFinished },
  ): Promise<Stage> {
    if (!this.#etcd || !this.#store) throw new Error("a stage is for a running test");
    this.#stages += 1;
    const stage = new Stage(this.#etcd, this.#store, transport, `/stage${this.#stages}/`, onFinished);
    await stage.open();
    return stage;
  }
}
