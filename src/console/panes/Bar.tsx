import { Box } from "ink";
import { formatAuditAuthor } from "../../cli/views/columns.ts";
import { formatBriefDuration } from "../../core/base/clock.ts";
import { cleanToWidth } from "../../core/base/display-width.ts";
import type { ReadProgress } from "../../site/observe/read.ts";
import { toActionable } from "../../site/state/subject.ts";
import type { ConsoleApp } from "../console-app.ts";
import { useApp, useConsole } from "../context.tsx";
import { getTabLabel } from "../data/explorer-tree.ts";
import { describePastBounds, formatPastTime, type TimeTravel } from "../data/time-travel.ts";
import { Area, isClick } from "../mouse.tsx";
import { isEtcdTab } from "../state/console-state.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { computeCellsWidth, Row, truncateCells } from "../theme/Row.tsx";

/**
 * A segment of a bar. If the bar is too narrow, segments are removed from the highest weight down; weight 1 is never
 * removed, but cut at the left.
 */
interface BarSegment {
  text: string;
  /** Without a role, it looks like the rest of the bar. */
  role?: StyleRole;
  weight: number;
  /** What a click does: the id of an action. */
  action?: string;
}

interface BarProps {
  left: readonly BarSegment[];
  right: readonly BarSegment[];
  /** Role of the space between them. */
  ground: StyleRole;
}

/** A line with a background and segments at its left and right: the header, or the status bar at the bottom. */
export function Bar({ width, left, right, ground }: BarProps & { width: number }) {
  const app = useApp();
  const shown = selectFitting(
    [...left, ...right].filter(({ text }) => text !== ""),
    width,
  );
  const listShown = (segments: readonly BarSegment[]) =>
    segments.filter((segment) => shown.has(segment)).map((segment) => ({ role: ground, ...segment }));
  const [atLeft, atRight] = [listShown(left), listShown(right)];
  const room = width - computeCellsWidth(atRight);
  const gap = " ".repeat(Math.max(0, room - computeCellsWidth(atLeft)));
  return (
    <Box width={width}>
      <Row cells={[...truncateCells(atLeft, room), { text: gap, role: ground }]} />
      {atRight.map((segment) => (
        <Area
          key={segment.text}
          flexShrink={0}
          onMouse={(event) => isClick(event) && app.act(segment.action ?? "")}
        >
          <Row cells={[segment]} />
        </Area>
      ))}
    </Box>
  );
}

function selectFitting(segments: readonly BarSegment[], width: number): ReadonlySet<BarSegment> {
  let shown = [...segments];
  while (computeCellsWidth(shown) > width) {
    const least = shown.reduce((worst, segment) => (segment.weight >= worst.weight ? segment : worst));
    if (least.weight <= 1) break;
    shown = shown.filter((segment) => segment !== least);
  }
  return new Set(shown);
}

const GROUNDS = {
  live: "barLive",
  opening: "bar",
  away: "barAway",
  refused: "barAway",
  past: "barPast",
} as const satisfies Record<string, StyleRole>;

/** The last line: the connection state, running jobs, a toast, and the keys of the context. */
export function StatusBar({ width }: { width: number }) {
  return <Bar width={width} {...useConsole(buildStatus)} />;
}

function buildStatus(app: ConsoleApp): BarProps {
  const ground = GROUNDS[app.liveView.connection.kind];
  const { travel, theme, state } = app;
  const { dot, ellipsis } = theme.signs;
  const left = [
    { text: travel.search === undefined ? "" : ` ${formatSearch(travel)}${ellipsis}`, weight: 1 },
    ...buildConnectionSegments(app),
    { text: formatRunningJobs(app), weight: 2 },
    { text: state.toast === undefined ? "" : ` ${dot} ${cleanToWidth(state.toast.text, 70)}`, weight: 1 },
  ];
  return { ground, left, right: buildHintSegments(app) };
}

