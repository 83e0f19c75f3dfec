import { computeStyledWidth } from "../../base/text.ts";
import type { App } from "../app.ts";
import { getTabLabel } from "../data/explorer/build-tree.ts";
import { TABS, type TabId } from "../state/console-state.ts";

/** Renders the tabs with their counts. If they do not all fit, renders those around the active one. */
export function renderTabs(app: App, width: number): string {
  return fitTabs(app, width).line;
}

/** Returns the tab at a column of that line, from 0. */
export function findTabAt(app: App, width: number, column: number): TabId | undefined {
  const { from, to, start } = fitTabs(app, width);
  let left = computeStyledWidth(start);
  for (const tab of TABS.slice(from, to)) {
    const own = computeStyledWidth(renderTab(app, tab));
    if (column >= left && column < left + own) return tab;
    left += own + SEPARATOR;
  }
  return undefined;
}

/** Columns between two tabs. */
const SEPARATOR = 3;

function fitTabs(app: App, width: number): { from: number; to: number; start: string; line: string } {
  const { theme, state } = app;
  const texts = TABS.map((tab) => renderTab(app, tab));
  const at = TABS.indexOf(state.tab);
  const separator = theme.style("border", ` ${theme.signs.vertical} `);
  const renderTabRange = (from: number, to: number) => {
    const start = from > 0 ? `${theme.signs.ellipsis} ` : " ";
    const end = to < texts.length ? ` ${theme.signs.ellipsis}` : "";
    return { from, to, start, line: start + texts.slice(from, to).join(separator) + end };
  };
  let shown = renderTabRange(0, texts.length);
  while (computeStyledWidth(shown.line) > width && shown.to - shown.from > 1) {
    const { from, to } = shown;
    shown = to - 1 > at ? renderTabRange(from, to - 1) : renderTabRange(from + 1, to);
  }
  return shown;
}

function renderTab(app: App, tab: TabId): string {
  const { theme, state } = app;
  const count = app.getTabCounts()[tab];
  const text = `${getTabLabel(tab)}${count === undefined ? "" : ` ${count}`}`;
  if (tab === state.tab) return theme.style("tabActive", text);
  return theme.style(tab === "problems" && (count ?? 0) > 0 ? "problem" : "tab", text);
}
