import { focusOn, openTab } from "../navigation/focus.ts";
import { moveToRow, scrollPane } from "../navigation/moves.ts";
import { listPanelTitles } from "../panes/models/panel-model.ts";
import { TABLE_GUTTER } from "../panes/models/table-model.ts";
import { findTabAt } from "../panes/models/tabs-model.ts";
import type {
  ClockAccess,
  ContextAccess,
  CursorAccess,
  DialogPorts,
  LayoutAccess,
  LogAccess,
  SelectionAccess,
  StateAccess,
} from "../parts/parts.ts";
import { computeTitleHeight } from "../parts/table-notes.ts";
import type { Pane } from "../state/console-state.ts";
import { computeMainWidth, type Layout } from "../state/layout.ts";
import type { MouseEvent } from "../terminal/input/event.ts";
import { openSelected } from "./open.ts";
import { sortByColumn } from "./sorting.ts";

type MouseParts = ContextAccess & ClockAccess & CursorAccess & DialogPorts & LogAccess & SelectionAccess;

/** A position on the screen: a pane and a line in it. */
interface ScreenPosition {
  pane: Pane | "tabs" | "panelTitle";
  line: number;
  column: number;
}

/** Selects the row that is clicked. A click on the selected row opens it. */
export function handleClick(app: MouseParts, event: MouseEvent): void {
  if (event.action !== "press" || event.button !== "left") return;
  const position = findScreenPosition(app, event);
  if (position === undefined) return;
  if (position.pane === "tabs") return handleTabClick(app, position.column);
  if (position.pane === "panelTitle") return handlePanelClick(app, position.column);
  const { pane } = position;
  const head = pane === "table" ? findHeadColumn(app, position) : undefined;
  if (head !== undefined) {
    focusOn(app, pane);
    return sortByColumn(app, head);
  }
  const index = findRowIndex(app, pane, position.line);
  const wasOn = app.state.focus === pane && index === getCursorIndex(app, pane);
  focusOn(app, pane);
  if (index === undefined) return;
  moveToRow(app, pane, index);
  if (wasOn || pane === "explorer") openSelected(app);
}

export function handleWheel(app: MouseParts, event: MouseEvent): void {
  const position = findScreenPosition(app, event);
  if (position === undefined || position.pane === "tabs" || position.pane === "panelTitle") return;
  scrollPane(app, position.pane, event.action === "wheel-down" ? 3 : -3);
}

function findScreenPosition(app: LayoutAccess, { column, row }: MouseEvent): ScreenPosition | undefined {
  const layout = app.getLayout();
  if (layout === undefined || row === 0) return undefined;
  const upper = computeUpperHeight(layout);
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
    return column - left <= table.width
      ? { pane: "table", line, column: column - left }
      : { pane: "detail", line, column };
  if (table !== undefined && line < table.height) return { pane: "table", line, column: column - left };
  return detail === undefined
    ? undefined
    : { pane: "detail", line: line - (table?.height ?? -1) - 1, column };
}

/** Returns the number of lines between the tabs and the panel's title. */
function computeUpperHeight({ explorer, table, detail, isBeside }: Layout): number {
  const below = isBeside || detail === undefined ? 0 : detail.height + (table === undefined ? 0 : 1);
  return explorer?.height ?? (table?.height ?? 0) + below;
}

/** Returns the column whose title is at a position of the table: the titles are directly above the rows. */
function findHeadColumn(app: MouseParts, { line, column }: ScreenPosition): string | undefined {
  if (app.table.length === 0 || line !== computeTitleHeight(app) - 1) return undefined;
  return app.table.findColumnAt(column - TABLE_GUTTER);
}

/** Returns the index of the row on a line of a pane. */
function findRowIndex(app: MouseParts, pane: Pane, line: number): number | undefined {
  const { state } = app;
  switch (pane) {
    case "explorer":
      return line < 1 ? undefined : state.explorer.cursor.top + line - 1;
    case "table": {
      const titles = computeTitleHeight(app);
      return line < titles ? undefined : state.tabs[state.tab].cursor.top + line - titles;
    }
    case "panel": {
      const titles = app.getPanelTable() === undefined ? 0 : 1;
      return line < titles ? undefined : state.panel.cursor.top + line - titles;
    }
    default:
      return undefined;
  }
}

function getCursorIndex({ state }: StateAccess, pane: Pane): number | undefined {
  if (pane === "table") return state.tabs[state.tab].cursor.index;
  return pane === "panel" ? state.panel.cursor.index : undefined;
}

function handleTabClick(app: MouseParts, column: number): void {
  const layout = app.getLayout();
  const tab = layout && findTabAt(app, computeMainWidth(layout), column);
  if (tab !== undefined) app.update((state) => openTab(state, tab));
}

function handlePanelClick(app: MouseParts, column: number): void {
  let start = 2;
  for (const { id, text } of listPanelTitles(app)) {
    if (column >= start && column < start + text.length)
      app.update((state) => ({ ...state, focus: "panel", panel: { ...state.panel, id, top: 0 } }));
    start += text.length + 2;
  }
}
