/** Rows of one picture after the other: what did not change is not made again. */
import { describe, expect, it } from "vitest";
import { KeptRows } from "../../src/commands/see/kept-rows.ts";
import { Fold } from "../../src/model/fold.ts";
import { type Picture, ROOMS } from "../../src/model/picture.ts";
import { VIEWS, type ViewId } from "../../src/model/tables/index.ts";
import { sceneOf } from "../../src/model/tables/scene.ts";
import { drainText } from "../../src/protocol/drain.ts";
import { appended } from "../../src/protocol/history.ts";
import type { KeyValue } from "../../src/protocol/txn.ts";
import { NOW, pastRun, pictureOf, plain, runOf, stand } from "../model/pictures.ts";
import { keys } from "../protocol/samples.ts";

const WISH = {
  filter: [],
  order: undefined,
  columns: undefined,
  limit: Number.POSITIVE_INFINITY,
  all: false,
};

function room(...kvs: KeyValue[]) {
  const fold = new Fold(keys, ROOMS);
  fold.begin();
  for (const kv of kvs) fold.see(kv);
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
      fold.apply({ revision, events: [{ type: "delete", key }] });
    },
  };
}

describe.each(["locks", "runs", "problems"] as const)("kept rows of %s", (id) => {
  it("are the same array as long as nothing changes", () => {
    VIEWS[id]((view) => {
      const { fold, put } = room(stand("lock x", "a", 1, { state: "held" }));
      const rows = new KeptRows(view, WISH);
      const first = rows.of(fold.picture(), NOW).rows;
      put(plain(`${keys.prefix}other`, "x"));
      expect(rows.of(fold.picture(), NOW + 1).rows).toBe(first);
      put(stand("lock y", "b", 2, { state: "held", enqueuedAt: NOW + 60_000 }));
      expect(rows.of(fold.picture(), NOW + 2).rows).not.toBe(first);
    });
  });
});

const past = (lock: string, run: string) =>
  plain(keys.history(lock), appended(undefined, pastRun({ run, endedAt: NOW })));

describe("kept rows of history", () => {
  it("are the same whatever queues do, and those of every other lock when one run has ended", () => {
    VIEWS.history((view) => {
      const { fold, put } = room(past("x", "a"), past("y", "b"));
      const rows = new KeptRows(view, WISH);
      const first = rows.of(fold.picture(), NOW).rows;
      put(stand("lock x", "c", 3, { state: "held" }));
      expect(rows.of(fold.picture(), NOW).rows).toBe(first);
      put(past("y", "d"));
      const now = rows.of(fold.picture(), NOW).rows;
      expect([now[0] === first[0], now[1] === first[1]]).toEqual([true, false]);
    });
  });
});

describe.each(Object.keys(VIEWS) as ViewId[])("rows of %s", (id) => {
  it("are made of nothing but the rooms that the view names, which is what keeps them", () => {
    VIEWS[id]((view) => {
      if (view.of === "queue") return;
      const kvs = [
        ...[stand("lock x", "a", 1, { state: "held" }), stand("resource db", "b", 2, {})],
        ...[
          plain(keys.drain("group", "web"), "{}"),
          plain(keys.group("web"), '["a.example.com"]'),
          past("x", "a"),
        ],
      ];
      const whole = pictureOf(kvs);
      const bare = new Fold(keys, view.rooms);
      bare.begin();
      for (const kv of kvs)
        if (bare.ranges.some(({ key, rangeEnd }) => kv.key >= key && kv.key < rangeEnd)) bare.see(kv);
      bare.finish(100n);
      const part = bare.picture();
      const json = (picture: Picture) =>
        view.rows(picture, sceneOf(picture, NOW)).map((row) => view.json(row));
      expect(json(part)).toEqual(json(whole));
    });
  });
});

describe("kept rows", () => {
  it("are made again as time passes where that alone changes them", () => {
    for (const [id, isTimed] of [
      ["problems", true],
      ["locks", false],
      ["runs", false],
    ] as const)
      VIEWS[id]((view) => {
        const { fold } = room(stand("lock x", "a", 1, { state: "held" }));
        const rows = new KeptRows(view, WISH);
        const first = rows.of(fold.picture(), NOW).rows;
        expect(rows.of(fold.picture(), NOW + 1_000).rows === first).toBe(!isTimed);
      });
  });
});

describe("kept rows of queues", () => {
  const held = stand("lock x", "a", 1, { state: "held" });
  const other = stand("lock y", "b", 2, { state: "held" });

  it("keep those of every other queue when one changes", () => {
    VIEWS.locks((view) => {
      const { fold, put } = room(held, other);
      const rows = new KeptRows(view, WISH);
      const [x, y] = rows.of(fold.picture(), NOW).rows;
      put(stand("lock y", "c", 3, { state: "waiting" }));
      const now = rows.of(fold.picture(), NOW).rows;
      expect([now[0] === x, now[1] === y]).toEqual([true, false]);
    });
  });

  it("are made again when a drain comes, goes, or ends by itself", () => {
    VIEWS.locks((view) => {
      const drain = plain(keys.drain("lock", "x"), drainText({ by: "ann", at: NOW, until: NOW + 5_000 }));
      const { fold, put } = room(held);
      const rows = new KeptRows(view, WISH);
      const states = (wall: number) =>
        rows.of(fold.picture(), wall).rows.map((row) => view.facets(row).states);
      expect(states(NOW)).toEqual([["held"]]);
      put(drain);
      expect(states(NOW + 1)).toEqual([["held", "drained"]]);
      expect(states(NOW + 6_000)).toEqual([["held"]]);
    });
  });

  it("have a row for a drained lock that nobody holds any more", () => {
    VIEWS.locks((view) => {
      const { fold, delete: remove } = room(
        held,
        plain(keys.drain("lock", "x"), drainText({ by: "ann", at: 1 })),
      );
      const rows = new KeptRows(view, WISH);
      expect(rows.of(fold.picture(), NOW).rows).toHaveLength(1);
      remove(keys.lock("x", runOf("a")));
      expect(rows.of(fold.picture(), NOW).rows.map((row) => view.facets(row).states)).toEqual([["drained"]]);
    });
  });
});
