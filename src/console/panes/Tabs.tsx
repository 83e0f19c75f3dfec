import { computeDisplayWidth } from "../../base/display-width.ts";
import { getTabLabel } from "../data/explorer-tree.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { TABS, type TabId } from "../state/console-state.ts";
import { Row } from "../theme/Row.tsx";
import type { StyleRole } from "../theme/roles.ts";

/** The names of the views, with the active one marked. */
export function Tabs({ model: { start, end, separator, tabs } }: { model: TabsModel }) {
  const between = { text: separator, role: "border" } as const;
  const cells = tabs.flatMap((tab, at) => (at === 0 ? [tab] : [between, tab]));
  return <Row cells={[{ text: start }, ...cells, { text: end }]} width={0} />;
}

/** The tabs that are shown, and the texts around them. */
export interface TabsModel {
  start: string;
  end: string;
  separator: string;
  tabs: readonly { id: TabId; text: string; role: StyleRole }[];
}

/**
 * Builds the tabs with their counts. If they do not fit, first the counts of tabs that need no attention are left out,
 * then the lines between them; then only the tabs around the active one are shown, with the number of the others.
 */
export function buildTabsModel(app: ConsoleParts, width: number): TabsModel {
  const line = ` ${app.theme.signs.vertical} `;
  const counted = TABS.map((id) => buildTab(app, id, true));
  const brief = TABS.map((id) => buildTab(app, id, isUrgent(app, id)));
  const whole = [
    { tabs: counted, separator: line },
    { tabs: brief, separator: line },
    { tabs: brief, separator: "  " },
  ].map((one) => ({ ...one, start: " ", end: "" }));
  return (
    whole.find((model) => computeTabsWidth(model) <= width) ??
    buildPart(brief, TABS.indexOf(app.state.tab), line, width)
  );
}

/** Builds the tabs around the active one. */
function buildPart(all: TabsModel["tabs"], active: number, separator: string, width: number): TabsModel {
  const buildRange = (from: number, to: number): TabsModel => ({
    start: from > 0 ? `${from}+ ` : " ",
    end: to < all.length ? ` +${all.length - to}` : "",
    separator,
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
export function findTabAt(app: ConsoleParts, width: number, column: number): TabId | undefined {
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

function buildTab(app: ConsoleParts, id: TabId, isCounted: boolean): TabsModel["tabs"][number] {
  const { tab, focus } = app.state;
  const count = isCounted ? app.getTabCounts()[id] : undefined;
  const text = `${getTabLabel(id)}${count === undefined ? "" : ` ${count}`}`;
  if (id === tab) return { id, text, role: focus === "table" ? "titleFocused" : "tabActive" };
  return { id, text, role: id === "problems" && isUrgent(app, id) ? "problem" : "tab" };
}

/** Whether the count of a tab is shown even if there is little room. */
function isUrgent(app: ConsoleParts, id: TabId): boolean {
  return id === app.state.tab || (id === "problems" && (app.getTabCounts().problems ?? 0) > 0);
}
