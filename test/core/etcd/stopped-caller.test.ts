/** A process that was stopped while etcd answered. */
import { setImmediate as letLoopTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { open } from "../../../fixtures/etcd/served-subject.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { runWithDeadline, type Store } from "../../../src/core/etcd/store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";

/** Longer than all timeouts, and than the second that `runWithDeadline` gives a call at least; ms. */
const STOPPED = 1_500;

/** Stops this thread, as SIGSTOP or a busy machine stops a process. */
function stopThread(ms: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe.each(["http", "grpc"] as const)("a caller over %s that was stopped", (transport) => {
  let etcd: EtcdMember;
  let store: Store;
  beforeAll(async () => {
    etcd = await startEtcd();
    const timeouts = { attempt: 600, hedge: 200, total: 800 };
    store = await open({ endpoints: etcd.endpoints, transport, timeouts });
    const isConnected = () =>
      store.readRange({ key: "a" }).then(
        () => true,
        () => false,
      );
    await waitUntil("connected", isConnected); // beside other programs, the first call can take longer than its timeout
  });
  afterAll(async () => {
    store?.close();
    await etcd?.stop();
  });

  test("reads the answers that came meanwhile, although timeouts and deadlines are over", async () => {
    const clock = createRealClock();
    const read = (signal?: AbortSignal) => store.readRange({ key: "a" }, signal);
    const answers = Promise.all([read(), runWithDeadline(clock, clock.now(), read, undefined)]);
    answers.catch(() => {}); // they may fail before they are awaited
    await letLoopTurn(); // the requests are on their way
    stopThread(STOPPED);
    await expect(answers).resolves.toMatchObject([{ kvs: [] }, { kvs: [] }]);
  });
});
