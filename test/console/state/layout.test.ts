import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLocksState } from "../../../fixtures/console/stub-console.ts";
import {
  type ConsoleState,
  PANES,
  type Pane,
  swapTables,
  toggleSplit,
} from "../../../src/console/state/console-state.ts";
import {
  computeLayout,
  type LayoutWishes,
  listPanes,
  MIN_SCREEN,
} from "../../../src/console/state/layout.ts";

const size = fc.record({ width: fc.integer({ min: 1, max: 320 }), height: fc.integer({ min: 1, max: 120 }) });
const state = fc.record({
  focus: fc.constantFrom(...PANES),
  zoomed: fc.option(fc.constantFrom(...PANES), { nil: undefined }),
  hasExplorer: fc.boolean(),
  hasPanel: fc.boolean(),
  hasSplit: fc.boolean(),
});

function arranged({
  focus,
  zoomed,
  hasExplorer,
  hasPanel,
  hasSplit,
}: {
  focus: ConsoleState["focus"];
  zoomed: ConsoleState["zoomed"];
  hasExplorer: boolean;
  hasPanel: boolean;
  hasSplit: boolean;
}): ConsoleState {
  const start = hasSplit ? toggleSplit(createLocksState()) : createLocksState();
  const [explorer, panel] = [
    { ...start.explorer, isOpen: hasExplorer },
    { ...start.panel, isOpen: hasPanel },
  ];
  return { ...start, focus, zoomed: zoomed === undefined ? undefined : focus, explorer, panel };
}

/** As Tab does: of the panes that can be closed, it opens the one that it goes to. */
function focusOn(own: ConsoleState, pane: Pane): ConsoleState {
  const isClosable = pane === "explorer" || pane === "panel";
  return { ...own, focus: pane, ...(isClosable && { [pane]: { ...own[pane], isOpen: true } }) };
}

const sizes = fc.record({
  tableWidth: fc.option(fc.integer({ min: 1, max: 400 }), { nil: undefined }),
  tableLines: fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: undefined }),
  panelLines: fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: undefined }),
});

describe("the screen", () => {
  it("is divided without a rest, and nothing sticks out, at any size", () => {
    fc.assert(
      fc.property(size, state, sizes, (screen, chosen, wanted) => {
        const layout = computeLayout(screen, arranged(chosen), wanted);
        if (screen.width < MIN_SCREEN.width || screen.height < MIN_SCREEN.height) {
          expect(layout).toBeUndefined();
          return;
        }
        const { rail, explorer, table, beside: other, detail, panel, isBeside, isStacked } = layout ?? {};
        for (const part of [rail, explorer, table, other, detail, panel]) {
          expect(part === undefined || (part.width > 0 && part.width <= screen.width)).toBe(true);
          expect(part === undefined || (part.height > 0 && part.height <= screen.height - 2)).toBe(true);
        }
        const beside = isBeside && table && detail;
        const lower = isStacked && other ? other.height + 1 : 0;
        const main = beside
          ? table.height
          : (table?.height ?? 0) + lower + (detail?.height ?? 0) + (table && detail ? 1 : 0);
        const upper = Math.max(explorer?.height ?? 0, main);
        const below = panel === undefined ? 0 : panel.height + (upper > 0 ? 1 : 0);
        expect(upper + below).toBeLessThanOrEqual(screen.height - 3);
        const right = other && !isStacked ? other.width + 1 : 0;
        const width = beside ? table.width + 1 + detail.width : (table?.width ?? detail?.width ?? 0);
        const left = (rail?.width ?? 0) + (explorer?.width ?? 0) + (explorer && width > 0 ? 1 : 0);
        expect(left + width + (table ? right : 0)).toBeLessThanOrEqual(screen.width);
      }),
    );
  });

  it("has what has the keyboard, wherever Tab may go", () => {
    fc.assert(
      fc.property(size, state, (screen, chosen) => {
        const own = arranged({ ...chosen, zoomed: undefined });
        const layout = computeLayout(screen, own);
        if (layout === undefined) return;
        for (const pane of listPanes(layout)) {
          const next = pane === "beside" ? swapTables(own) : focusOn(own, pane);
          expect(computeLayout(screen, next)?.[pane], pane).toBeDefined();
        }
      }),
    );
  });
});

