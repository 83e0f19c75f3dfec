import { describe, expect, test } from "vitest";
import { createLocksState } from "../../../fixtures/console/stub-console.ts";
import {
  type ConsoleState,
  clampCursors,
  TOAST_DURATION,
  updateTab,
} from "../../../src/console/state/console-state.ts";
import type { RowList } from "../../../src/console/state/cursor.ts";
import { computeLayout } from "../../../src/console/state/layout.ts";

const WALL = 1_000_000;

function createRows(keys: readonly string[]): RowList {
  return { length: keys.length, getKeyAt: (index) => keys[index], findIndex: (key) => keys.indexOf(key) };
}

/** Clamps the cursors of a table, a tree, and the jobs of the panel, newest first. */
function clamp(state: ConsoleState, { rows = ["a", "b"], jobs = [3, 2, 1], isUntouched = false } = {}) {
  const layout = computeLayout({ width: 120, height: 30 }, state, { panelLines: 2 });
  if (layout === undefined) throw new Error("no layout");
  const lists = {
    table: { rows: createRows(rows), height: 10 },
    explorer: { rows: createRows(["locks"]), height: (layout.explorer?.height ?? 2) - 1 },
    panel: {
      rows: createRows(state.panel.id === "jobs" ? jobs.map(String) : []),
      height: layout.panel?.height ?? 1,
    },
    isUntouched,
  };
  return clampCursors(state, lists, WALL);
}

const withPanel = (focus: ConsoleState["focus"], index: number): ConsoleState => {
  const state = createLocksState();
  const cursor = { key: String(3 - index), index, top: index };
  return { ...state, focus, panel: { ...state.panel, id: "jobs", cursor } };
};

describe("cursors on rows that change", () => {
  test("the list of jobs shows the newest ones, unless the keyboard is in it", () => {
    const unfocused = withPanel("table", 2);
    expect(clamp(unfocused).panel.cursor).toEqual({
      key: "3",
      index: 0,
      top: 0,
    });
    const focused = withPanel("panel", 2);
    expect(clamp(focused, { jobs: [4, 3, 2, 1] }).panel.cursor).toMatchObject({
      key: "1",
      index: 3,
    });
  });

  test("while rows are read, a cursor that nobody has moved stays at the top", () => {
    const partial = clamp(createLocksState(), { rows: ["b"], isUntouched: true });
    expect(clamp(partial, { isUntouched: true }).tabs.locks.cursor).toEqual({ key: "a", index: 0, top: 0 });
    expect(clamp(partial).tabs.locks.cursor).toMatchObject({ key: "b", index: 1 });
    const start = createLocksState();
    const moved = updateTab(start, { cursor: { key: "b", index: 1, top: 0 } });
    expect(clamp(moved, { rows: ["0", "a", "b"], isUntouched: true }).tabs.locks.cursor).toMatchObject({
      key: "b",
      index: 2,
    });
  });

  test("nothing changes when every cursor is on its row", () => {
    const settled = clamp(createLocksState());
    expect(settled.tabs.locks.cursor.key).toBe("a");
    expect(clamp(settled)).toBe(settled);
  });

  test("the detail starts at its top when another row is selected", () => {
    const start = createLocksState();
    const state = { ...clamp(start), detail: { top: 7 } };
    expect(clamp(state, { rows: ["new", "a", "b"] }).detail).toEqual({ top: 7 });
    expect(clamp(state, { rows: ["b"] }).detail).toEqual({ top: 0 });
  });

  test.each([
    ["its time is over", { until: WALL }, true],
    ["its message no longer holds", { until: WALL + 1, isTrue: () => false }, true],
    ["the clock was set back", { until: WALL + TOAST_DURATION + 1 }, true],
    ["none of these", { until: WALL + 1, isTrue: () => true }, false],
  ])("a toast disappears: %s", (_, toast, isGone) => {
    const state: ConsoleState = { ...createLocksState(), toast: { text: "x", tone: "quiet", ...toast } };
    expect(clamp(state).toast === undefined).toBe(isGone);
  });
});
