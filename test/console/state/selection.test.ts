import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  type Cursor,
  clampCursor,
  moveCursor,
  type RowList,
  scrollCursor,
} from "../../../src/console/state/cursor.ts";

function rowsOf(keys: readonly string[]): RowList {
  return { length: keys.length, getKeyAt: (index) => keys[index], findIndex: (key) => keys.indexOf(key) };
}

const at = (key: string | undefined, index: number, top = 0): Cursor => ({ key, index, top });
const keys = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,3}$/), { maxLength: 60 });

describe("the selection", () => {
  it.each([
    ["is the first row at first", at(undefined, 0), ["a", "b"], 5, at("a", 0)],
    ["follows its row down", at("b", 1), ["x", "a", "b"], 5, at("b", 2)],
    ["follows its row up", at("b", 2), ["b"], 5, at("b", 0)],
    ["goes to what comes in the place of its row", at("b", 1), ["a", "c", "d"], 5, at("c", 1)],
    ["goes to the last row where its own was that", at("d", 3), ["a", "b"], 5, at("b", 1)],
    [
      "stays on its line of the screen when rows come above",
      at("m", 12, 10),
      [..."abcdefghijklxmnop"],
      5,
      at("m", 13, 11),
    ],
    ["remembers its place where there is nothing", at("b", 4), [], 5, at("b", 0)],
  ])("%s", (_what, cursor, rows, height, wanted) => {
    expect(clampCursor(cursor, rowsOf(rows), height)).toEqual(wanted);
  });

  it("is on a visible row after any change of the rows and any move", () => {
    const step = fc.oneof(
      keys.map((now) => ({ kind: "rows" as const, now })),
      fc.integer({ min: -20, max: 80 }).map((to) => ({ kind: "move" as const, to })),
      fc.constantFrom(3, -3).map((by) => ({ kind: "scroll" as const, by })),
    );
    fc.assert(
      fc.property(
        keys,
        fc.array(step, { maxLength: 20 }),
        fc.integer({ min: 1, max: 20 }),
        (start, steps, height) => {
          let now = start;
          let cursor = clampCursor(at(undefined, 0), rowsOf(now), height);
          for (const one of steps) {
            const before = cursor.key;
            if (one.kind === "rows") now = one.now;
            if (one.kind === "move") cursor = moveCursor(cursor, rowsOf(now), one.to, height);
            if (one.kind === "scroll") cursor = scrollCursor(cursor, rowsOf(now), one.by, height);
            cursor = clampCursor(cursor, rowsOf(now), height);
            if (one.kind === "rows" && before !== undefined && now.includes(before))
              expect(cursor.key).toBe(before);
            if (now.length === 0) continue;
            expect(now[cursor.index]).toBe(cursor.key);
            expect(cursor.index).toBeGreaterThanOrEqual(cursor.top);
            expect(cursor.index).toBeLessThan(cursor.top + height);
            expect(cursor.top).toBeLessThanOrEqual(Math.max(0, now.length - 1));
          }
        },
      ),
    );
  });
});
