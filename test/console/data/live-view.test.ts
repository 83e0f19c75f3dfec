import { expect, it, onTestFinished } from "vitest";
import type { CommandContext } from "../../../src/commands/store-command.ts";
import { LiveView } from "../../../src/console/data/live-view.ts";
import { MemoryEtcd, MemoryStore } from "../../../src/etcd/memory/memory-store.ts";
import type { RangeOp } from "../../../src/etcd/store.ts";
import { createRealClock } from "../../../src/process/clock.ts";
import { realRandom } from "../../../src/process/random.ts";
import { createKeys } from "../../../src/protocol/keys.ts";

/** A store that answers checks of its reachability at once, and returns data when the test permits it. */
class SlowToTell extends MemoryStore {
  readonly tell = Promise.withResolvers<void>();

  override async readRange(range: RangeOp & { revision?: bigint }, signal?: AbortSignal) {
    if (range.keysOnly !== true) await this.tell.promise;
    return await super.readRange(range, signal);
  }
}

it("gives who cannot wait what is known, though the screen is so slow that the next picture is far off", async () => {
  let passed = 0;
  const clock = { ...createRealClock(), now: () => performance.now() + passed };
  const store = new SlowToTell(new MemoryEtcd({ now: () => clock.now() }));
  const keys = createKeys("/look/");
  await store.commitTxn({
    compare: [],
    success: [{ op: "put", key: keys.group("web"), value: '["a.x"]' }],
    failure: [],
  });
  const stop = new AbortController();
  const desk = { store, keys, clock, random: realRandom, signal: stop.signal } as unknown as CommandContext;
  const shown = Promise.withResolvers<void>();
  const sight = new LiveView(
    { ...desk, settings: { connectTimeout: 10_000 } as CommandContext["settings"] },
    () => {
      passed += 1_000; // as long as it took to show
      shown.resolve();
    },
  );
  onTestFinished(() => sight.end());
  sight.begin();
  await shown.promise;
  store.tell.resolve();
  await expect.poll(() => sight.connection.kind).toBe("live");
  expect(sight.snapshot.groups.size).toBe(0);
  sight.catchUp();
  expect(sight.snapshot.groups.size).toBe(1);
});
