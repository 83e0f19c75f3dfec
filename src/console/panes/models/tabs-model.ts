import { computeDisplayWidth } from "../../../base/display-width.ts";
import { getTabLabel } from "../../data/explorer/build-tree.ts";
import type { DataAccess, StateAccess, ThemeAccess } from "../../parts/parts.ts";
import { TABS, type TabId } from "../../state/console-state.ts";
import type { StyleRole } from "../../theme/roles.ts";

/** The tabs that are shown, and the texts around them. */
export interface TabsModel {
  start: string;
  end: string;
  separator: string;
  tabs: readonly { id: TabId; text: string; role: StyleRole }[];
}

type TabsInputs = DataAccess & StateAccess & ThemeAccess;

/** Builds the tabs with their counts. If they do not all fit, only those around the active one. */
export function buildTabsModel(app: TabsInputs, width: number): TabsModel {
  const { signs } = app.theme;
  const all = TABS.map((id) => buildTab(app, id));
  const active = TABS.indexOf(app.state.tab);
  const buildRange = (from: number, to: number): TabsModel => ({
    start: from > 0 ? `${signs.ellipsis} ` : " ",
    end: to < all.length ? ` ${signs.ellipsis}` : "",
    separator: ` ${signs.vertical} `,
    tabs: all.slice(from, to),
  });
  let [from, to] = [0, all.length];
  while (computeTabsWidth(buildRange(from, to)) > width && to - from > 1) {
    if (to - 1 > active) to -= 1;
    else from += 1;
  }
  return buildRange(from, to);
}

/** Returns the tab at a column of that line, from 0. */
export function findTabAt(app: TabsInputs, width: number, column: number): TabId | undefined {
  const { start, separator, tabs } = buildTabsModel(app, width);
  let left = computeDisplayWidth(start);
  for (const { id, text } of tabs) {
    const own = computeDisplayWidth(text);
    if (column >= left && column < left + own) return id;
    left += own + separator.length;
  }
  return undefined;
}

function computeTabsWidth({ start, end, separator, tabs }: TabsModel): number {
  return computeDisplayWidth(start + tabs.map(({ text }) => text).join(separator) + end);
}

function buildTab(app: TabsInputs, id: TabId): TabsModel["tabs"][number] {
  const count = app.getTabCounts()[id];
  const text = `${getTabLabel(id)}${count === undefined ? "" : ` ${count}`}`;
  if (id === app.state.tab) return { id, text, role: "tabActive" };
  return { id, text, role: id === "problems" && (count ?? 0) > 0 ? "problem" : "tab" };
}
