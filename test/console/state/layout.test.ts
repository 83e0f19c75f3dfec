// Covers src/console/state/layout.ts
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ConsoleState, createInitialState, PANES } from "../../../src/console/state/console-state.ts";
import { computeLayout, listPanes, MIN_SCREEN } from "../../../src/console/state/layout.ts";

const size = fc.record({ width: fc.integer({ min: 1, max: 320 }), height: fc.integer({ min: 1, max: 120 }) });
const state = fc.record({
  focus: fc.constantFrom(...PANES),
  zoomed: fc.option(fc.constantFrom(...PANES), { nil: undefined }),
  hasExplorer: fc.boolean(),
  hasPanel: fc.boolean(),
});

function arranged({
  focus,
  zoomed,
  hasExplorer,
  hasPanel,
}: {
  focus: ConsoleState["focus"];
  zoomed: ConsoleState["zoomed"];
  hasExplorer: boolean;
  hasPanel: boolean;
}): ConsoleState {
  const start = createInitialState();
  const [explorer, panel] = [
    { ...start.explorer, isOpen: hasExplorer },
    { ...start.panel, isOpen: hasPanel },
  ];
  return { ...start, focus, zoomed: zoomed === undefined ? undefined : focus, explorer, panel };
}

describe("the screen", () => {
  it("is divided without a rest, and nothing sticks out, at any size", () => {
    fc.assert(
      fc.property(size, state, (screen, wish) => {
        const layout = computeLayout(screen, arranged(wish));
        if (screen.width < MIN_SCREEN.width || screen.height < MIN_SCREEN.height) {
          expect(layout).toBeUndefined();
          return;
        }
        const { explorer, table, detail, panel, isBeside } = layout ?? {};
        for (const part of [explorer, table, detail, panel]) {
          expect(part === undefined || (part.width > 0 && part.width <= screen.width)).toBe(true);
          expect(part === undefined || (part.height > 0 && part.height <= screen.height - 3)).toBe(true);
        }
        const beside = isBeside && table && detail;
        const main = beside
          ? table.height
          : (table?.height ?? 0) + (detail?.height ?? 0) + (table && detail ? 1 : 0);
        const upper = Math.max(explorer?.height ?? 0, main);
        const below = panel === undefined ? 0 : panel.height + (upper > 0 ? 1 : 0);
        expect(upper + below).toBeLessThanOrEqual(screen.height - 3);
        const width = beside ? table.width + 1 + detail.width : (table?.width ?? detail?.width ?? 0);
        expect((explorer?.width ?? 0) + (explorer && width > 0 ? 1 : 0) + width).toBeLessThanOrEqual(
          screen.width,
        );
      }),
    );
  });

  it("has what has the keyboard, wherever Tab may go", () => {
    fc.assert(
      fc.property(size, state, (screen, wish) => {
        const own = arranged({ ...wish, zoomed: undefined });
        const layout = computeLayout(screen, own);
        if (layout === undefined) return;
        for (const pane of listPanes(layout)) {
          const open = { explorer: { ...own.explorer, isOpen: true }, panel: { ...own.panel, isOpen: true } };
          expect(computeLayout(screen, { ...own, ...open, focus: pane })?.[pane], pane).toBeDefined();
        }
      }),
    );
  });
});