function buildConnectionSegments(app: ConsoleApp): BarSegment[] {
  const { liveView, theme } = app;
  const { connection: state, snapshot, clusterHealth } = liveView;
  const { signs } = theme;
  if (liveView.past !== undefined)
    return [
      { text: ` state at revision ${liveView.past.revision}`, weight: 1 },
      { text: `, ${describePastBounds(liveView.past, app.getPresentTime())}`, weight: 3 },
    ];
  const age = formatBriefDuration(app.getPresentTime() - state.since);
  const revision = snapshot.revision === 0n ? "" : `rev ${snapshot.revision}`;
  if (state.kind === "live") {
    return [
      { text: ` ${signs.marks.held}live ${revision}`, weight: 1 },
      ...(clusterHealth === undefined ? [] : buildHealthSegments(clusterHealth, signs.dot)),
    ];
  }
  const what = {
    opening:
      liveView.progress === undefined
        ? `connecting for ${age}`
        : `reading: ${formatProgress(liveView.progress)}`,
    away: `etcd unreachable ${age}${revision && `, last known: ${revision}`}`,
    refused: `access refused ${age}${revision && `, last known: ${revision}`}`,
    past: revision,
  }[state.kind];
  return [
    { text: ` ${signs.marks.problem}${what}`, weight: 1 },
    { text: state.fault === undefined ? "" : ` ${signs.dot} ${cleanToWidth(state.fault, 60)}`, weight: 4 },
  ];
}

function formatProgress({ read, total }: ReadProgress): string {
  const of = total === undefined ? "" : ` of ${Math.max(read, total).toLocaleString("en-US")}`;
  return `${read.toLocaleString("en-US")}${of} keys`;
}

function formatSearch({ search, progress }: TimeTravel): string {
  return progress === undefined ? `${search}` : `${search}: ${formatProgress(progress)}`;
}

/** Builds the segments for the health of the cluster. The number of members is removed last, the others before the keys. */
function buildHealthSegments(
  { leader, up, total, ms }: NonNullable<ConsoleApp["liveView"]["clusterHealth"]>,
  dot: string,
): BarSegment[] {
  const name = leader === undefined ? "" : ` ${dot} leader ${cleanToWidth(leader, 30)}`;
  return [
    { text: name, weight: 30 },
    { text: ` ${dot} ${up}/${total}`, weight: 3 },
    { text: ` ${dot} ${ms === 0 ? "< 10" : ms} ms`, weight: 31 },
  ];
}

function formatRunningJobs({ jobs: { running }, theme: { signs } }: ConsoleApp): string {
  const [first] = running;
  if (first === undefined) return "";
  const more = running.length > 1 ? ` +${running.length - 1}` : "";
  return ` ${signs.dot} ${signs.arrow} ${cleanToWidth(first.title, 40)}${more}`;
}

/** Actions that always have a hint: they lead to all others. */
const FIRST_HINTS = ["help", "palette"] as const;
const LATER_HINTS = ["filter", "quit"] as const;
/** Number of context actions before the other hints. Small screens have room for little more. */
const MOST_EARLY_HINTS = 2;
/** Words for keys that differ from the ids of their actions. */
const HINT_TEXTS: Readonly<Record<string, string>> = {
  browseKeys: "browse keys",
  create: "new",
  "schedule pause": "pause",
  "schedule resume": "resume",
  "schedule trigger": "run now",
  travel: "return to live",
  olderChange: "change before",
  newerChange: "next change",
  nextPane: "pane",
};

/**
 * Builds the hints for keys that are useful now: those of the page, a line, then those of the row. The most important
 * ones are removed last.
 */
function buildHintSegments(app: ConsoleApp): BarSegment[] {
  const contextActions = listContextActions(app);
  const first = app.liveView.past === undefined ? FIRST_HINTS : ["travel", ...FIRST_HINTS];
  const important = [
    ...first,
    ...contextActions.slice(0, MOST_EARLY_HINTS),
    ...LATER_HINTS,
    ...contextActions.slice(MOST_EARLY_HINTS),
  ];
  const buildSegment = (id: string): BarSegment[] => {
    const [key] = app.keymap.getKeyLabels(id);
    if (key === undefined) return [];
    const weight = 5 + important.indexOf(id);
    return [{ text: ` ${key} ${HINT_TEXTS[id] ?? id} `, weight, action: id }];
  };
  const row = contextActions.flatMap(buildSegment);
  const line = { text: app.theme.signs.vertical, weight: Math.min(...row.map(({ weight }) => weight)) };
  const general = [...first, ...LATER_HINTS].flatMap(buildSegment);
  return row.length === 0 ? general : [...general, line, ...row];
}

