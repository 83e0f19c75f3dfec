import type { App } from "../app/app.ts";
import { tabLabel } from "../explorer/tree.ts";
import { TABS, type TabId } from "../state/state.ts";
import { widthOf } from "../theme/theme.ts";

/** The tabs with their counts; where there is no room for all, those around the active one. */
export function tabsLine(app: App, width: number): string {
  return fitting(app, width).line;
}

/** The tab that stands on a column of that line, from 0. */
export function tabAt(app: App, width: number, column: number): TabId | undefined {
  const { from, to, start } = fitting(app, width);
  let left = widthOf(start);
  for (const tab of TABS.slice(from, to)) {
    const own = widthOf(painted(app, tab));
    if (column >= left && column < left + own) return tab;
    left += own + SEPARATOR;
  }
  return undefined;
}

/** Columns between two tabs. */
const SEPARATOR = 3;

function fitting(app: App, width: number): { from: number; to: number; start: string; line: string } {
  const { theme, state } = app;
  const texts = TABS.map((tab) => painted(app, tab));
  const at = TABS.indexOf(state.tab);
  const separator = theme.style("border", ` ${theme.signs.vertical} `);
  const between = (from: number, to: number) => {
    const start = from > 0 ? `${theme.signs.ellipsis} ` : " ";
    const end = to < texts.length ? ` ${theme.signs.ellipsis}` : "";
    return { from, to, start, line: start + texts.slice(from, to).join(separator) + end };
  };
  let shown = between(0, texts.length);
  while (widthOf(shown.line) > width && shown.to - shown.from > 1) {
    const { from, to } = shown;
    shown = to - 1 > at ? between(from, to - 1) : between(from + 1, to);
  }
  return shown;
}

function painted(app: App, tab: TabId): string {
  const { theme, state } = app;
  const count = app.counts()[tab];
  const text = `${tabLabel(tab)}${count === undefined ? "" : ` ${count}`}`;
  if (tab === state.tab) return theme.style("tabActive", text);
  return theme.style(tab === "problems" && (count ?? 0) > 0 ? "problem" : "tab", text);
}
