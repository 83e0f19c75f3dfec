/** Saved views and favourites are kept, bounded, and tolerant of what is stored. */
import { describe, expect, it } from "vitest";
import { buildFavouriteNodes } from "../../../src/console/data/explorer/favourites.ts";
import { createInitialState } from "../../../src/console/state/console-state.ts";
import {
  MAX_FAVOURITES,
  parseFavouriteId,
  restoreFavourites,
  toggleFavouriteId,
} from "../../../src/console/state/favourites.ts";
import { restoreState, toConsolePreferences } from "../../../src/console/state/preferences.ts";
import {
  deleteView,
  MAX_SAVED_VIEWS,
  openView,
  restoreSavedViews,
  saveCurrentView,
} from "../../../src/console/state/saved-views.ts";
import { NOW, pictureOf, stand } from "../../model/pictures.ts";

function createState() {
  const state = createInitialState();
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
    const { tab, tabs } = openView(createInitialState(), view);
    expect([tab, tabs.queues.filter, tabs.queues.columns]).toEqual(["queues", "wait:>5m", ["name", "waits"]]);
  });

  it("replaces the one of its name, and can be deleted", () => {
    const first = saveCurrentView(saveCurrentView(createInitialState(), "a"), "b");
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
    const next = keep({ ...state, startView: "start", tab: "hosts", tabs: createInitialState().tabs });
    expect([next.tab, next.tabs.queues.filter]).toEqual(["queues", "wait:>5m"]);
  });

  it.each<[what: string, views: unknown]>([
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

describe("favourites", () => {
  it("are added, removed and kept", () => {
    const state = toggleFavouriteId(createInitialState(), "lock a b");
    expect([...keep(state).favourites]).toEqual(["lock a b"]);
    expect(toggleFavouriteId(state, "lock a b").favourites.size).toBe(0);
  });

  it("are ignored if they are invalid, and limited", () => {
    expect(restoreFavourites("x").size).toBe(0);
    expect([...restoreFavourites(["lock a", "drain x", "lock ", 5, "host h"])]).toEqual(["lock a", "host h"]);
    expect(restoreFavourites(Array.from({ length: 999 }, (_, at) => `lock ${at}`)).size).toBe(MAX_FAVOURITES);
    expect(parseFavouriteId("lock a b")).toEqual({ kind: "lock", name: "a b" });
  });

  it("unfold their node with the first one", () => {
    const before = createInitialState();
    const folded = { ...before, explorer: { ...before.explorer, open: new Set<string>() } };
    expect(toggleFavouriteId(folded, "host h").explorer.open).toEqual(new Set(["favourites"]));
  });

  it("are a node of the explorer, with their states", () => {
    const picture = pictureOf([stand("lock beta", "a", 1, { state: "held" })]);
    const build = (ids: string[], open: string[]) =>
      buildFavouriteNodes(new Set(ids), picture, new Set(open), NOW).map(({ label, note, tab, key }) => [
        label,
        note,
        tab,
        key,
      ]);
    expect(build([], ["favourites"])).toEqual([]);
    expect(build(["lock beta"], [])).toEqual([["Favourites", "1", "locks", undefined]]);
    const all = ["lock beta", "host none", "schedule s", "group g", "resource alpha"];
    expect(build(all, ["favourites"])).toEqual([
      ["Favourites", "5", "locks", undefined],
      ["alpha", "free", "resources", "resource/alpha"],
      ["beta", "held", "locks", "lock/beta"],
      ["g", "gone", "groups", "g"],
      ["none", "gone", "hosts", "none"],
      ["s", "gone", "schedules", "s"],
    ]);
  });
});
