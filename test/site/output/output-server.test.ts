import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { type Clock, toMonotonicTime } from "../../../src/core/base/clock.ts";
import { silentLog } from "../../../src/core/base/log.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { delegateStore } from "../../../src/core/etcd/store.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import { formatOutputRequest, parseOutputChunk } from "../../../src/core/protocol/output.ts";
import type { Op, Txn } from "../../../src/core/protocol/txn.ts";
import { buildSegmentPath } from "../../../src/site/output/output-directory.ts";
import { encodeRecord } from "../../../src/site/output/output-record.ts";
import { OutputBudget, OutputServer } from "../../../src/site/output/output-server.ts";

const keys = createKeys("/t/");
const HOST = "web1";
const RUN = "9amz31xmccgt45j8";
const SESSION = 7n;
const VIEWERS = Array.from({ length: 10 }, (_, n) => `viewer00000000000${n}`.slice(-16));

/** Time passes only while the server sleeps; before it goes on, the viewers act. */
class SleepingClock implements Clock {
  onSleep: () => Promise<void> = async () => {};
  #now = 0;

  now() {
    return toMonotonicTime(this.#now);
  }

  getWallTime() {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal) {
    signal?.throwIfAborted();
    this.#now += ms;
    await this.onSleep();
    signal?.throwIfAborted();
  }
}

/** Keeps two megabytes of output of a run. */
function createOutput() {
  const directory = createTestFolder();
  const record = encodeRecord({ kind: 1, time: 0, data: Buffer.alloc(32 * 1024, "x") });
  writeFileSync(buildSegmentPath(directory, RUN, 0), Buffer.concat(Array.from({ length: 64 }, () => record)));
  return directory;
}

function countPutBytes(ops: readonly Op[]): number {
  return ops.reduce((sum, op) => {
    if (op.op === "txn") return sum + countPutBytes(op.txn.success);
    return op.op === "put" ? sum + op.value.length : sum;
  }, 0);
}

test("ten viewers of a flood cost two writes a second, of less than 1 MiB; without viewers there are none", async () => {
  const clock = new SleepingClock();
  const etcd = MemoryStore.create(clock);
  const writes: { at: number; bytes: number }[] = [];
  const store = delegateStore(etcd, {
    commitTxn: (txn: Txn, signal) => {
      writes.push({ at: clock.getWallTime(), bytes: countPutBytes(txn.success) });
      return etcd.commitTxn(txn, signal);
    },
  });
  await etcd.grant(SESSION, 1_000);
  const putRequest = async (viewer: string, read: number) => {
    const value = formatOutputRequest({ follow: true, read });
    const key = keys.outputRequest(HOST, RUN, viewer);
    await etcd.commitTxn({
      compare: [],
      success: [{ op: "put", key, value, session: SESSION }],
      failure: [],
    });
  };
  for (const viewer of VIEWERS) await putRequest(viewer, 0);

  const stop = new AbortController();
  const received = new Map<string, number>();
  let writesWithoutViewers: number | undefined;
  clock.onSleep = async () => {
    if (clock.getWallTime() < 30_000) {
      for (const viewer of VIEWERS) {
        const chunk = parseOutputChunk(
          (await etcd.readRange({ key: keys.outputChunk(viewer) })).kvs[0]?.value,
        );
        if (chunk === undefined) continue;
        received.set(viewer, chunk.number);
        await putRequest(viewer, chunk.number); // it has read the chunk, and wants the next one
      }
    } else if (writesWithoutViewers === undefined) {
      writesWithoutViewers = writes.length;
      await etcd.revoke(SESSION);
    } else stop.abort(new Error("over"));
  };
  const options = { host: HOST, directory: createOutput(), isRunning: () => true };
  await new OutputServer({ store, keys, clock, random: realRandom, log: silentLog }, options).run(
    stop.signal,
  );

  expect(received.size, "each viewer gets output").toBe(VIEWERS.length);
  expect(Math.min(...received.values()), "and more than one chunk").toBeGreaterThan(3);
  const pauses = writes.slice(1).map(({ at }, before) => at - (writes[before]?.at ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...writes.map(({ bytes }) => bytes))).toBeLessThan(1024 * 1024);
  expect(writes.length, "nothing is written when nobody looks").toBe(writesWithoutViewers);
});

test("a viewer gets 1 MiB at once, and then 16 KiB a second", () => {
  const budget = new OutputBudget(toMonotonicTime(0));
  expect(budget.getLeft(toMonotonicTime(0))).toBe(1_048_576);
  budget.spend(1_048_576);
  expect(budget.getLeft(toMonotonicTime(0))).toBe(0);
  expect(budget.getLeft(toMonotonicTime(2_000))).toBe(32_768);
  expect(budget.getLeft(toMonotonicTime(3_600_000)), "unused time does not add up").toBe(1_048_576);
});
