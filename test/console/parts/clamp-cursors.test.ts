import { describe, expect, test } from "vitest";
import type { ConsoleParts } from "../../../src/console/parts/console-parts.ts";
import { clampCursors } from "../../../src/console/parts/moves.ts";
import {
  type ConsoleState,
  createInitialState,
  TOAST_DURATION,
} from "../../../src/console/state/console-state.ts";
import type { RowList } from "../../../src/console/state/cursor.ts";

const WALL = 1_000_000;

function createRows(keys: readonly string[]): RowList {
  return { length: keys.length, getKeyAt: (index) => keys[index], findIndex: (key) => keys.indexOf(key) };
}

/** The parts that the function reads: a table, a tree, and the jobs of the panel, newest first. */
function createParts(state: ConsoleState, { rows = ["a", "b"], jobs = [3, 2, 1] } = {}) {
  const parts = {
    state,
    getPresentTime: () => WALL,
    getLayout: () => ({ table: { height: 10 }, explorer: { height: 10 }, panel: { height: 2 } }),
    table: { ...createRows(rows), remarks: [] },
    tree: createRows(["locks"]),
    jobs: { list: jobs.map((id) => ({ id })) },
    getTabCounts: () => ({}),
    getPanelTable: () => undefined,
  };
  return parts as unknown as ConsoleParts;
}

const withPanel = (focus: ConsoleState["focus"], index: number): ConsoleState => {
  const state = createInitialState();
  const cursor = { key: String(3 - index), index, top: index };
  return { ...state, focus, panel: { ...state.panel, id: "jobs", cursor } };
};

describe("cursors on rows that change", () => {
  test("the list of jobs shows the newest ones, unless the keyboard is in it", () => {
    const unfocused = withPanel("table", 2);
    expect(clampCursors(unfocused, createParts(unfocused)).panel.cursor).toEqual({
      key: "3",
      index: 0,
      top: 0,
    });
    const focused = withPanel("panel", 2);
    expect(clampCursors(focused, createParts(focused, { jobs: [4, 3, 2, 1] })).panel.cursor).toMatchObject({
      key: "1",
      index: 3,
    });
  });

  test("nothing changes when every cursor is on its row", () => {
    const state = createInitialState();
    const settled = clampCursors(state, createParts(state));
    expect(settled.tabs.locks.cursor.key).toBe("a");
    expect(clampCursors(settled, createParts(settled))).toBe(settled);
  });

  test("the detail starts at its top when another row is selected", () => {
    const start = createInitialState();
    const state = { ...clampCursors(start, createParts(start)), detail: { top: 7 } };
    expect(clampCursors(state, createParts(state, { rows: ["new", "a", "b"] })).detail).toEqual({ top: 7 });
    expect(clampCursors(state, createParts(state, { rows: ["b"] })).detail).toEqual({ top: 0 });
  });

  test.each([
    ["its time is over", { until: WALL }, true],
    ["its message no longer holds", { until: WALL + 1, isTrue: () => false }, true],
    ["the clock was set back", { until: WALL + TOAST_DURATION + 1 }, true],
    ["none of these", { until: WALL + 1, isTrue: () => true }, false],
  ])("a toast disappears: %s", (_, toast, isGone) => {
    const state: ConsoleState = { ...createInitialState(), toast: { text: "x", tone: "quiet", ...toast } };
    expect(clampCursors(state, createParts(state)).toast === undefined).toBe(isGone);
  });
});
