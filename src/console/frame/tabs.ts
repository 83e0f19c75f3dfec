import type { App } from "../app/app.ts";
import { tabLabel } from "../explorer/tree.ts";
import { TABS, type TabId } from "../state/state.ts";
import { widthOf } from "../theme/theme.ts";

/** The tabs with their counts; where there is no room for all, those around the active one. */
export function tabsLine(app: App, width: number): string {
  const { theme, state } = app;
  const texts = TABS.map((tab) => painted(app, tab));
  const at = TABS.indexOf(state.tab);
  const separator = theme.style("border", ` ${theme.signs.vertical} `);
  let [from, to] = [0, texts.length];
  const line = () => {
    const start = from > 0 ? `${theme.signs.ellipsis} ` : " ";
    const end = to < texts.length ? ` ${theme.signs.ellipsis}` : "";
    return start + texts.slice(from, to).join(separator) + end;
  };
  while (widthOf(line()) > width && to - from > 1) {
    if (to - 1 > at) to -= 1;
    else from += 1;
  }
  return line();
}

function painted(app: App, tab: TabId): string {
  const { theme, state } = app;
  const count = app.counts()[tab];
  const text = `${tabLabel(tab)}${count === undefined ? "" : ` ${count}`}`;
  if (tab === state.tab) return theme.style("tabActive", text);
  return theme.style(tab === "problems" && (count ?? 0) > 0 ? "problem" : "tab", text);
}
