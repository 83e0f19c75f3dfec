import { describe, expect, it } from "vitest";
import { rememberPlace, stepThroughPlaces } from "../../../src/console/parts/navigation.ts";
import {
  type ConsoleState,
  createInitialState,
  type TabId,
} from "../../../src/console/state/console-state.ts";

/** A jump to a row, as the console makes it. */
function jump(state: ConsoleState, tab: TabId, key: string): ConsoleState {
  const before = rememberPlace(state);
  const own = before.tabs[tab];
  const tabs = { ...before.tabs, [tab]: { ...own, cursor: { ...own.cursor, key } } };
  return { ...before, tab, tabs, focus: "table" };
}

function locate({ tab, tabs }: ConsoleState) {
  return `${tab}/${tabs[tab].cursor.key ?? ""}`;
}

const FIRST = jump(createInitialState(), "locks", "a");

describe("the history of places", () => {
  it("goes back and forward over jumps", () => {
    let state = jump(jump(FIRST, "hosts", "web1"), "schedules", "nightly");
    const seen = [-1, -1, 1, 1].map((by) => {
      state = stepThroughPlaces(state, by as 1 | -1);
      return locate(state);
    });
    expect(seen).toEqual(["hosts/web1", "locks/a", "hosts/web1", "schedules/nightly"]);
  });

  it("stays where it is at both ends", () => {
    const state = createInitialState();
    expect(stepThroughPlaces(state, -1)).toBe(state);
    expect(stepThroughPlaces(state, 1)).toBe(state);
  });

  it("forgets what was ahead after a new jump", () => {
    const back = stepThroughPlaces(jump(FIRST, "hosts", "web1"), -1);
    const other = jump(back, "groups", "db");
    expect(other.places.future).toEqual([]);
    expect(locate(stepThroughPlaces(other, -1))).toBe("locks/a");
  });

  it("restores the filter and the pane, and shows a pane that was hidden", () => {
    const start = createInitialState();
    const filtered: ConsoleState = {
      ...start,
      focus: "explorer",
      tabs: { ...start.tabs, locks: { ...start.tabs.locks, filter: "web" } },
    };
    const away = jump(filtered, "hosts", "web1");
    const hidden = { ...away, explorer: { ...away.explorer, isOpen: false } };
    const back = stepThroughPlaces(hidden, -1);
    expect([back.tabs.locks.filter, back.focus, back.explorer.isOpen]).toEqual(["web", "explorer", true]);
  });

  it("needs one key for a jump that led to the same row", () => {
    const state = jump(jump(jump(FIRST, "groups", "db"), "groups", "db"), "hosts", "web1");
    expect(locate(stepThroughPlaces(stepThroughPlaces(state, -1), -1))).toBe("locks/a");
  });

  it("keeps a limited number of places", () => {
    let state = FIRST;
    for (let at = 0; at < 500; at += 1) state = jump(state, "locks", `lock${at}`);
    expect(state.places.past.length).toBe(50);
    expect(locate(stepThroughPlaces(state, -1))).toBe("locks/lock498");
  });
});
