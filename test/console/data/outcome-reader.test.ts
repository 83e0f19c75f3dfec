import { expect, it, onTestFinished } from "vitest";
import type { CommandContext } from "../../../src/cli/frame/store-command.ts";
import { OutcomeReader } from "../../../src/console/data/outcome-reader.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import type { RangeOp } from "../../../src/core/protocol/txn.ts";

/** A store that answers a read when the test permits it. */
class PermittedStore extends MemoryStore {
  readonly reads: (() => void)[] = [];

  override async readRange(range: RangeOp & { revision?: bigint }, signal?: AbortSignal) {
    await new Promise<void>((permit) => this.reads.push(permit));
    return await super.readRange(range, signal);
  }
}

function createReader() {
  const clock = createRealClock();
  const store = new PermittedStore(MemoryStore.create(clock).etcd);
  const keys = createKeys("/test/");
  const settings = { connectTimeout: 10_000 };
  const context = { store, keys, clock, random: realRandom, settings } as unknown as CommandContext;
  const reader = new OutcomeReader(context, keys.listOutcomeRanges("report"), () => {});
  onTestFinished(() => reader.end());
  const permitReads = () => {
    for (const permit of store.reads.splice(0)) permit();
  };
  return { store, reader, permitReads };
}

it("has read once there is an answer, also if that is a refusal: keys that wait for it then act", async () => {
  const { store, reader } = createReader();
  store.readRange = () => Promise.reject(new StoreError("permission", "permission denied"));
  expect(reader.hasRead).toBe(false);
  reader.refresh("first", { revision: 1n });
  await expect.poll(() => reader.hasRead).toBe(true);
  expect(reader.obstacle).toMatch("cannot be read: permission denied");
});

it("reads again after the end of a run, also of one that ends during a read", async () => {
  const { store, reader, permitReads } = createReader();
  reader.refresh("first", { revision: 1n });
  await expect.poll(() => permitReads() ?? reader.obstacle).toBeUndefined();
  const read = new Set([reader.outcomes]);
  reader.refresh("second", { revision: 1n });
  await expect.poll(() => store.reads.length).toBeGreaterThan(0);
  expect(reader.outcomes, "the read is not over").toBe([...read][0]);
  reader.refresh("third", { revision: 1n });
  await expect.poll(() => permitReads() ?? read.add(reader.outcomes).size, { timeout: 10_000 }).toBe(3);
  expect(reader.obstacle).toBeUndefined();
});