function listContextActions(app: ConsoleApp): string[] {
  const { state, isReadOnly, liveView } = app;
  if (liveView.past !== undefined) return ["olderChange", "newerChange", "nextPane"];
  if (state.focus !== "table") return ["open", "nextPane"];
  if (isEtcdTab(state.tab)) return ["browseKeys", "nextPane"];
  if (isReadOnly) return ["nextPane"];
  const kind = app.getSubject()?.kind;
  switch (kind) {
    case "lock":
    case "resource":
      return ["drain", "reset", ...(kind === "resource" ? ["edit"] : []), "mark"];
    case "run":
      return ["reset", "why", "mark"];
    case "host":
      return ["drain", "undrain", "mark"];
    case "group":
      return ["drain", "edit", "create"];
    case "schedule":
      return ["schedule trigger", "schedule pause", "schedule resume", "edit", "mark"];
    case "drain":
      return ["undrain"];
    default:
      return app.tablePane.picturePart === undefined ? ["nextPane"] : ["open", "nextPane"];
  }
}

const USUAL_PREFIX = "/signalbox/";

/** The first line: the cluster, the user's place in it, its counters, and whether changes are possible. The place stays longest. */
export function Header({ width }: { width: number }) {
  return <Bar width={width} {...useConsole(buildHeader)} />;
}

function buildHeader(app: ConsoleApp): BarProps {
  const { theme, context, isReadOnly } = app;
  const { prefix } = context.settings;
  const { dot } = theme.signs;
  const user = cleanToWidth(formatAuditAuthor(context.operator), 60);
  return {
    ground: "bar",
    left: [
      { text: " signalbox ", role: "barName", weight: 6 },
      { text: ` ${cleanToWidth(formatCluster(context.settings), 40)} ${dot}`, weight: 3 },
      { text: prefix === USUAL_PREFIX ? "" : ` ${cleanToWidth(prefix, 40)} ${dot}`, weight: 7 },
      { text: ` ${formatBreadcrumb(app)}`, role: "barName", weight: 1 },
    ],
    right: [
      ...buildCounters(app),
      { text: formatPastBadge(app), role: "barPast", weight: 1 },
      { text: isReadOnly ? " READ-ONLY " : "", role: "badgeReadOnly", weight: 1 },
      { text: ` ${user} `, weight: 8 },
    ],
  };
}

/** Formats the name of the context; without one, the first endpoint and the number of the others. */
function formatCluster({ context, endpoints }: ConsoleApp["context"]["settings"]): string {
  const [first = "", ...others] = endpoints.map((endpoint) => endpoint.replace(/^https?:\/\/|:2379$/g, ""));
  return context ?? (others.length === 0 ? first : `${first} +${others.length}`);
}

/** Formats the user's place: `Locks › backup-db`. */
function formatBreadcrumb(app: ConsoleApp): string {
  const { state, theme } = app;
  const name = toActionable(app.getSubject())?.name;
  const label = getTabLabel(state.tab);
  return name === undefined || (state.tab === "overview" && app.tablePane.picturePart === undefined)
    ? label
    : `${label} ${theme.signs.step} ${cleanToWidth(name, 32)}`;
}

/** Builds the numbers of holders, waiters and problems. Shows none before they are known. */
function buildCounters(app: ConsoleApp): BarSegment[] {
  const { held, waiting, problems } = app.getTabCounts();
  const { marks } = app.theme.signs;
  const count = (number: number | undefined, mark: string, word: string): BarSegment => ({
    text: number === undefined ? "" : ` ${mark}${number} ${word} `,
    weight: 5,
  });
  return [
    count(held, marks.held, "held"),
    count(waiting, marks.waiting, "waiting"),
    { ...count(problems, marks.problem, "problems"), weight: 4, action: "problems" },
  ];
}

/** Formats a mark for the past, because everything below shows that time. */
function formatPastBadge(app: ConsoleApp): string {
  const { past } = app.liveView;
  if (past === undefined) return "";
  const time =
    past.from === undefined && past.until === undefined
      ? `rev ${past.revision}`
      : formatPastTime(past.at, app.getPresentTime());
  return ` PAST ${time} ${app.theme.signs.dot} read-only `;
}
