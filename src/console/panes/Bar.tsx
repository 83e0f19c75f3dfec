import { cleanToWidth } from "../../base/display-width.ts";
import { formatBriefDuration } from "../../base/duration.ts";
import { describePastBounds, formatPastTime } from "../data/time-travel.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Hint } from "../parts/overlay.ts";
import { computeCellsWidth, joinCellTexts, type RowCell } from "../theme/cells.ts";
import { Row } from "../theme/Row.tsx";
import type { StyleRole } from "../theme/roles.ts";

/** A line with a background: the header, or the status at the bottom. */
export function Bar({ bar: { left, right, gap, ground } }: { bar: BarModel }) {
  return <Row cells={[...left, { text: " ".repeat(gap), role: ground }, ...right]} width={0} />;
}

/**
 * A segment of a bar. If the bar is too narrow, segments are removed from the highest weight down; weight 1 is never
 * removed.
 */
interface BarSegment {
  text: string;
  role: StyleRole;
  weight: number;
}

/** A line with a background, and segments at its left and its right. */
export interface BarModel {
  left: readonly RowCell[];
  right: readonly RowCell[];
  /** Blanks between them, columns. */
  gap: number;
  /** Role of the blanks. */
  ground: StyleRole;
}

/** Builds a bar from the segments that fit. @param ground  role of the space between them */
export function buildBar(
  width: number,
  left: readonly BarSegment[],
  right: readonly BarSegment[],
  ground: StyleRole,
): BarModel {
  const shown = selectFitting(
    [...left, ...right].filter(({ text }) => text !== ""),
    width,
  );
  const atLeft = left.filter((segment) => shown.has(segment));
  const atRight = right.filter((segment) => shown.has(segment));
  const gap = width - computeCellsWidth(atLeft) - computeCellsWidth(atRight);
  if (gap >= 0) return { left: atLeft, right: atRight, gap, ground };
  return {
    left: [{ text: cleanToWidth(joinCellTexts(atLeft), width), role: ground }],
    right: [],
    gap: 0,
    ground,
  };
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

const USUAL_PREFIX = "/signalbox/";

/** Builds the header: which cluster this is, and whether anything can be changed. */
export function buildHeaderModel(app: ConsoleParts, width: number): BarModel {
  const { theme, context, isReadOnly } = app;
  const { endpoints, prefix, context: name } = context.settings;
  const hosts = endpoints.map((endpoint) => cleanToWidth(endpoint.replace(/^https?:\/\//, ""), 40)).join(",");
  const where = prefix === USUAL_PREFIX ? "" : ` ${theme.signs.dot} ${cleanToWidth(prefix, 40)}`;
  return buildBar(
    width,
    [
      { text: " signalbox ", role: "barName", weight: 1 },
      {
        text: name === undefined ? "" : ` ${cleanToWidth(name, 40)} ${theme.signs.dot}`,
        role: "bar",
        weight: 1,
      },
      { text: ` ${hosts}`, role: "bar", weight: 2 },
      { text: where, role: "bar", weight: 3 },
    ],
    [
      { text: formatPastBadge(app), role: "barPast", weight: 1 },
      { text: isReadOnly ? " READ-ONLY " : "", role: "badgeReadOnly", weight: 1 },
      {
        text: ` ${cleanToWidth(context.operator.user, 30)}@${cleanToWidth(context.facts.host, 40)} `,
        role: "bar",
        weight: 4,
      },
    ],
    "bar",
  );
}

/** Marks the past clearly: everything below is about that time. */
function formatPastBadge(app: ConsoleParts): string {
  const { past } = app.liveView;
  if (past === undefined) return "";
  const time =
    past.from === undefined && past.until === undefined
      ? `rev ${past.revision}`
      : formatPastTime(past.at, app.getPresentTime());
  return ` PAST ${time} ${app.theme.signs.dot} read-only `;
}

/** Builds the last line: the connection state, running jobs, a toast, and the keys of the context. */
export function buildStatusModel(app: ConsoleParts, width: number): BarModel {
  const isLive = app.liveView.connection.kind === "live";
  const ground: StyleRole = isLive ? "barLive" : app.liveView.past === undefined ? "barAway" : "barPast";
  const left = [
    ...buildTravelSegments(app, ground),
    ...buildConnectionSegments(app, ground),
    ...buildJobSegments(app, ground),
    ...buildToastSegments(app, ground),
  ];
  const hints = buildHints(app).map(([key, what], at): BarSegment => {
    return { text: formatHint(key, what), role: ground, weight: 5 + at };
  });
  return buildBar(width, left, hints, ground);
}

/** Says what is being read from the past. */
function buildTravelSegments({ travel, theme }: ConsoleParts, role: StyleRole): BarSegment[] {
  if (travel.search === undefined) return [];
  return [{ text: ` ${travel.search}${theme.signs.ellipsis}`, role, weight: 1 }];
}

/** Returns the key whose hint is at a column of that line. */
export function findHintAt(app: ConsoleParts, width: number, column: number): string | undefined {
  const { left, right, gap } = buildStatusModel(app, width);
  let start = computeCellsWidth(left) + gap;
  for (const cell of right) {
    const end = start + computeCellsWidth([cell]);
    if (column >= start && column < end)
      return buildHints(app).find(([key, what]) => formatHint(key, what) === cell.text)?.[0];
    start = end;
  }
  return undefined;
}

function formatHint(key: string, what: string): string {
  return ` ${key} ${what} `;
}

function buildConnectionSegments(app: ConsoleParts, role: StyleRole): BarSegment[] {
  const { liveView, theme } = app;
  const { connection: state, snapshot, clusterHealth } = liveView;
  const { signs } = theme;
  if (liveView.past !== undefined)
    return [
      { text: ` state at revision ${liveView.past.revision}`, role, weight: 1 },
      { text: `, ${describePastBounds(liveView.past, app.getPresentTime())}`, role, weight: 3 },
    ];
  const age = formatBriefDuration(app.getPresentTime() - state.since);
  const revision = snapshot.revision === 0n ? "" : `rev ${snapshot.revision}`;
  if (state.kind === "live") {
    return [
      { text: ` ${signs.marks.held}live ${revision}`, role, weight: 1 },
      ...(clusterHealth === undefined ? [] : buildHealthSegments(clusterHealth, role, signs.dot)),
    ];
  }
  const what = {
    opening: `connecting for ${age}`,
    away: `etcd unreachable ${age}${revision && `, last known: ${revision}`}`,
    refused: `access refused ${age}${revision && `, last known: ${revision}`}`,
    past: revision,
  }[state.kind];
  return [
    { text: ` ${signs.marks.problem}${what}`, role, weight: 1 },
    {
      text: state.fault === undefined ? "" : ` ${signs.dot} ${cleanToWidth(state.fault, 60)}`,
      role,
      weight: 4,
    },
  ];
}

/** Builds the health of the cluster. The number of members stays longest; the rest goes before the keys do. */
function buildHealthSegments(
  { leader, up, total, ms }: NonNullable<ConsoleParts["liveView"]["clusterHealth"]>,
  role: StyleRole,
  dot: string,
): BarSegment[] {
  const name = leader === undefined ? "" : ` ${dot} leader ${cleanToWidth(leader, 30)}`;
  return [
    { text: name, role, weight: 30 },
    { text: ` ${dot} ${up}/${total}`, role, weight: 3 },
    { text: ` ${dot} ${formatRoundTrip(ms)}`, role, weight: 31 },
  ];
}

/** Formats the time of a request in steps: each change is written to the terminal, and small ones say nothing. */
function formatRoundTrip(ms: number): string {
  if (ms < 10) return "< 10 ms";
  const step = ms < 100 ? 10 : 100;
  return `${Math.round(ms / step) * step} ms`;
}

function buildJobSegments({ jobs: { running }, theme }: ConsoleParts, role: StyleRole): BarSegment[] {
  const [first] = running;
  if (first === undefined) return [];
  const more = running.length > 1 ? ` +${running.length - 1}` : "";
  return [
    {
      text: ` ${theme.signs.dot} ${theme.signs.arrow} ${cleanToWidth(first.title, 40)}${more}`,
      role,
      weight: 2,
    },
  ];
}

function buildToastSegments({ state: { toast: shown }, theme }: ConsoleParts, role: StyleRole): BarSegment[] {
  if (shown === undefined) return [];
  return [{ text: ` ${theme.signs.dot} ${cleanToWidth(shown.text, 70)}`, role, weight: 2 }];
}

/** Actions that always have a hint: first those that lead to all others, then the rest. */
const FIRST_HINTS = ["help", "palette"] as const;
const LATER_HINTS = ["filter", "quit"] as const;
/** Number of context actions before the other hints. Small screens have little more room. */
const MOST_EARLY_HINTS = 2;
const HINT_TEXTS: Readonly<Record<string, string>> = {
  palette: "palette",
  filter: "filter",
  help: "help",
  quit: "quit",
  open: "open",
  back: "back",
  drain: "drain",
  undrain: "undrain",
  reset: "reset",
  release: "release",
  edit: "edit",
  create: "new",
  "schedule pause": "pause",
  "schedule resume": "resume",
  "schedule trigger": "run now",
  travel: "return to live",
  olderChange: "change before",
  newerChange: "next change",
  nextPane: "pane",
  mark: "mark",
  why: "why",
};

/** Lists the keys that are useful in the present context, the most important first. */
function buildHints(app: ConsoleParts): Hint[] {
  const here = listContextActions(app);
  const first = app.liveView.past === undefined ? FIRST_HINTS : ["travel", ...FIRST_HINTS];
  return [
    ...first,
    ...here.slice(0, MOST_EARLY_HINTS),
    ...LATER_HINTS,
    ...here.slice(MOST_EARLY_HINTS),
  ].flatMap((id): Hint[] => {
    const [key] = app.keymap.getKeyLabels(id);
    return key === undefined ? [] : [[key, HINT_TEXTS[id] ?? id]];
  });
}

function listContextActions(app: ConsoleParts): string[] {
  const { state, isReadOnly, liveView } = app;
  if (liveView.past !== undefined) return ["olderChange", "newerChange", "nextPane"];
  if (state.focus !== "table") return ["open", "nextPane"];
  if (isReadOnly) return ["nextPane"];
  const kind = app.getSubject()?.kind;
  switch (kind) {
    case "lock":
    case "resource":
      return ["drain", "reset", ...(kind === "resource" ? ["edit"] : []), "mark"];
    case "run":
      return ["release", "why", "mark"];
    case "host":
      return ["drain", "undrain", "mark"];
    case "group":
      return ["drain", "edit", "create"];
    case "schedule":
      return ["schedule trigger", "schedule pause", "schedule resume", "edit", "mark"];
    case "drain":
      return ["undrain"];
    default:
      return ["nextPane"];
  }
}
