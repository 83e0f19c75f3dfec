import { type ConsoleState, chooseSize, type Pane } from "./console-state.ts";
import { clamp } from "./cursor.ts";

/** Columns and rows of a part of the screen. */
export interface Size {
  width: number;
  height: number;
}

/** The division of the screen. Hidden parts are absent. */
export interface Layout {
  screen: Size;
  explorer?: Size;
  /** At the left edge. */
  rail?: Size;
  /** Columns to the right of the explorer. */
  mainWidth: number;
  /** The active table. Includes its title line, as the one beside it does; above each is its line of tabs. */
  table?: Size;
  beside?: Size;
  /** The second table is below the first one, not at its right. */
  isStacked: boolean;
  detail?: Size;
  /** The detail is to the right of the table, not below it. */
  isBeside: boolean;
  panel?: Size;
}

/** The sizes that the panes need. Unknown values leave the usual shares. */
export interface LayoutWishes {
  /** Width at which no cell of the table is cut, columns. */
  tableWidth?: number | undefined;
  /** Number of lines in the table, titles included. */
  tableLines?: number | undefined;
  /** Width at which no line of the explorer is cut, columns. */
  explorerWidth?: number | undefined;
  panelLines?: number | undefined;
}

export const MIN_SCREEN: Size = { width: 40, height: 10 };
/** Minimum width for an explorer beside the other panes. On a narrower screen it replaces them while it has the focus. */
const MIN_COLUMNS_FOR_EXPLORER = 100;
/** Minimum width for a detail beside the table. */
const VERY_WIDE = 200;
/** Minimum width for a rail, and its own width. */
const MIN_COLUMNS_FOR_RAIL = 120;
const RAIL_COLUMNS = 7;
/** Minimum width for two tables side by side, and minimum height for one below the other. */
const MIN_SPLIT: Size = { width: 81, height: 15 };
/** Width of the explorer: what its lines need, within limits. */
const EXPLORER_COLUMNS = { least: 24, most: 40, share: 0.25 };
/** Shares of a table beside the detail: it takes what its columns need, within limits. */
const TABLE_SHARES = { least: 0.4, usual: 0.58, most: 0.64 };
/** Heights of the panel and the detail: a share of the available rows, within limits. */
const PANEL_ROWS = { least: 4, most: 12, share: 0.18 };
const DETAIL_ROWS = { least: 5, most: 24, share: 0.26 };
/** Minimum screen heights for a panel without the focus, and for a detail. */
const MIN_SCREEN_ROWS = { panel: 28, detail: 16 };
/** Lines that are always present: header, tabs, status. */
const FIXED_ROWS = 3;

/** Divides the screen. Returns undefined if it is too small. */
export function computeLayout(
  screen: Size,
  state: ConsoleState,
  wishes: LayoutWishes = {},
): Layout | undefined {
  if (screen.width < MIN_SCREEN.width || screen.height < MIN_SCREEN.height) return undefined;
  const body = screen.height - FIXED_ROWS;
  const whole = { screen, mainWidth: screen.width, isBeside: false, isStacked: false };
  if (state.zoomed !== undefined) return { ...whole, [state.zoomed]: { width: screen.width, height: body } };
  const panel = computePanelHeight(screen, state, body, wishes);
  const upper = body - (panel > 0 ? panel + 1 : 0);
  const explorer = computeExplorerWidth(screen, state, wishes);
  const rail = screen.width < MIN_COLUMNS_FOR_RAIL ? 0 : RAIL_COLUMNS;
  const width = screen.width - rail - (explorer > 0 ? explorer + 1 : 0);
  return {
    ...whole,
    ...(rail > 0 && { rail: { width: rail, height: upper + 1 } }),
    mainWidth: width > 0 ? width : screen.width,
    isBeside: screen.width >= VERY_WIDE && state.split === undefined,
    ...(explorer > 0 && { explorer: { width: Math.min(explorer, screen.width), height: upper } }),
    ...(width > 0 && computeMainSizes({ width, height: upper }, screen, state, wishes)),
    ...(panel > 0 && { panel: { width: screen.width, height: panel } }),
  };
}

/** Returns the height of the panel: the user's choice, otherwise as many lines as it has, but no more than its share. */
function computePanelHeight(
  screen: Size,
  state: ConsoleState,
  body: number,
  { panelLines = PANEL_ROWS.most }: LayoutWishes,
): number {
  const { panel, focus } = state;
  if (!panel.isOpen && focus !== "panel") return 0;
  if (screen.height < MIN_SCREEN_ROWS.panel && focus !== "panel") return 0;
  const computed = clamp(panelLines, 1, computeShare(body, PANEL_ROWS));
  return chooseSize(state, "panel", computed, body);
}

