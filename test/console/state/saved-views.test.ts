/** Saved views are kept, bounded, and tolerant of what is stored. */
import { describe, expect, it } from "vitest";
import { createLocksState } from "../../../fixtures/console/stub-console.ts";
import {
  deleteView,
  MAX_SAVED_VIEWS,
  openView,
  restoreSavedViews,
  restoreState,
  saveCurrentView,
  toConsolePreferences,
} from "../../../src/console/state/preferences.ts";

function createState() {
  const state = createLocksState();
  const queues = {
    ...state.tabs.queues,
    filter: "wait:>5m",
    order: { column: "waits", descending: true },
    columns: ["name", "waits"],
  };
  return { ...state, tab: "queues" as const, tabs: { ...state.tabs, queues } };
}

const keep = (state: Parameters<typeof toConsolePreferences>[0]) =>
  restoreState(JSON.parse(JSON.stringify(toConsolePreferences(state))));

describe("a saved view", () => {
  it("is the tab with its filter, order and columns, and survives a restart", () => {
    const saved = keep(saveCurrentView(createState(), "long waits"));
    const [view] = saved.savedViews;
    if (view === undefined) throw new Error("no view");
    expect(view).toEqual({
      name: "long waits",
      tab: "queues",
      filter: "wait:>5m",
      order: { column: "waits", descending: true },
      columns: ["name", "waits"],
    });
    const { tab, tabs } = openView(createLocksState(), view);
    expect([tab, tabs.queues.filter, tabs.queues.columns]).toEqual(["queues", "wait:>5m", ["name", "waits"]]);
  });

  it("replaces the one of its name, and can be deleted", () => {
    const first = saveCurrentView(saveCurrentView(createLocksState(), "a"), "b");
    const second = saveCurrentView({ ...first, tab: "hosts" }, "a");
    expect(second.savedViews.map(({ name, tab }) => [name, tab])).toEqual([
      ["a", "hosts"],
      ["b", "locks"],
    ]);
    const { savedViews, startView } = deleteView({ ...second, startView: "a" }, "a");
    expect([savedViews.map(({ name }) => name), startView]).toEqual([["b"], undefined]);
  });

  it("is shown at the start if it is the one for that", () => {
    const state = saveCurrentView(createState(), "start");
    const next = keep({ ...state, startView: "start", tab: "hosts", tabs: createLocksState().tabs });
    expect([next.tab, next.tabs.queues.filter]).toEqual(["queues", "wait:>5m"]);
  });

  it.each([
    ["no list", "x"],
    ["no name", [{ tab: "locks" }]],
    ["an empty name", [{ name: " ", tab: "locks" }]],
    ["a long name", [{ name: "x".repeat(61), tab: "locks" }]],
    ["an unknown tab", [{ name: "a", tab: "none" }]],
    ["null", [null, 1, []]],
  ])("is ignored with %s", (_what, views) => {
    expect(restoreSavedViews({ views, startView: "a" })).toEqual({ savedViews: [], startView: undefined });
  });

  it("is one of a limited number, and has valid fields only", () => {
    const views = Array.from({ length: 90 }, (_, at) => ({
      name: `v${at % 80}`,
      tab: "locks",
      columns: [1, "name"],
    }));
    const { savedViews } = restoreSavedViews({ views });
    expect(savedViews).toHaveLength(MAX_SAVED_VIEWS);
    expect(savedViews[0]).toEqual({
      name: "v0",
      tab: "locks",
      filter: "",
      order: undefined,
      columns: ["name"],
    });
  });
});

it("preferences of a version with other settings are read without them", () => {
  const state = restoreState({ tab: "queues", pinned: ["lock a"], explorer: { open: ["pinned", "locks"] } });
  expect(state).toMatchObject({ tab: "queues", explorer: { open: new Set(["pinned", "locks"]) } });
  expect(toConsolePreferences(state)).not.toHaveProperty("pinned");
});
