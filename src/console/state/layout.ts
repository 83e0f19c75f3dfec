import type { ConsoleState, Pane } from "./console-state.ts";
import { chooseSize } from "./user-sizes.ts";

/** Columns and rows of a part of the screen. */
export interface Size {
  width: number;
  height: number;
}

/** How the screen is divided. Hidden parts are absent. */
export interface Layout {
  screen: Size;
  explorer?: Size;
  /** Includes its title line. */
  table?: Size;
  detail?: Size;
  /** The detail is to the right of the table, not below it. */
  isBeside: boolean;
  panel?: Size;
}

/** Minimum screen size. */
export const MIN_SCREEN: Size = { width: 40, height: 10 };
/**
 * Minimum width for an explorer beside the other panes. On a narrower screen it replaces them while it has the
 * keyboard.
 */
const WIDE = 100;
/** Minimum width for a detail beside the table. */
const VERY_WIDE = 200;
const EXPLORER = { least: 24, most: 36, share: 0.2 };
/** Heights of the panel and the detail: a share of the available rows, within limits. */
const PANEL = { least: 4, most: 12, share: 0.18 };
const DETAIL = { least: 5, most: 24, share: 0.34 };
/** Minimum screen heights for a panel without the keyboard, and for a detail. */
const TALL = { panel: 28, detail: 16 };
/** Lines that are always present: header, tabs, status. */
const CHROME = 3;

/** Divides the screen. Returns undefined if it is too small. */
export function computeLayout(screen: Size, state: ConsoleState): Layout | undefined {
  if (screen.width < MIN_SCREEN.width || screen.height < MIN_SCREEN.height) return undefined;
  const body = screen.height - CHROME;
  if (state.zoomed !== undefined) return computeZoomedLayout(screen, state.zoomed, body);
  const panel = computePanelHeight(screen, state, body);
  const upper = body - (panel > 0 ? panel + 1 : 0);
  const explorer = computeExplorerWidth(screen, state);
  const width = screen.width - (explorer > 0 ? explorer + 1 : 0);
  return {
    ...{ screen, isBeside: screen.width >= VERY_WIDE },
    ...(explorer > 0 && { explorer: { width: Math.min(explorer, screen.width), height: upper } }),
    ...(width > 0 && computeMainSizes({ width, height: upper }, screen, state)),
    ...(panel > 0 && { panel: { width: screen.width, height: panel } }),
  };
}

function computeZoomedLayout(screen: Size, pane: Pane, height: number): Layout {
  return { screen, isBeside: false, [pane]: { width: screen.width, height } };
}

function computePanelHeight(screen: Size, state: ConsoleState, body: number): number {
  const { panel, focus } = state;
  if (!panel.isOpen && focus !== "panel") return 0;
  if (screen.height < TALL.panel && focus !== "panel") return 0;
  return chooseSize(state, "panel", computeShare(body, PANEL), body);
}

/** Returns the explorer's width. On a narrow screen it has the full width or none. */
function computeExplorerWidth(screen: Size, state: ConsoleState): number {
  const { explorer, focus } = state;
  if (screen.width < WIDE) return focus === "explorer" ? screen.width : 0;
  if (!explorer.isOpen) return 0;
  return chooseSize(state, "explorer", computeShare(screen.width, EXPLORER), screen.width);
}

function computeMainSizes(
  available: Size,
  screen: Size,
  state: ConsoleState,
): Pick<Layout, "table" | "detail"> {
  if (screen.height < TALL.detail) return { table: available };
  if (screen.width >= VERY_WIDE) {
    const computed = available.width - 1 - Math.floor((available.width - 1) * 0.58);
    const left = available.width - 1 - chooseSize(state, "detailWidth", computed, available.width);
    return {
      table: { width: left, height: available.height },
      detail: { width: available.width - 1 - left, height: available.height },
    };
  }
  const computed = computeShare(available.height, DETAIL);
  const detail = chooseSize(state, "detailHeight", computed, available.height);
  return {
    table: { width: available.width, height: available.height - detail - 1 },
    detail: { width: available.width, height: detail },
  };
}

function computeShare(
  of: number,
  { least, most, share }: { least: number; most: number; share: number },
): number {
  return Math.max(least, Math.min(most, Math.round(of * share)));
}

/** Lists the panes that Tab can reach, in order. A narrow screen shows the explorer once it has the keyboard. */
export function listPanes({ table, detail, panel, explorer, screen }: Layout): Pane[] {
  const hasExplorer = explorer !== undefined || screen.width < WIDE;
  return [
    ...(hasExplorer ? (["explorer"] as const) : []),
    ...(table || screen.width < WIDE ? (["table"] as const) : []),
    ...(detail ? (["detail"] as const) : []),
    ...(panel ? (["panel"] as const) : []),
  ];
}

/** Returns the number of columns to the right of the explorer. */
export function computeMainWidth({ screen, explorer }: Layout): number {
  return explorer === undefined || explorer.width === screen.width
    ? screen.width
    : screen.width - explorer.width - 1;
}