/** Returns the explorer's width. On a narrow screen it has the full width or none. */
function computeExplorerWidth(
  screen: Size,
  state: ConsoleState,
  { explorerWidth = EXPLORER_COLUMNS.least }: LayoutWishes,
): number {
  const { explorer, focus } = state;
  if (screen.width < MIN_COLUMNS_FOR_EXPLORER) return focus === "explorer" ? screen.width : 0;
  if (!explorer.isOpen) return 0;
  const { least, most, share } = EXPLORER_COLUMNS;
  const room = Math.min(most, Math.floor(screen.width * share));
  return chooseSize(state, "explorer", clamp(explorerWidth, least, room), screen.width);
}

type MainSizes = Partial<Pick<Layout, "table" | "beside" | "detail" | "isStacked">>;

function computeMainSizes(
  available: Size,
  screen: Size,
  state: ConsoleState,
  wishes: LayoutWishes,
): MainSizes {
  if (state.split !== undefined) return computeSplitSizes(available, screen, state, state.split);
  if (screen.height < MIN_SCREEN_ROWS.detail || state.tab === "overview") return { table: available };
  if (screen.width >= VERY_WIDE) {
    const computed = available.width - 1 - computeTableWidth(available.width - 1, wishes);
    const left = available.width - 1 - chooseSize(state, "detailWidth", computed, available.width);
    return {
      table: { width: left, height: available.height },
      detail: { width: available.width - 1 - left, height: available.height - 1 }, // below its title
    };
  }
  const computed = computeDetailHeight(available.height, wishes);
  const detail = chooseSize(state, "detailHeight", computed, available.height);
  return {
    table: { width: available.width, height: available.height - detail - 1 },
    detail: { width: available.width, height: detail },
  };
}

/** Divides the room of the tables: side by side above the detail, or one below the other. If it is too small, only one is shown. */
function computeSplitSizes(
  { width, height }: Size,
  screen: Size,
  state: ConsoleState,
  { isRight }: NonNullable<ConsoleState["split"]>,
): MainSizes {
  if (width >= MIN_SPLIT.width) {
    const hasDetail = screen.height >= MIN_SCREEN_ROWS.detail;
    const detail = hasDetail
      ? chooseSize(state, "detailHeight", computeShare(height, DETAIL_ROWS), height)
      : 0;
    const left = chooseSize(state, "split", Math.ceil((width - 1) / 2), width);
    const upper = height - (hasDetail ? detail + 1 : 0);
    const sizes = [left, width - 1 - left].map((own) => ({ width: own, height: upper }));
    return { ...nameSizes(sizes, isRight), ...(hasDetail && { detail: { width, height: detail } }) };
  }
  if (height < MIN_SPLIT.height) return { table: { width, height } };
  const upper = Math.ceil((height - 1) / 2); // between them is the line of tabs of the lower one
  const sizes = [upper, height - 1 - upper].map((own) => ({ width, height: own }));
  return { ...nameSizes(sizes, isRight), isStacked: true };
}

/** @param isRight  whether the table that is not active is the second one */
function nameSizes([first, second]: readonly Size[], isRight: boolean): MainSizes {
  const [table, beside] = isRight ? [first, second] : [second, first];
  return { ...(table && { table }), ...(beside && { beside }) };
}

/** The table grows and shrinks in steps, so that the detail does not move while a few rows come and go. */
const LINES_STEP = 4;

/** Returns the height of a detail below the table: its share, and the lines that a table with few rows does not need. */
function computeDetailHeight(available: number, { tableLines }: LayoutWishes): number {
  const usual = computeShare(available, DETAIL_ROWS);
  if (tableLines === undefined) return usual;
  return Math.max(usual, available - 1 - LINES_STEP * Math.ceil((tableLines + 1) / LINES_STEP));
}

function computeTableWidth(available: number, { tableWidth }: LayoutWishes): number {
  const [least, usual, most] = [TABLE_SHARES.least, TABLE_SHARES.usual, TABLE_SHARES.most].map((share) =>
    Math.floor(available * share),
  ) as [number, number, number];
  return tableWidth === undefined ? usual : clamp(tableWidth, least, most);
}

function computeShare(
  of: number,
  { least, most, share }: { least: number; most: number; share: number },
): number {
  return clamp(Math.round(of * share), least, most);
}

/**
 * Lists the panes that Tab can reach, in order. A narrow screen shows the explorer once it has the focus.
 * @param isRight  whether the table that is not active is the second one
 */
export function listPanes(
  { table, beside, detail, panel, explorer, screen }: Layout,
  isRight?: boolean,
): (Pane | "beside")[] {
  const hasExplorer = explorer !== undefined || screen.width < MIN_COLUMNS_FOR_EXPLORER;
  return [
    ...(hasExplorer ? (["explorer"] as const) : []),
    ...(beside && !isRight ? (["beside"] as const) : []),
    ...(table || screen.width < MIN_COLUMNS_FOR_EXPLORER ? (["table"] as const) : []),
    ...(beside && isRight ? (["beside"] as const) : []),
    ...(detail ? (["detail"] as const) : []),
    ...(panel ? (["panel"] as const) : []),
  ];
}
