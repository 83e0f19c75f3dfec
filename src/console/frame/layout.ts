import type { Pane, State } from "../state/state.ts";

/** Columns and rows of a part of the screen. */
export interface Size {
  width: number;
  height: number;
}

/** How the screen is divided. A part that is not there has no room. */
export interface Layout {
  screen: Size;
  explorer?: Size;
  /** With its line of titles. */
  table?: Size;
  detail?: Size;
  /** The detail stands right of the table, not below it. */
  isBeside: boolean;
  panel?: Size;
}

/** The least there must be for anything to be shown. */
export const LEAST: Size = { width: 40, height: 10 };
/** From this width on the explorer stands beside the others; below, it comes in their place while it has the keyboard. */
const WIDE = 100;
/** From this width on the detail stands beside the table. */
const VERY_WIDE = 200;
const EXPLORER = { least: 24, most: 36, share: 0.2 };
/** Rows of the panel and the detail: a share of what there is, within limits. */
const PANEL = { least: 4, most: 12, share: 0.18 };
const DETAIL = { least: 5, most: 24, share: 0.34 };
/** Rows below which there is no panel unless it has the keyboard, and no detail. */
const TALL = { panel: 28, detail: 16 };
/** Lines that are always there: header, tabs, status. */
const CHROME = 3;

/** Divides the screen; undefined where it is too small for anything. */
export function layoutOf(screen: Size, state: State): Layout | undefined {
  if (screen.width < LEAST.width || screen.height < LEAST.height) return undefined;
  const body = screen.height - CHROME;
  if (state.zoomed !== undefined) return zoomed(screen, state.zoomed, body);
  const panel = panelHeight(screen, state, body);
  const upper = body - (panel > 0 ? panel + 1 : 0);
  const explorer = explorerWidth(screen, state);
  const width = screen.width - (explorer > 0 ? explorer + 1 : 0);
  return {
    ...{ screen, isBeside: screen.width >= VERY_WIDE },
    ...(explorer > 0 && { explorer: { width: Math.min(explorer, screen.width), height: upper } }),
    ...(width > 0 && mainParts({ width, height: upper }, screen)),
    ...(panel > 0 && { panel: { width: screen.width, height: panel } }),
  };
}

function zoomed(screen: Size, pane: Pane, height: number): Layout {
  return { screen, isBeside: false, [pane]: { width: screen.width, height } };
}

function panelHeight(screen: Size, { panel, focus }: State, body: number): number {
  if (!panel.isOpen && focus !== "panel") return 0;
  if (screen.height < TALL.panel && focus !== "panel") return 0;
  return shareOf(body, PANEL);
}

/** On a narrow screen the explorer has all of it, or nothing. */
function explorerWidth(screen: Size, { explorer, focus }: State): number {
  if (screen.width < WIDE) return focus === "explorer" ? screen.width : 0;
  return explorer.isOpen ? shareOf(screen.width, EXPLORER) : 0;
}

function mainParts(room: Size, screen: Size): Pick<Layout, "table" | "detail"> {
  if (screen.height < TALL.detail) return { table: room };
  if (screen.width >= VERY_WIDE) {
    const left = Math.floor((room.width - 1) * 0.58);
    return {
      table: { width: left, height: room.height },
      detail: { width: room.width - 1 - left, height: room.height },
    };
  }
  const detail = shareOf(room.height, DETAIL);
  return {
    table: { width: room.width, height: room.height - detail - 1 },
    detail: { width: room.width, height: detail },
  };
}

function shareOf(of: number, { least, most, share }: { least: number; most: number; share: number }): number {
  return Math.max(least, Math.min(most, Math.round(of * share)));
}

/** Panes that are on the screen, in the order of Tab. A narrow screen shows the explorer when it gets the keyboard. */
export function panesOf({ table, detail, panel, explorer, screen }: Layout): Pane[] {
  const hasExplorer = explorer !== undefined || screen.width < WIDE;
  return [
    ...(hasExplorer ? (["explorer"] as const) : []),
    ...(table || screen.width < WIDE ? (["table"] as const) : []),
    ...(detail ? (["detail"] as const) : []),
    ...(panel ? (["panel"] as const) : []),
  ];
}

/** Columns right of the explorer. */
export function mainWidth({ screen, explorer }: Layout): number {
  return explorer === undefined || explorer.width === screen.width
    ? screen.width
    : screen.width - explorer.width - 1;
}
