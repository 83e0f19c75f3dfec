import { expect, it, onTestFinished } from "vitest";
import type { CommandContext } from "../../../src/cli/frame/store-command.ts";
import { LiveView } from "../../../src/console/data/live-view.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import type { RangeOp } from "../../../src/core/protocol/txn.ts";

/** A store that answers checks of its reachability at once, and returns data when the test permits it. */
class SlowToTell extends MemoryStore {
  readonly tell = Promise.withResolvers<void>();

  override async readRange(range: RangeOp & { revision?: bigint }, signal?: AbortSignal) {
    if (range.keysOnly !== true) await this.tell.promise;
    return await super.readRange(range, signal);
  }
}

it("shows what it reads first at once; later, who cannot wait gets what is known between two pictures of a slow screen", async () => {
  const clock = createRealClock();
  const store = new SlowToTell(MemoryStore.create(clock).etcd);
  const keys = createKeys("/look/");
  const putGroup = (name: string) => {
    const op = { op: "put", key: keys.group(name), value: '["a.x"]' } as const;
    return store.commitTxn({ compare: [], success: [op], failure: [] });
  };
  await putGroup("web");
  const stop = new AbortController();
  const context = {
    store,
    keys,
    clock,
    random: realRandom,
    signal: stop.signal,
  } as unknown as CommandContext;
  const published: number[] = [];
  const sight = new LiveView(
    {
      ...context,
      settings: {
        connectTimeout: 10_000,
        endpoints: ["http://127.0.0.1:1"],
      } as unknown as CommandContext["settings"],
    },
    () => {
      sight.handleFrameBuilt(100_000); // the next picture may come in five minutes
      published.push(sight.snapshot.groups.size);
    },
  );
  onTestFinished(() => sight.end());
  sight.begin();
  await expect.poll(() => published.at(-1)).toBe(0); // etcd is reachable, and nothing is read
  store.tell.resolve();
  await expect.poll(() => published.at(-1)).toBe(1);
  await putGroup("db");
  const seen = () => {
    sight.catchUp();
    return sight.snapshot.groups.size;
  };
  await expect.poll(seen).toBe(2);
  expect(published.at(-1)).toBe(1);
});
