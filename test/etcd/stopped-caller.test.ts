/** A process that was stopped while etcd answered. */
import { setImmediate as letLoopTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EtcdMember, startEtcd } from "../../fixtures/etcd/index.ts";
import { runWithDeadline } from "../../src/etcd/retry.ts";
import type { Store } from "../../src/etcd/store.ts";
import { createRealClock } from "../../src/process/clock.ts";
import { open } from "./served.ts";

/** The least that `runWithDeadline` gives a call, ms. */
const DEADLINE = 1_000;
/** Longer than all timeouts, ms. */
const STOPPED = 3_000;

/** Stops this thread, as SIGSTOP or a busy machine stops a process. */
function stopThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe.each(["http", "grpc"] as const)("a caller over %s that was stopped", (transport) => {
  let etcd: EtcdMember;
  let store: Store;
  beforeAll(async () => {
    etcd = await startEtcd();
    const timeouts = { attempt: 600, hedge: 200, total: 800 };
    store = await open({ endpoints: etcd.endpoints, transport, timeouts });
    await store.readRange({ key: "a" });
  });
  afterAll(async () => {
    store?.close();
    await etcd?.stop();
  });

  test.each([
    ["the timeouts of a call", () => store.readRange({ key: "a" })],
    [
      "a deadline",
      () => {
        const clock = createRealClock();
        return runWithDeadline(
          clock,
          clock.now() + DEADLINE,
          (signal) => store.readRange({ key: "a" }, signal),
          undefined,
        );
      },
    ],
  ])("reads the answer that came meanwhile, although %s are over", async (_, read) => {
    const answer = read();
    answer.catch(() => {}); // it may fail before it is awaited
    await letLoopTurn(); // the request is on its way
    stopThread(STOPPED);
    await expect(answer).resolves.toMatchObject({ kvs: [] });
  });
});
