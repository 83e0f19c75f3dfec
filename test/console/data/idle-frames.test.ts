/** While nobody types, the console builds no frame that would show nothing but a time. */

import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { ManualClock } from "../../../fixtures/manual-clock.ts";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { createSnapshot, createTicketKey, held } from "../../../fixtures/state/sample-snapshots.ts";
import type { CommandContext } from "../../../src/cli/frame/store-command.ts";
import { DetailCache } from "../../../src/console/data/detail-cache.ts";
import { LiveView } from "../../../src/console/data/live-view.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import type { RangeOp } from "../../../src/core/protocol/txn.ts";

/** A store with slow and quick answers to probes, in pairs: two parts of a view probe in turns. */
class UnevenStore extends MemoryStore {
  probes = 0;

  override async readRange(range: RangeOp & { revision?: bigint }, signal?: AbortSignal) {
    if (range.limit === 1) this.probes += 1;
    if (range.limit === 1 && this.probes % 4 < 2) await pause(50);
    return await super.readRange(range, signal);
  }
}

it.each([true, false])("a round trip that takes longer: without a key %s", async (isQuiet) => {
  const clock = createRealClock();
  const store = new UnevenStore(MemoryStore.create(clock).etcd);
  const settings = { connectTimeout: 10_000, endpoints: ["http://127.0.0.1:1"] };
  const { signal } = new AbortController();
  const context = { store, keys, clock, random: realRandom, signal, settings } as unknown as CommandContext;
  let calls = 0;
  const view = new LiveView(
    context,
    () => {
      calls += 1;
    },
    () => isQuiet,
  );
  onTestFinished(() => view.end());
  view.begin();
  await expect.poll(() => view.connection.kind, { timeout: 20_000 }).toBe("live");
  await expect.poll(() => view.clusterHealth, { timeout: 20_000 }).toBeDefined();
  const before = [calls, store.probes] as const;
  if (!isQuiet) await expect.poll(() => calls, { timeout: 20_000 }).toBeGreaterThan(before[0] + 1);
  else await expect.poll(() => store.probes, { timeout: 20_000 }).toBeGreaterThan(before[1] + 4);
  if (isQuiet) expect(calls - before[0]).toBeLessThan(2); // the first one may be about the health itself
});

it("a session that was renewed again, and one that is gone", async () => {
  const clock = new ManualClock();
  let left: number | undefined = 30;
  let reads = 0;
  const readTimeToLive = async () => {
    reads += 1;
    return left === undefined ? undefined : { left: left--, ttl: 30 };
  };
  let calls = 0;
  const context = { clock, keys, store: { readTimeToLive } } as unknown as CommandContext;
  const cache = new DetailCache(
    context,
    () => {
      calls += 1;
    },
    () => true,
  );
  onTestFinished(() => cache.end());
  const kv = { ...createTicketKey("lock x", "a", 1, held), session: 7n };
  cache.watchSubject({ kind: "lock", name: "x" }, createSnapshot([kv]), 0);
  await clock.advance(1_000);
  expect([reads, calls]).toEqual([1, 1]);
  await clock.advance(30_000);
  expect([reads, calls]).toEqual([4, 1]);
  left = undefined;
  await clock.advance(30_000);
  expect([reads, calls]).toEqual([7, 2]);
});
