/** Rows of consecutive snapshots: unchanged rows are not built again. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../../../fixtures/protocol/samples.ts";
import {
  createDrainKey,
  createHistoryKey,
  createKeyValue,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../../../fixtures/state/sample-snapshots.ts";
import { SnapshotFollower } from "../../../../../fixtures/state/snapshot-follower.ts";
import { createRowCache } from "../../../../../src/cli/commands/see/ls/row-cache.ts";
import { NO_FILTER, parseRowFilter } from "../../../../../src/cli/views/filter.ts";
import { VIEWS, type ViewId } from "../../../../../src/cli/views/index.ts";
import type { KeyValue } from "../../../../../src/core/protocol/txn.ts";
import type { Snapshot } from "../../../../../src/site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../../../src/site/state/snapshot-builder.ts";
import { buildViewContext } from "../../../../../src/site/state/view-context.ts";

const WISH = {
  filter: NO_FILTER,
  order: undefined,
  columns: undefined,
  limit: Number.POSITIVE_INFINITY,
  all: false,
};

/** Rows of a view, computed by one cache from snapshots that follow each other. */
function keepRows(id: ViewId, kvs: readonly KeyValue[], filter = "") {
  const view = VIEWS[id];
  const follower = new SnapshotFollower(...kvs);
  const computeRows = createRowCache(view, {
    ...WISH,
    ...(filter && { filter: parseRowFilter(filter, view) }),
  });
  const compute = (wall = NOW) => computeRows(follower.snapshot, wall).rows;
  const listStates = (wall?: number) => compute(wall).map((row) => view.getFacets(row).states);
  return { follower, compute, listStates };
}

const held = createTicketKey("lock x held", "a", 1);
const past = (lock: string, run: string) => createHistoryKey(lock, { run, endedAt: NOW });

describe.each(["locks", "runs", "problems"] as const)("kept rows of %s", (id) => {
  it("are the same array as long as nothing changes", () => {
    const { follower, compute } = keepRows(id, [held]);
    const first = compute();
    follower.put(createKeyValue(`${keys.prefix}other`, "x"));
    expect(compute(NOW + 1)).toBe(first);
    follower.put(createTicketKey("lock y held", "b", 2, { enqueuedAt: NOW + 60_000 }));
    expect(compute(NOW + 2)).not.toBe(first);
  });
});

it("rows of a filter that compares times come as time passes, and are the same array in between", () => {
  const started = createTicketKey("lock x held", "a", 1, { grantedAt: NOW });
  const { compute } = keepRows("locks", [started], "since:>2s");
  expect(compute()).toEqual([]);
  const first = compute(NOW + 3_000);
  expect(first).toHaveLength(1);
  expect(compute(NOW + 9_000)).toBe(first);
});

it("kept rows of history stay the same objects when queues change; those of other locks also when a run has ended", () => {
  const { follower, compute } = keepRows("history", [past("x", "a"), past("y", "b")]);
  const first = compute();
  follower.put(createTicketKey("lock x held", "c", 3));
  expect(compute()).toBe(first);
  follower.put(past("y", "d"));
  const now = compute();
  expect([now[0] === first[0], now[1] === first[1]]).toEqual([true, false]);
});

describe.each(Object.keys(VIEWS) as ViewId[])("rows of %s", (id) => {
  it("are made of nothing but the rooms that the view names, which is what keeps them", () => {
    const view = VIEWS[id];
    if (view.of === "queue") return;
    const kvs = [
      held,
      createTicketKey("resource db", "b", 2),
      createKeyValue(keys.drain("group", "web"), "{}"),
      createKeyValue(keys.group("web"), '["a.example.com"]'),
      past("x", "a"),
    ];
    const whole = createSnapshot(kvs);
    const bare = new SnapshotBuilder(keys, view.collections);
    bare.begin();
    for (const kv of kvs)
      if (bare.ranges.some(({ key, rangeEnd }) => kv.key >= key && kv.key < rangeEnd)) bare.add(kv);
    bare.finish(100n);
    const part = bare.getSnapshot();
    const json = (snapshot: Snapshot) =>
      view.buildRows(snapshot, buildViewContext(snapshot, NOW)).map((row) => view.json.toJson(row));
    expect(json(part)).toEqual(json(whole));
  });
});

it.each([
  ["problems", true],
  ["locks", false],
  ["runs", false],
] as const)("kept rows are made again as time passes where that alone changes them: %s %s", (id, isTimed) => {
  const { compute } = keepRows(id, [held]);
  const first = compute();
  expect(compute(NOW + 1_000) === first).toBe(!isTimed);
});

describe("kept rows of queues", () => {
  it("keep those of every other queue when one changes", () => {
    const { follower, compute } = keepRows("locks", [held, createTicketKey("lock y held", "b", 2)]);
    const [x, y] = compute();
    follower.put(createTicketKey("lock y", "c", 3));
    const now = compute();
    expect([now[0] === x, now[1] === y]).toEqual([true, false]);
  });

  it("are made again when a drain comes, goes, or ends by itself", () => {
    const { follower, listStates } = keepRows("locks", [held]);
    expect(listStates()).toEqual([["held"]]);
    follower.put(createDrainKey("lock", "x", { until: NOW + 5_000 }));
    expect(listStates(NOW + 1)).toEqual([["held", "drained"]]);
    expect(listStates(NOW + 6_000)).toEqual([["held"]]);
  });
});
