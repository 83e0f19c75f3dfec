import { describe, expect, it } from "vitest";
import {
  getWatchId,
  MOST_WATCHED,
  restoreWatchedRows,
  toggleWatched,
  type WatchedRow,
} from "../../../src/console/state/watched-rows.ts";
import { toActionable } from "../../../src/site/state/subject.ts";

const A: WatchedRow = { kind: "lock", name: "a" };
const B: WatchedRow = { kind: "drain", scope: "host", name: "web1" };

describe("watched rows", () => {
  it("are added, and removed once all of them are watched", () => {
    expect(toggleWatched([], [A])).toEqual([A]);
    expect(toggleWatched([A], [A, B])).toEqual([A, B]);
    expect(toggleWatched([A, B], [A, B])).toEqual([]);
    expect(toggleWatched([A, B], [{ ...A }])).toEqual([B]);
  });

  it("are limited", () => {
    const many = Array.from({ length: 500 }, (_, at): WatchedRow => ({ kind: "lock", name: String(at) }));
    expect(toggleWatched(many.slice(0, 49), many.slice(49, 200))).toHaveLength(MOST_WATCHED);
  });

  it("are restored; unknown values are ignored", () => {
    expect(restoreWatchedRows(JSON.parse(JSON.stringify([A, B])))).toEqual([A, B]);
    const wrong = [
      null,
      7,
      {},
      { kind: "lock" },
      { kind: "record", name: "x" },
      { kind: "drain", name: "x" },
    ];
    expect(restoreWatchedRows(wrong)).toEqual([]);
    for (const kept of [undefined, null, {}, "x"]) expect(restoreWatchedRows(kept)).toEqual([]);
  });

  it("stand for what a record is about", () => {
    expect(toActionable({ kind: "record", name: "r", about: A })).toBe(A);
    expect(toActionable({ kind: "record", name: "r" })).toBeUndefined();
    expect([A, B].map(getWatchId)).toEqual(["lock a", "drain host web1"]);
  });
});
