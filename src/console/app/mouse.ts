import { type Layout, mainWidth } from "../frame/layout.ts";
import { tabAt } from "../frame/tabs.ts";
import type { MouseEvent } from "../input/event.ts";
import { panelTitles } from "../panel/pane.ts";
import type { Pane } from "../state/state.ts";
import { titleHeight } from "../table/pane.ts";
import type { App } from "./app.ts";
import { focusOn, openTab } from "./focus.ts";
import { moveTo, scroll } from "./moves.ts";
import { open } from "./open.ts";

/** A place on the screen: which pane, and which of its lines. */
interface Place {
  pane: Pane | "tabs" | "panelTitle";
  line: number;
  column: number;
}

/** Selects what is clicked at; a click on what is selected opens it. */
export function click(app: App, event: MouseEvent): void {
  if (event.action !== "press" || event.button !== "left") return;
  const place = placeOf(app, event);
  if (place === undefined) return;
  if (place.pane === "tabs") return clickTab(app, place.column);
  if (place.pane === "panelTitle") return clickPanel(app, place.column);
  const { pane } = place;
  const index = rowAt(app, pane, place.line);
  const wasOn = app.state.focus === pane && index === cursorOf(app, pane);
  focusOn(app, pane);
  if (index === undefined) return;
  moveTo(app, pane, index);
  if (wasOn || pane === "explorer") open(app);
}

export function wheel(app: App, event: MouseEvent): void {
  const place = placeOf(app, event);
  if (place === undefined || place.pane === "tabs" || place.pane === "panelTitle") return;
  scroll(app, place.pane, event.action === "wheel-down" ? 3 : -3);
}

function placeOf(app: App, { column, row }: MouseEvent): Place | undefined {
  const layout = app.layout();
  if (layout === undefined || row === 0) return undefined;
  const upper = upperHeight(layout);
  const line = row - 2;
  const { explorer, panel, table, detail } = layout;
  if (panel !== undefined && row > upper + 1) {
    const at = row - upper - (upper > 0 ? 3 : 2);
    return at === -1 ? { pane: "panelTitle", line: 0, column } : { pane: "panel", line: at, column };
  }
  if (explorer !== undefined && column < explorer.width) return { pane: "explorer", line: row - 1, column };
  const left = explorer === undefined ? 0 : explorer.width + 1;
  if (row === 1) return { pane: "tabs", line: 0, column: column - left };
  if (layout.isBeside && table !== undefined && detail !== undefined)
    return column - left <= table.width ? { pane: "table", line, column } : { pane: "detail", line, column };
  if (table !== undefined && line < table.height) return { pane: "table", line, column };
  return detail === undefined
    ? undefined
    : { pane: "detail", line: line - (table?.height ?? -1) - 1, column };
}

/** Lines between the tabs and the panel's title. */
function upperHeight({ explorer, table, detail, isBeside }: Layout): number {
  const below = isBeside || detail === undefined ? 0 : detail.height + (table === undefined ? 0 : 1);
  return explorer?.height ?? (table?.height ?? 0) + below;
}

/** Which row stands on a line of a pane. */
function rowAt(app: App, pane: Pane, line: number): number | undefined {
  const { state } = app;
  switch (pane) {
    case "explorer":
      return line < 1 ? undefined : state.explorer.cursor.top + line - 1;
    case "table": {
      const titles = titleHeight(app);
      return line < titles ? undefined : state.tabs[state.tab].cursor.top + line - titles;
    }
    case "panel": {
      const titles = app.panelTable() === undefined ? 0 : 1;
      return line < titles ? undefined : state.panel.cursor.top + line - titles;
    }
    default:
      return undefined;
  }
}

function cursorOf({ state }: App, pane: Pane): number | undefined {
  if (pane === "table") return state.tabs[state.tab].cursor.index;
  return pane === "panel" ? state.panel.cursor.index : undefined;
}

function clickTab(app: App, column: number): void {
  const layout = app.layout();
  const tab = layout && tabAt(app, mainWidth(layout), column);
  if (tab !== undefined) app.update((state) => openTab(state, tab));
}

function clickPanel(app: App, column: number): void {
  let start = 2;
  for (const { id, text } of panelTitles(app)) {
    if (column >= start && column < start + text.length)
      app.update((state) => ({ ...state, focus: "panel", panel: { ...state.panel, id, top: 0 } }));
    start += text.length + 2;
  }
}
