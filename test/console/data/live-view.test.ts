import { expect, it, onTestFinished } from "vitest";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import type { CommandContext } from "../../../src/cli/frame/store-command.ts";
import { LiveView } from "../../../src/console/data/live-view.ts";
import { TimeTravel } from "../../../src/console/data/time-travel.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";
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
  await expect.poll(() => sight.hasRead).toBe(true); // not only a part of the first read
  await putGroup("db");
  const seen = () => {
    sight.catchUp();
    return sight.snapshot.groups.size;
  };
  await expect.poll(seen).toBe(2);
  expect(published.at(-1)).toBe(1);
});

/** A store that answers reads of pages after the first one when the test permits it. */
class SlowPages extends MemoryStore {
  readonly go = Promise.withResolvers<void>();

  override async readRange(range: RangeOp & { revision?: bigint }, signal?: AbortSignal) {
    const page = await super.readRange(range, signal);
    if (range.keysOnly !== true && range.key.endsWith("\0")) await this.go.promise;
    return page;
  }
}

const NUMBER = { locks: 150, each: 4 };

/** Opens a store with more queues than a page has. */
async function openSlowPages() {
  const clock = createRealClock();
  const store = new SlowPages(MemoryStore.create(clock).etcd);
  const keys = createKeys("/look/");
  for (let lock = 0; lock < NUMBER.locks; lock += 1) {
    const success = Array.from({ length: NUMBER.each }, (_, place) => {
      const run = `${lock}x${place}`.padStart(16, "0");
      const key = keys.lock(`lock-${String(lock).padStart(3, "0")}`, run);
      return { op: "put", key, value: serializeTicket(createTicket({ run })) } as const;
    });
    await store.commitTxn({ compare: [], success, failure: [] });
  }
  const { signal } = new AbortController();
  const settings = { connectTimeout: 10_000, endpoints: ["http://127.0.0.1:1"] };
  const context = { store, keys, clock, random: realRandom, signal, settings } as unknown as CommandContext;
  return { store, context };
}

it("says how much of a past state is read", async () => {
  const { store, context } = await openSlowPages();
  const seen: unknown[] = [];
  const onChange = () => seen.push(travel.progress);
  const travel = new TimeTravel(context, { onChange, onMessage: (text) => seen.push(text) });
  travel.go({ revision: BigInt(NUMBER.locks + 1) });
  const total = NUMBER.locks * NUMBER.each;
  await expect.poll(() => seen).toContainEqual({ read: 500, total });
  expect([travel.search, travel.view]).toEqual([
    `reading the state at revision ${NUMBER.locks + 1}`,
    undefined,
  ]);
  store.go.resolve();
  await expect.poll(() => travel.view?.snapshot.queues.size).toBe(NUMBER.locks);
  expect(travel.search).toBeUndefined();
});

it("shows the queues that a long first read has brought whole, and how far it is; nothing changes without news", async () => {
  const { store, context } = await openSlowPages();
  let calls = 0;
  const view = new LiveView(context, () => {
    calls += 1;
  });
  onTestFinished(() => view.end());
  view.begin();
  await expect.poll(() => view.snapshot.queues.size).toBe(124); // of 500 keys, without the last queue
  for (const { entries } of view.snapshot.queues.values()) expect(entries).toHaveLength(NUMBER.each);
  await expect.poll(() => view.progress).toEqual({ read: 500, total: NUMBER.locks * NUMBER.each });
  expect([view.hasRead, view.connection.kind, view.snapshot.revision]).toEqual([false, "opening", 0n]);
  store.go.resolve();
  await expect.poll(() => view.hasRead).toBe(true);
  expect([view.snapshot.queues.size, view.progress]).toEqual([NUMBER.locks, undefined]);
  await expect.poll(() => view.connection.kind).toBe("live");
  const { snapshot } = view;
  view.catchUp();
  expect(view.snapshot).toBe(snapshot);
  expect(calls).toBeGreaterThan(1);
});
