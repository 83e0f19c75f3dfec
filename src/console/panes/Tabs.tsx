import { Box } from "ink";
import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import type { ConsoleApp } from "../console-app.ts";
import { useApp, useConsole } from "../context.tsx";
import { getTabLabel } from "../data/explorer-tree.ts";
import type { TablePane } from "../data/table-pane.ts";
import { Area, isClick } from "../mouse.tsx";
import { activate, openTab } from "../parts/navigation.ts";
import { ETCD_TABS, isEtcdTab, TABS, type TabId } from "../state/console-state.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { Row, Surface } from "../theme/Row.tsx";

interface Tab {
  id: TabId;
  text: string;
  role: StyleRole;
}

/** The tabs that fit, and the texts around them. */
interface FittedTabs {
  start: string;
  end: string;
  tabs: readonly Tab[];
}

interface TabsProps {
  width: number;
  /** The table that they belong to. */
  pane: TablePane;
}

/** The names of the views, with the active one marked. */
export function Tabs({ width, pane }: TabsProps) {
  const { start, end, tabs } = useConsole(fitTabs, width, pane);
  return (
    <Surface ground="tabStrip" width={width} height={1} overflow="hidden">
      {start !== "" && <Row cells={[{ text: start, role: "tab" }]} />}
      <TabButtons tabs={tabs} pane={pane} />
      {end !== "" && <Row cells={[{ text: end, role: "tab" }]} />}
    </Surface>
  );
}

function TabButtons({ tabs, pane }: { tabs: readonly Tab[]; pane: TablePane }) {
  const app = useApp();
  const open = (tab: TabId) => {
    activate(app, pane);
    app.update((state) => openTab(state, tab));
  };
  return tabs.map((tab) => (
    <Area key={tab.id} flexShrink={0} onMouse={(event) => isClick(event) && open(tab.id)}>
      <Row cells={[tab]} />
    </Area>
  ));
}

/** The line above a table about etcd itself: the tabs about etcd, and the summary of the rows. */
export function EtcdLine({ width, pane }: TabsProps) {
  const { tabs, status } = useConsole(buildEtcdLine, width, pane);
  return (
    <Box width={width} height={1} overflow="hidden">
      <TabButtons tabs={tabs} pane={pane} />
      <Row cells={[status]} />
    </Box>
  );
}

function buildEtcdLine({ liveView }: ConsoleApp, width: number, { tab, etcd }: TablePane) {
  const tabs = ETCD_TABS.map(
    (id): Tab => ({ id, text: ` ${getTabLabel(id)} `, role: id === tab ? "match" : "tab" }),
  );
  const { text, role } = etcd.status;
  const shown = liveView.past === undefined ? text : `now, not in the past: ${text}`;
  const left = width - computeTabsWidth({ start: "", end: "", tabs }) - 2;
  return { tabs, status: { text: ` ${cleanToWidth(shown, left)}`, role } };
}

/** The tabs in the line of tabs. Those about etcd have one common entry. */
const TAB_ENTRIES: readonly TabId[] = TABS.filter((id) => id === "members" || !isEtcdTab(id));

function getEntry(tab: TabId): TabId {
  return isEtcdTab(tab) ? "members" : tab;
}

/** Choices of the tabs whose counts are shown, besides those that need attention. The first choice that fits is used. */
const COUNTED: readonly ((id: TabId) => boolean)[] = [
  () => true,
  (id) => id !== "history" && id !== "audit",
  () => false,
];

/**
 * Chooses the tabs and their counts. If they do not fit, leaves out the counts of tabs that need no attention. If that
 * is not enough, shows only the tabs around the active one, and the number of the others.
 */
export function fitTabs(app: ConsoleApp, width: number, pane: TablePane): FittedTabs {
  const choices = COUNTED.map((isCounted) =>
    TAB_ENTRIES.map((id) => buildTab(app, pane, id, isCounted(id) || isUrgent(app, pane, id))),
  );
  const whole = choices.map((tabs) => ({ start: "", end: "", tabs }));
  const brief = choices.at(-1) ?? [];
  return (
    whole.find((fitted) => computeTabsWidth(fitted) <= width) ??
    fitPart(brief, TAB_ENTRIES.indexOf(getEntry(pane.tab)), width)
  );
}

/** Chooses the tabs around the active one. */
function fitPart(all: readonly Tab[], active: number, width: number): FittedTabs {
  const cutRange = (from: number, to: number): FittedTabs => ({
    start: from > 0 ? `${from}+ ` : "",
    end: to < all.length ? ` +${all.length - to}` : "",
    tabs: all.slice(from, to),
  });
  let [from, to] = [0, all.length];
  while (computeTabsWidth(cutRange(from, to)) > width && to - from > 1) {
    if (to - 1 > active) to -= 1;
    else from += 1;
  }
  return cutRange(from, to);
}

function computeTabsWidth({ start, end, tabs }: FittedTabs): number {
  return computeDisplayWidth(start + tabs.map(({ text }) => text).join("") + end);
}

function buildTab(app: ConsoleApp, pane: TablePane, id: TabId, isCounted: boolean): Tab {
  const hasFocus = pane.isActive && app.state.focus === "table";
  const label = isEtcdTab(id) ? "etcd" : getTabLabel(id);
  const count = isCounted ? app.getTabCounts()[id] : undefined;
  const text = ` ${label}${count === undefined ? "" : ` ${count}`} `;
  if (id === getEntry(pane.tab)) return { id, text, role: hasFocus ? "titleFocused" : "tabActive" };
  return { id, text, role: id === "problems" && isUrgent(app, pane, id) ? "problem" : "tab" };
}

/** Whether the count of a tab is shown even if there is little room. */
function isUrgent(app: ConsoleApp, pane: TablePane, id: TabId): boolean {
  return id === pane.tab || (id === "problems" && (app.getTabCounts().problems ?? 0) > 0);
}
