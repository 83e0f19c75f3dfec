import { detailText } from "../detail/pane.ts";
import { scrollBy } from "../overlay/scroll.ts";
import { moved, type Rows, scrolled } from "../state/cursor.ts";
import type { Cursor, Pane, State } from "../state/state.ts";
import { tableHeight } from "../table/pane.ts";
import type { App } from "./app.ts";
import { panelRows } from "./panel-rows.ts";
import { panelHeight } from "./settle.ts";

/** A list with a cursor: where it stands, and how to put it elsewhere. */
interface List {
  rows: Rows;
  cursor: Cursor;
  height: number;
  with(state: State, cursor: Cursor): State;
}

/** The list of a pane; undefined for one that is only read. */
export function listOf(app: App, pane: Pane): List | undefined {
  const layout = app.layout();
  const { state } = app;
  switch (pane) {
    case "table":
      return {
        ...{ rows: app.table, cursor: state.tabs[state.tab].cursor },
        height: tableHeight(app, layout?.table?.height ?? 1),
        with: (now, cursor) => ({
          ...now,
          detail: { top: 0 },
          tabs: { ...now.tabs, [now.tab]: { ...now.tabs[now.tab], cursor } },
        }),
      };
    case "explorer":
      return {
        ...{ rows: app.tree, cursor: state.explorer.cursor, height: (layout?.explorer?.height ?? 2) - 1 },
        with: (now, cursor) => ({ ...now, explorer: { ...now.explorer, cursor } }),
      };
    case "panel": {
      const rows = panelRows(app);
      const height = panelHeight(app, layout?.panel?.height ?? 1);
      if (rows.length === 0) return undefined;
      return {
        ...{ rows, cursor: state.panel.cursor, height },
        with: (now, cursor) => ({ ...now, panel: { ...now.panel, cursor } }),
      };
    }
    default:
      return undefined;
  }
}

/** Steps of a cursor by action. */
const STEPS: Readonly<Record<string, (list: List) => number>> = {
  up: ({ cursor }) => cursor.index - 1,
  down: ({ cursor }) => cursor.index + 1,
  top: () => 0,
  bottom: ({ rows }) => rows.length - 1,
  pageUp: ({ cursor, height }) => cursor.index - Math.max(1, height - 1),
  pageDown: ({ cursor, height }) => cursor.index + Math.max(1, height - 1),
};
/** The same for what is only read, as the keys of a text. */
const SCROLLS: Readonly<Record<string, string>> = {
  ...{ up: "up", down: "down", top: "home", bottom: "end", pageUp: "pageup", pageDown: "pagedown" },
};

/** Moves in the pane that has the keyboard. @param id  up, down, top, bottom, pageUp or pageDown */
export function move(app: App, id: string): void {
  const { focus } = app.state;
  const list = listOf(app, focus);
  if (list === undefined) return scrollText(app, focus, SCROLLS[id] ?? "");
  const to = STEPS[id]?.(list) ?? list.cursor.index;
  // A range of marks follows the cursor when the frame is settled: nothing here depends on it.
  app.update((state) => list.with(state, moved(list.cursor, list.rows, to, list.height)));
}

/** Puts the cursor of a list on the row at an index, if there is one. */
export function moveTo(app: App, pane: Pane, index: number): void {
  const list = listOf(app, pane);
  if (list === undefined || index >= list.rows.length) return;
  app.update((state) => list.with(state, moved(list.cursor, list.rows, index, list.height)));
}

/** Scrolls a pane without moving its cursor more than it must. */
export function scroll(app: App, pane: Pane, by: 3 | -3): void {
  const list = listOf(app, pane);
  if (list === undefined) return scrollText(app, pane, by > 0 ? "wheel-down" : "wheel-up");
  app.update((state) => list.with(state, scrolled(list.cursor, list.rows, by, list.height)));
}

function scrollText(app: App, pane: Pane, by: string): void {
  const layout = app.layout();
  if (pane === "detail" && layout?.detail !== undefined) {
    const { width, height } = layout.detail;
    const { length } = detailText(app, width - 2);
    const top = scrollBy(by, app.state.detail.top, length, height);
    app.update((state) => ({ ...state, detail: { top } }));
  }
  if (pane === "panel" && layout?.panel !== undefined) {
    const { length } = app.state.panel.id === "log" ? app.log.lines : app.events.list;
    const top = scrollBy(by, app.state.panel.top, length, layout.panel.height);
    app.update((state) => ({ ...state, panel: { ...state.panel, top } }));
  }
}
