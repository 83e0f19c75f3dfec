/** Rows of consecutive snapshots: unchanged rows are not built again. */
import { describe, expect, it } from "vitest";
import { RowCache } from "../../../../src/commands/see/ls/row-cache.ts";
import { serializeDrain } from "../../../../src/protocol/drain.ts";
import { appendPastRun } from "../../../../src/protocol/history.ts";
import type { KeyValue } from "../../../../src/protocol/txn.ts";
import { SNAPSHOT_COLLECTIONS, type Snapshot } from "../../../../src/state/snapshot.ts";
import { SnapshotBuilder } from "../../../../src/state/snapshot-builder.ts";
import { buildViewContext } from "../../../../src/state/view-context.ts";
import { NO_FILTER, parseRowFilter } from "../../../../src/views/filter.ts";
import { VIEWS, type ViewId } from "../../../../src/views/index.ts";
import { keys } from "../../../protocol/samples.ts";
import { NOW, pastRun, pictureOf, plain, runOf, stand } from "../../../state/pictures.ts";

const WISH = {
  filter: NO_FILTER,
  order: undefined,
  columns: undefined,
  limit: Number.POSITIVE_INFINITY,
  all: false,
};

function room(...kvs: KeyValue[]) {
  const fold = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
  fold.begin();
  for (const kv of kvs) fold.add(kv);
  fold.finish(10n);
  let revision = 10n;
  return {
    fold,
    put: (...puts: KeyValue[]) => {
      revision += 1n;
      const events = puts.map((kv) => ({ type: "put" as const, kv: { ...kv, modRevision: revision } }));
      fold.apply({ revision, events });
    },
    delete: (key: string) => {
      revision += 1n;
      fold.apply({ revision, events: [{ type: "delete", key, revision }] });
    },
  };
}

describe.each(["locks", "runs", "problems"] as const)("kept rows of %s", (id) => {
  it("are the same array as long as nothing changes", () => {
    const view = VIEWS[id];
    const { fold, put } = room(stand("lock x", "a", 1, { state: "held" }));
    const rows = new RowCache(view, WISH);
    const first = rows.computeRows(fold.getSnapshot(), NOW).rows;
    put(plain(`${keys.prefix}other`, "x"));
    expect(rows.computeRows(fold.getSnapshot(), NOW + 1).rows).toBe(first);
    put(stand("lock y", "b", 2, { state: "held", enqueuedAt: NOW + 60_000 }));
    expect(rows.computeRows(fold.getSnapshot(), NOW + 2).rows).not.toBe(first);
  });
});

describe("rows of a filter that compares times", () => {
  it("come as time passes, and are the same array in between", () => {
    const view = VIEWS.locks;
    const { fold } = room(stand("lock x", "a", 1, { state: "held", grantedAt: NOW }));
    const rows = new RowCache(view, { ...WISH, filter: parseRowFilter("since:>2s", view) });
    const compute = (wall: number) => rows.computeRows(fold.getSnapshot(), wall).rows;
    expect(compute(NOW)).toEqual([]);
    const first = compute(NOW + 3_000);
    expect(first).toHaveLength(1);
    expect(compute(NOW + 9_000)).toBe(first);
  });
});

const past = (lock: string, run: string) =>
  plain(keys.history(lock), appendPastRun(undefined, pastRun({ run, endedAt: NOW })));

describe("kept rows of history", () => {
  it("are the same whatever queues do, and those of every other lock when one run has ended", () => {
    const view = VIEWS.history;
    const { fold, put } = room(past("x", "a"), past("y", "b"));
    const rows = new RowCache(view, WISH);
    const first = rows.computeRows(fold.getSnapshot(), NOW).rows;
    put(stand("lock x", "c", 3, { state: "held" }));
    expect(rows.computeRows(fold.getSnapshot(), NOW).rows).toBe(first);
    put(past("y", "d"));
    const now = rows.computeRows(fold.getSnapshot(), NOW).rows;
    expect([now[0] === first[0], now[1] === first[1]]).toEqual([true, false]);
  });
});

describe.each(Object.keys(VIEWS) as ViewId[])("rows of %s", (id) => {
  it("are made of nothing but the rooms that the view names, which is what keeps them", () => {
    const view = VIEWS[id];
    if (view.of === "queue") return;
    const kvs = [
      stand("lock x", "a", 1, { state: "held" }),
      stand("resource db", "b", 2, {}),
      plain(keys.drain("group", "web"), "{}"),
      plain(keys.group("web"), '["a.example.com"]'),
      past("x", "a"),
    ];
    const whole = pictureOf(kvs);
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

describe("kept rows", () => {
  it("are made again as time passes where that alone changes them", () => {
    for (const [id, isTimed] of [
      ["problems", true],
      ["locks", false],
      ["runs", false],
    ] as const) {
      const view = VIEWS[id];
      const { fold } = room(stand("lock x", "a", 1, { state: "held" }));
      const rows = new RowCache(view, WISH);
      const first = rows.computeRows(fold.getSnapshot(), NOW).rows;
      expect(rows.computeRows(fold.getSnapshot(), NOW + 1_000).rows === first).toBe(!isTimed);
    }
  });
});

describe("kept rows of queues", () => {
  const held = stand("lock x", "a", 1, { state: "held" });
  const other = stand("lock y", "b", 2, { state: "held" });

  it("keep those of every other queue when one changes", () => {
    const view = VIEWS.locks;
    const { fold, put } = room(held, other);
    const rows = new RowCache(view, WISH);
    const [x, y] = rows.computeRows(fold.getSnapshot(), NOW).rows;
    put(stand("lock y", "c", 3, { state: "waiting" }));
    const now = rows.computeRows(fold.getSnapshot(), NOW).rows;
    expect([now[0] === x, now[1] === y]).toEqual([true, false]);
  });

  it("are made again when a drain comes, goes, or ends by itself", () => {
    const view = VIEWS.locks;
    const drain = plain(keys.drain("lock", "x"), serializeDrain({ by: "ann", at: NOW, until: NOW + 5_000 }));
    const { fold, put } = room(held);
    const rows = new RowCache(view, WISH);
    const states = (wall: number) =>
      rows.computeRows(fold.getSnapshot(), wall).rows.map((row) => view.getFacets(row).states);
    expect(states(NOW)).toEqual([["held"]]);
    put(drain);
    expect(states(NOW + 1)).toEqual([["held", "drained"]]);
    expect(states(NOW + 6_000)).toEqual([["held"]]);
  });

  it("have a row for a drained lock that nobody holds any more", () => {
    const view = VIEWS.locks;
    const { fold, delete: remove } = room(
      held,
      plain(keys.drain("lock", "x"), serializeDrain({ by: "ann", at: 1 })),
    );
    const rows = new RowCache(view, WISH);
    expect(rows.computeRows(fold.getSnapshot(), NOW).rows).toHaveLength(1);
    remove(keys.lock("x", runOf("a")));
    expect(rows.computeRows(fold.getSnapshot(), NOW).rows.map((row) => view.getFacets(row).states)).toEqual([
      ["drained"],
    ]);
  });
});
