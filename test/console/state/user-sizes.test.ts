import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createInitialState,
  PANES,
  restoreUserSizes,
  setUserSize,
} from "../../../src/console/state/console-state.ts";
import { computeLayout, type Layout } from "../../../src/console/state/layout.ts";
import { restoreState, toConsolePreferences } from "../../../src/console/state/preferences.ts";

const size = fc.integer({ min: 1, max: 9_999 });
const sizes = fc.record(
  { explorer: size, detailHeight: size, detailWidth: size, panel: size },
  { requiredKeys: [] },
);

describe("sizes that the user has chosen", () => {
  it("leave every pane on the screen at any size of it", () => {
    const screens = fc.record({
      width: fc.integer({ min: 40, max: 320 }),
      height: fc.integer({ min: 10, max: 120 }),
    });
    fc.assert(
      fc.property(screens, sizes, fc.constantFrom(...PANES), (screen, chosen, focus) => {
        const start = { ...createInitialState(), focus };
        const layout = computeLayout(screen, { ...start, sizes: chosen });
        const usual = computeLayout(screen, start);
        const listParts = ({ explorer, table, detail, panel }: Layout) =>
          Object.entries({ explorer, table, detail, panel }).flatMap(([pane, own]) => (own ? [pane] : []));
        if (layout === undefined || usual === undefined) throw new Error("no layout");
        expect(listParts(layout)).toEqual(listParts(usual));
        for (const pane of PANES)
          expect(Math.min(layout[pane]?.width ?? 1, layout[pane]?.height ?? 1)).toBeGreaterThan(0);
        expect(layout.table?.height ?? 3).toBeGreaterThanOrEqual(Math.min(3, usual.table?.height ?? 3));
      }),
    );
  });

  it("are kept in the preferences, and stored ones that are no sizes are ignored", () => {
    const state = setUserSize(createInitialState(), "panel", 9);
    const kept: unknown = JSON.parse(JSON.stringify(toConsolePreferences(state)));
    expect(restoreState(kept).sizes).toEqual({ panel: 9 });
    for (const wrong of [
      undefined,
      null,
      7,
      "x",
      [],
      { panel: "9" },
      { panel: -1 },
      { other: 4 },
      { panel: 1.5 },
    ])
      expect(restoreUserSizes(wrong)).toEqual({});
  });

  it("return to the computed size", () => {
    const state = setUserSize(createInitialState(), "explorer", 50);
    expect(setUserSize(state, "explorer", undefined).sizes).toEqual({});
  });
});