describe("a second table", () => {
  const start = toggleSplit(createLocksState());
  const divide = (width: number, height: number, own: ConsoleState = start) =>
    computeLayout({ width, height }, own) ?? {};

  it("is beside the first one, below it where the screen is narrow, and not there where there is no room", () => {
    expect(divide(160, 50)).toMatchObject({
      table: { width: 63, height: 27 },
      beside: { width: 64, height: 27 },
      detail: { width: 128, height: 10 },
    });
    expect(divide(200, 55)).toMatchObject({ table: { width: 83 }, beside: { width: 84 }, isBeside: false });
    const stacked = { table: { width: 80, height: 10 }, beside: { width: 80, height: 10 }, isStacked: true };
    expect(divide(80, 24)).toMatchObject(stacked);
    expect(divide(80, 17)).toMatchObject({ table: { width: 80, height: 14 } });
    expect(divide(80, 17)).not.toHaveProperty("beside");
  });

  it("is reached by Tab in the order of the screen, and has the size of its place", () => {
    const own = { ...start, sizes: { split: 50 } };
    expect(divide(160, 50, own)).toMatchObject({ table: { width: 77 }, beside: { width: 50 } });
    expect(divide(160, 50, swapTables(own))).toMatchObject({ table: { width: 50 }, beside: { width: 77 } });
    const layout = computeLayout({ width: 160, height: 50 }, own);
    if (layout === undefined) throw new Error("the screen is large enough");
    expect(listPanes(layout, false)).toEqual(["explorer", "beside", "table", "detail", "panel"]);
    expect(listPanes(layout, true)).toEqual(["explorer", "table", "beside", "detail", "panel"]);
  });
});

describe("the room", () => {
  const start = createLocksState();
  const divide = (width: number, height: number, wanted: LayoutWishes = {}) =>
    computeLayout({ width, height }, start, wanted);

  it("of the explorer is there on every screen that is wide enough", () => {
    expect([99, 100, 160, 300].map((width) => divide(width, 50)?.explorer?.width)).toEqual([
      undefined,
      24,
      24,
      24,
    ]);
  });

  it("of the explorer is what its lines need, at most a quarter of the screen", () => {
    const widths = (width: number) =>
      [0, 29, 36, 90].map((explorerWidth) => divide(width, 50, { explorerWidth })?.explorer?.width);
    expect([100, 120, 160, 300].map(widths)).toEqual([
      [24, 25, 25, 25],
      [24, 29, 30, 30],
      [24, 29, 36, 40],
      [24, 29, 36, 40],
    ]);
  });

  it("of the panel is no more than its lines, and goes to the table", () => {
    const heights = (panelLines: number) => {
      const { panel, table, detail } = divide(160, 50, { panelLines }) ?? {};
      return [panel?.height, (table?.height ?? 0) + (detail?.height ?? 0)];
    };
    expect([0, 1, 3, 8, 500].map(heights)).toEqual([
      [1, 44],
      [1, 44],
      [3, 42],
      [8, 37],
      [8, 37],
    ]);
  });

  it("of a table beside the detail is what its columns need, within limits; the detail gets the rest", () => {
    const widths = (tableWidth: number | undefined) => {
      const { table, detail } = divide(200, 55, { tableWidth }) ?? {};
      return [table?.width, detail?.width];
    };
    expect([undefined, 20, 90, 500].map(widths)).toEqual([
      [96, 71],
      [66, 101],
      [90, 77],
      [106, 61],
    ]);
  });

  it("that a table with few rows leaves is the detail's, in steps", () => {
    const heights = (tableLines: number | undefined) => {
      const { table, detail } = divide(160, 50, { tableLines, panelLines: 8 }) ?? {};
      return [table?.height, detail?.height];
    };
    expect([undefined, 500, 9, 11, 12, 2].map(heights)).toEqual([
      [27, 10],
      [27, 10],
      [12, 25],
      [12, 25],
      [16, 21],
      [4, 33],
    ]);
  });

  it("of the table is most of a small screen", () => {
    const { table, detail, panel } = divide(80, 24) ?? {};
    expect([table, detail, panel]).toEqual([{ width: 80, height: 15 }, { width: 80, height: 5 }, undefined]);
  });
});
