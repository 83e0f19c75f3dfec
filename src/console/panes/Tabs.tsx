import { computeDisplayWidth } from "../../base/display-width.ts";
import type { ConsoleApp } from "../console-app.ts";
import { useConsole } from "../context.tsx";
import { getTabLabel } from "../data/explorer-tree.ts";
import { Area, isClick } from "../mouse.tsx";
import { openTab } from "../parts/navigation.ts";
import { TABS, type TabId } from "../state/console-state.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { Row, Surface } from "../theme/Row.tsx";

type TabsInputs = Pick<ConsoleApp, "state" | "getTabCounts">;

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

/** The names of the views, with the active one marked. */
export function Tabs({ width }: { width: number }) {
  const app = useConsole();
  const { start, end, tabs } = fitTabs(app, width);
  const open = (tab: TabId) => app.update((state) => openTab(state, tab));
  return (
    <Surface ground="tabStrip" width={width} height={1} overflow="hidden">
      {start !== "" && <Row cells={[{ text: start, role: "tab" }]} width={0} />}
      {tabs.map((tab) => (
        <Area key={tab.id} flexShrink={0} onMouse={(event) => isClick(event) && open(tab.id)}>
          <Row cells={[tab]} width={0} />
        </Area>
      ))}
      {end !== "" && <Row cells={[{ text: end, role: "tab" }]} width={0} />}
    </Surface>
  );
}

/**
 * Chooses the tabs with their counts. If they do not fit, first the counts of tabs that need no attention are left out;
 * then only the tabs around the active one are shown, with the number of the others.
 */
export function fitTabs(app: TabsInputs, width: number): FittedTabs {
  const brief = TABS.map((id) => buildTab(app, id, isUrgent(app, id)));
  const whole = [TABS.map((id) => buildTab(app, id, true)), brief].map((tabs) => ({
    start: "",
    end: "",
    tabs,
  }));
  return (
    whole.find((fitted) => computeTabsWidth(fitted) <= width) ??
    fitPart(brief, TABS.indexOf(app.state.tab), width)
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

function buildTab(app: TabsInputs, id: TabId, isCounted: boolean): Tab {
  const { tab, focus } = app.state;
  const count = isCounted ? app.getTabCounts()[id] : undefined;
  const text = ` ${getTabLabel(id)}${count === undefined ? "" : ` ${count}`} `;
  if (id === tab) return { id, text, role: focus === "table" ? "titleFocused" : "tabActive" };
  return { id, text, role: id === "problems" && isUrgent(app, id) ? "problem" : "tab" };
}

/** Whether the count of a tab is shown even if there is little room. */
function isUrgent(app: TabsInputs, id: TabId): boolean {
  return id === app.state.tab || (id === "problems" && (app.getTabCounts().problems ?? 0) > 0);
}
