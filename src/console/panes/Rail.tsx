import type { ConsoleApp } from "../console-app.ts";
import { useApp, useConsole } from "../context.tsx";
import { Area, isClick } from "../mouse.tsx";
import { isEtcdTab, type TabId } from "../state/console-state.ts";
import type { Size } from "../state/layout.ts";
import { createRow, Rows, Surface } from "../theme/Row.tsx";

/** The tabs of the rail, with their signs. */
const SIGNS = {
  overview: "⌂",
  locks: "◉",
  resources: "▤",
  macros: "ƒ",
  queues: "≡",
  hosts: "▣",
  drains: "▽",
  schedules: "◷",
  history: "↺",
  problems: "▲",
  members: "◎",
} as const satisfies Partial<Record<TabId, string>>;
const ENTRIES = Object.entries(SIGNS) as [keyof typeof SIGNS, string][];

/** A column of signs at the left edge: each shows a tab, with the number of its rows and its key. */
export function Rail({ size }: { size: Size }) {
  const app = useApp();
  return (
    <Surface ground="titleRow" flexDirection="column" {...size} flexShrink={0} overflowY="hidden">
      {useConsole(buildEntries, size).map(({ action, rows }) => (
        <Area
          key={action}
          flexDirection="column"
          flexShrink={0}
          onMouse={(event) => isClick(event) && app.act(action)}
        >
          <Rows rows={rows} width={size.width} />
        </Area>
      ))}
    </Surface>
  );
}

/** Builds two lines for each entry; one if there is no room for the keys. */
function buildEntries(app: ConsoleApp, { width, height }: Size) {
  const shown = isEtcdTab(app.state.tab) ? "members" : app.state.tab;
  return ENTRIES.map(([tab, sign]) => {
    const action = tab === "members" ? "etcd" : tab;
    const count = formatCount(app, tab);
    const isUrgent = tab === "problems" && count !== "" && count !== "0";
    const [key = ""] = app.keymap.getKeyLabels(action);
    const role = tab === shown ? "tabActive" : isUrgent ? "problem" : "tab";
    const lines = [createRow(` ${sign}${count.padStart(width - 3)} `, role), createRow(`   ${key}`, "quiet")];
    return { action, rows: lines.slice(0, height < 2 * ENTRIES.length ? 1 : 2) };
  });
}

/** Formats the number of a tab's rows in four columns; that of etcd's members with those that answer. */
function formatCount(app: ConsoleApp, tab: TabId): string {
  const { clusterHealth } = app.liveView;
  if (tab === "members")
    return clusterHealth === undefined ? "" : `${clusterHealth.up}/${clusterHealth.total}`;
  const count = app.getTabCounts()[tab];
  if (count === undefined || tab === "overview") return "";
  return count < 10_000 ? String(count) : `${Math.min(999, Math.floor(count / 1_000))}k`;
}
