import { formatBriefDuration, type WallTime } from "../../core/base/clock.ts";
import { computeDisplayWidth } from "../../core/base/display-width.ts";
import { formatBytes } from "../../core/base/size.ts";
import { pluralize } from "../../core/base/text.ts";
import { NEARLY_FULL } from "../../site/state/etcd-findings.ts";
import { getShareTone } from "../../site/state/shares.ts";
import type { PictureTarget, Share, TextSpan, Tone } from "../../site/state/subject.ts";
import { judgeWaitAge, shortenOwner, shortenResourceName } from "./columns.ts";
import {
  clipSpans,
  countGraphValues,
  type Drawing,
  type DrawingSigns,
  drawBar,
  drawGraph,
  drawLevel,
  fitText,
  joinDrawings,
  measureSpans,
} from "./drawing.ts";
import { FULL_BAR_DELAY_MS, FULL_BAR_LAG } from "./etcd-members.ts";
import { formatShare, getHostTone } from "./hosts.ts";
import {
  type EtcdAnswer,
  type EtcdSummary,
  type HostLoad,
  MOST_OVERVIEW_ITEMS,
  type Overview,
} from "./overview.ts";
import { formatTimeUntilNext, getScheduleTone } from "./schedules.ts";
import { drawTimeAxis } from "./timeline-drawing.ts";

/** How an overview is drawn. */
export interface OverviewLook {
  /** Columns. */
  width: number;
  signs: DrawingSigns;
  /** Wall clock, ms since the epoch. */
  wall: WallTime;
}

/** How much of an overview is shown. */
interface OverviewForm {
  /** Lines of the graph for holders, and for waiters. */
  heights: readonly [number, number];
  /** Maximum items of each list. */
  items: number;
  hasBlanks: boolean;
  /** Whether the limits of etcd get a line of their own. */
  hasLimits?: boolean;
}

/** Where the height does not matter. */
const DEFAULT_FORM: OverviewForm = { heights: [4, 3], items: 5, hasBlanks: true, hasLimits: true };

/** Largest first. */
const FORMS: readonly OverviewForm[] = [
  { heights: [9, 6], items: MOST_OVERVIEW_ITEMS, hasBlanks: true, hasLimits: true },
  { heights: [6, 4], items: 8, hasBlanks: true, hasLimits: true },
  DEFAULT_FORM,
  { heights: [4, 3], items: 5, hasBlanks: false, hasLimits: true },
  { heights: [3, 2], items: 4, hasBlanks: false, hasLimits: true },
  { heights: [2, 2], items: 3, hasBlanks: false },
  { heights: [2, 1], items: 2, hasBlanks: false },
  { heights: [2, 1], items: 1, hasBlanks: false },
];

/** Width from which three lists stand side by side. */
const MIN_WIDE_COLUMNS = 120;
const MOST_HOST_LINES = 4;

/**
 * Draws the whole site as lines for a terminal. Its parts can be drawn alone.
 * @param rows  lines to fill: as much as fits is shown, and the graph takes what is left; undefined for the usual form
 */
export function drawOverview(overview: Overview, look: OverviewLook, rows?: number): Drawing {
  if (rows === undefined) return drawForm(overview, look, DEFAULT_FORM);
  let lines: Drawing = [];
  for (const form of FORMS) {
    lines = drawForm(overview, look, form);
    const spare = rows - lines.length - (form.hasBlanks ? 1 : 0); // what follows stands apart, too
    if (spare < 0) continue;
    // The graph gets the lines that nothing else needs.
    const [above, below] = form.heights;
    const more = Math.ceil(spare * 0.6);
    return drawForm(overview, look, { ...form, heights: [above + more, below + spare - more] });
  }
  return lines;
}

function drawForm(
  overview: Overview,
  look: OverviewLook,
  { heights, items, hasBlanks, hasLimits = false }: OverviewForm,
): Drawing {
  const { queues, next, failures, etcd } = overview;
  const lists = {
    ...overview,
    queues: queues.slice(0, items),
    next: next.slice(0, items),
    failures: failures.slice(0, items),
  };
  const parts = [
    drawCounts(overview, look),
    drawHosts(overview, look),
    drawActivity(overview, look, heights),
    ...drawLists(lists, look),
    ...(etcd === undefined ? [] : [drawEtcd(etcd, look, hasLimits)]),
  ];
  const lines = parts.flatMap((part, at) => (hasBlanks && at > 0 ? [[], ...part] : part));
  return lines.map((line) => clipSpans(line, look.width));
}

/** Draws the numbers of the site: `● 31 held  ◌ 22 waiting  ▲ 7 problems  2 drains  5 schedules`. */
function drawCounts({ counts }: Overview, { width, signs }: OverviewLook): Drawing {
  const { held, waiting, problems, drains, schedules, hosts, workers } = counts;
  const drawState = (count: number, text: string, tone: Tone, name: string): TextSpan[] => {
    const target = { kind: "listing", name } as const;
    return count === 0
      ? [{ text, role: "quiet", target }]
      : [{ text: `${signs.marks[tone]}${text}`, role: tone, target }];
  };
  const drawNumber = (count: number, what: string, name = `${what}s`): TextSpan[] => [
    { text: pluralize(count, what), role: "plain", target: { kind: "listing", name } },
  ];
  const pieces = [
    drawState(held, `${held} held`, "held", "locks"),
    drawState(waiting, `${waiting} waiting`, "waiting", "queues"),
    drawState(problems, pluralize(problems, "problem"), "problem", "problems"),
    drawState(drains, pluralize(drains, "drain"), "problem", "drains"),
    drawNumber(hosts, "host"),
    drawNumber(workers, "worker", "hosts"),
    drawNumber(schedules, "schedule"),
  ];
  const forms = [3, 2, 1].map((gap) => wrapPieces(pieces, width, gap));
  return forms.find(({ length }) => length === 1) ?? wrapPieces(pieces, width, 2);
}

/** Puts pieces one after the other, on as few lines as possible. */
function wrapPieces(pieces: readonly (readonly TextSpan[])[], width: number, gap: number): Drawing {
  const lines: TextSpan[][] = [];
  for (const piece of pieces) {
    const line = lines.at(-1);
    const isFull = line === undefined || measureSpans(line) + gap + measureSpans(piece) > width;
    if (isFull) lines.push([...piece]);
    else line.push({ text: " ".repeat(gap) }, ...piece);
  }
  return lines;
}

function buildHeading(title: string, note: string): readonly TextSpan[] {
  const heading: TextSpan = { text: title, role: "heading" };
  return note === "" ? [heading] : [heading, { text: `  ${note}`, role: "quiet" }];
}

/** Whether a host has not been seen for a day, or never. */
function isAway({ state }: HostLoad): boolean {
  return state === "silent" || state === "unknown";
}

/** Returns the tone of a host: what its fullest resource, its runs and drains say. */
function getHostLoadTone(host: HostLoad): Tone {
  const { isDrained, fullest, state } = host;
  if (isDrained) return "problem";
  if (isAway(host)) return "quiet";
  return fullest === undefined || fullest.total === undefined ? getHostTone(state) : getShareTone(fullest);
}

/** Returns the one character for a host: its load, or that it is drained or gone. */
function drawHostLevel(host: HostLoad, signs: DrawingSigns): string {
  if (host.isDrained) return signs.drained;
  if (isAway(host)) return signs.gone;
  const { used = 0, total } = host.fullest ?? {};
  if (total !== undefined && total > 0) return drawLevel(used / total, signs);
  return drawLevel(host.held > 0 ? 0.5 : 0, signs);
}

/**
 * Draws the hosts as a strip of cells, in the form with the most details that needs few lines: with a bar and the numbers
 * of the fullest resource, with the name, or one character for each host.
 */
export function drawHosts({ hosts }: Pick<Overview, "hosts">, { width, signs }: OverviewLook): Drawing {
  const away = hosts.filter(isAway).length;
  const drained = hosts.filter(({ isDrained }) => isDrained).length;
  const notes = [
    `${signs.levels[0]} idle ${signs.levels.at(-1)} full`,
    ...(drained > 0 ? [`${signs.drained} ${drained} drained`] : []),
    ...(away > 0 ? [`${signs.gone} ${away} not seen for a day`] : []),
  ];
  const heading = buildHeading(`HOSTS ${hosts.length}`, hosts.length === 0 ? "none yet" : notes.join("  "));
  const widths = {
    name: measureLongest(hosts.map(({ host }) => shortenOwner(host))),
    load: measureLongest(hosts.map(formatHostLoad)),
  };
  const [first] = hosts;
  const drawHost = [drawHostBar, drawHostName].find((draw) => {
    const cell = first === undefined ? 0 : measureSpans(draw(first, widths, signs));
    return hosts.length <= MOST_HOST_LINES * Math.floor((width + 2) / (cell + 2));
  });
  const strip =
    drawHost === undefined
      ? drawHostLevels(hosts, width, signs)
      : wrapPieces(
          hosts.map((host) => setTarget(drawHost(host, widths, signs), { kind: "host", name: host.host })),
          width,
          2,
        );
  return [heading, ...strip];
}

/** Maximum width of a column beside others. */
const MOST_COLUMN_WIDTH = 14;

function measureLongest(texts: readonly string[]): number {
  return Math.min(MOST_COLUMN_WIDTH, Math.max(0, ...texts.map((text) => computeDisplayWidth(text))));
}

/** Formats what a host is busy with: `cpu 12/16`. */
export function formatHostLoad(host: HostLoad): string {
  const { isDrained, fullest, state, held } = host;
  if (isDrained) return "drained";
  if (isAway(host)) return state;
  if (fullest !== undefined) return formatShare(fullest);
  return state === "busy" ? `${held} held` : state;
}

interface CellWidths {
  name: number;
  load: number;
}

const BAR_WIDTH = 6;

function drawHostBar(host: HostLoad, { name, load }: CellWidths, signs: DrawingSigns): TextSpan[] {
  const role = getHostLoadTone(host);
  const { used = 0, total } = host.fullest ?? {};
  const bar =
    host.isDrained || isAway(host)
      ? [{ text: drawHostLevel(host, signs).repeat(BAR_WIDTH), role }]
      : drawBar({ used, total }, BAR_WIDTH, role, signs);
  return [
    { text: `${fitText(shortenOwner(host.host), name)} ` },
    ...bar,
    { text: " " },
    { text: fitText(formatHostLoad(host), load), role: role === "held" || role === "free" ? "quiet" : role },
  ];
}

function drawHostName(host: HostLoad, { name }: CellWidths, signs: DrawingSigns): TextSpan[] {
  const role = getHostLoadTone(host);
  return [
    { text: `${drawHostLevel(host, signs)} `, role },
    { text: fitText(shortenOwner(host.host), name), role: role === "quiet" ? "quiet" : undefined },
  ];
}

/** Draws one character for each host, in groups of ten. */
function drawHostLevels(hosts: readonly HostLoad[], width: number, signs: DrawingSigns): Drawing {
  const groups = Array.from({ length: Math.ceil(hosts.length / 10) }, (_, at) =>
    hosts.slice(at * 10, at * 10 + 10).map(
      (host): TextSpan => ({
        text: drawHostLevel(host, signs),
        role: getHostLoadTone(host),
        target: { kind: "host", name: host.host },
      }),
    ),
  );
  const lines = wrapPieces(groups, width, 1);
  if (lines.length <= MOST_HOST_LINES) return lines;
  const shown = lines.slice(0, MOST_HOST_LINES - 1);
  const count = shown.flat().filter(({ role }) => role !== undefined).length;
  return [...shown, [{ text: `and ${hosts.length - count} more`, role: "quiet" }]];
}

/** The smallest value of a graph that is drawn. */
const MIN_DRAWN_VALUE = 0.01;
const FAILURES_NOTE: readonly TextSpan[] = [
  { text: ", ", role: "quiet" },
  { text: "failures", role: "problem" },
];

/** Draws who held and waited: the holders stand on a line, from which the waiters hang. */
function drawActivity(
  { activity }: Overview,
  { width, signs }: OverviewLook,
  heights: readonly [number, number],
): Drawing {
  const { waiters, failures, from, until } = activity;
  const bad = failures.map((count) => count > 0);
  // A run that failed at once has held for no time, and is seen all the same.
  const holders = activity.holders.map((value, at) => (bad[at] ? Math.max(MIN_DRAWN_VALUE, value) : value));
  const graph = drawGraph([holders, waiters], { heights, tones: ["accent", "waiting"], bad }, signs);
  const columns = countGraphValues(width, signs) / signs.perCell;
  const indent = " ".repeat(width - columns);
  const title: TextSpan[] = [
    { text: "ACTIVITY", role: "heading" },
    { text: "  " },
    { text: "holders", role: "accent" },
    ...(bad.includes(true) ? FAILURES_NOTE : []),
    { text: " above, ", role: "quiet" },
    { text: "waiters", role: "waiting" },
    { text: ` below, last ${formatBriefDuration(until - from)}`, role: "quiet" },
  ];
  return [
    setTarget(title, { kind: "listing", name: "history" }),
    ...graph,
    [{ text: indent + drawTimeAxis({ from, until }, columns), role: "quiet" }],
  ];
}

/** Draws the lists, side by side as far as there is room. */
function drawLists(lists: Overview, look: OverviewLook): Drawing[] {
  const count = look.width >= MIN_WIDE_COLUMNS ? 3 : 2;
  const width = Math.floor((look.width - 2 * (count - 1)) / count);
  const part = { ...look, width };
  const beside = [drawQueues(lists, part), drawNextRuns(lists, part)].map((lines) => ({ lines, width }));
  if (count === 3) return [joinDrawings([...beside, { lines: drawFailures(lists, part), width }])];
  return [joinDrawings(beside), drawFailures(lists, look)];
}

/** Draws the longest queues, each with the number of its waiters over the span of the activity. */
function drawQueues({ queues }: Overview, look: OverviewLook): Drawing {
  const { width, signs, wall } = look;
  const rows = queues.map(({ kind, name, waiting, since, trend }): ListRow => {
    const age = since === undefined ? 0 : wall - since;
    const shown = trend.slice(-Math.max(4, Math.floor(width / 4)));
    const most = Math.max(...shown);
    return {
      target: { kind, name },
      cells: [
        { text: shortenResourceName(name) },
        { text: shown.map((value) => drawLevel(value / most, signs)).join(""), role: "waiting" },
        { text: String(waiting) },
        { text: since === undefined ? "" : formatBriefDuration(age), role: judgeWaitAge(age) },
      ],
    };
  });
  return drawList(
    "BUSIEST QUEUES",
    rows.length === 0 ? "nobody waits" : "waiters, longest wait",
    rows,
    width,
  );
}

function drawNextRuns({ next }: Overview, { width, wall }: OverviewLook): Drawing {
  const rows = next.map(
    ({ id, at, state }): ListRow => ({
      target: { kind: "schedule", name: id },
      cells: [
        { text: id },
        { text: state, role: getScheduleTone(state) },
        { text: formatTimeUntilNext(at, wall), role: at <= wall ? "waiting" : "plain" },
      ],
    }),
  );
  return drawList("NEXT RUNS", rows.length === 0 ? "no schedule has a next run" : "", rows, width);
}

function drawFailures({ failures }: Overview, { width, wall }: OverviewLook): Drawing {
  const rows = failures.map(({ kind, name, result, endedAt, host, reason = "" }): ListRow => {
    const where = host === undefined ? "" : ` on ${shortenOwner(host)}`;
    const why = reason === "" ? "" : `: ${reason}`;
    return {
      target: { kind, name },
      cells: [
        { text: `${kind} ${name}${where}${why}` },
        { text: result, role: "problem" },
        { text: `${formatBriefDuration(wall - endedAt)} ago`, role: "quiet" },
      ],
    };
  });
  return drawList("LAST FAILURES", rows.length === 0 ? "none recorded" : "", rows, width);
}

/** The cells of a line. The first one gets the width that the others leave; what is behind the second is on the right. */
interface ListRow {
  cells: readonly (TextSpan | readonly TextSpan[])[];
  target: PictureTarget;
}

function drawList(title: string, note: string, rows: readonly ListRow[], width: number): Drawing {
  const cells = rows.map((row) => row.cells.map((cell) => ("text" in cell ? [cell] : cell)));
  const widths = cells.reduce<number[]>(
    (most, row) => row.map((spans, at) => Math.max(most[at] ?? 0, measureSpans(spans))),
    [],
  );
  const [, ...others] = widths;
  const first = Math.max(
    1,
    others.reduce((left, one) => left - one - 1, width),
  );
  const lines = cells.map(([name = [], ...more]) => [
    ...name.map((span) => ({ ...span, text: fitText(span.text, first) })),
    ...more.flatMap((spans, at): TextSpan[] => {
      const blanks = { text: " ".repeat((others[at] ?? 0) - measureSpans(spans)) };
      return [{ text: " " }, ...(at === 0 ? [...spans, blanks] : [blanks, ...spans])];
    }),
  ]);
  const linked = rows.map(({ target }, at) => setTarget(lines[at] ?? [], target));
  return [buildHeading(title, note), ...linked].map((line) => clipSpans(line, width));
}

/** Draws the state of etcd: `● etcd 3/3 members, leader m1, 3.6.4, 2 ms`, and its limits beside that if there is room. */
function drawEtcd(etcd: EtcdSummary, { signs, wall, width }: OverviewLook, hasLimits: boolean): Drawing {
  if (etcd.kind === "silence") {
    const text = `${signs.marks.problem}etcd has not answered for ${formatBriefDuration(wall - etcd.since)}: ${etcd.error.message}`;
    return [[{ text: fitText(text, width).trimEnd(), role: "problem" }]];
  }
  const { up, total, leader, version, ms } = etcd;
  const tone = up < total || leader === undefined ? "problem" : "held";
  const parts = [
    `${up}/${pluralize(total, "member")}`,
    leader === undefined ? "no leader" : `leader ${leader}`,
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(hasLimits && etcd.load !== undefined ? [] : [`${Math.max(1, Math.round(ms))} ms`]),
  ];
  const text = fitText(parts.join(` ${signs.dot} `), Math.max(1, width - 7)).trimEnd();
  const facts: TextSpan[] = [
    { text: `${signs.marks[tone]}etcd `, role: tone },
    { text, role: tone === "held" ? "plain" : tone },
  ];
  const lines = wrapPieces([facts, ...drawEtcdLimits(etcd, signs)], width, 2);
  const [first = [], ...more] = lines.map((line) => setTarget(line, { kind: "listing", name: "members" }));
  return hasLimits ? [first, ...more] : [first];
}

/** Draws how near etcd is to its limits: `quota █░░░░░ 9.2 MiB of 2.0 GiB`, the lag and the delay of an answer. */
function drawEtcdLimits({ load, ms }: Pick<EtcdAnswer, "load" | "ms">, signs: DrawingSigns): TextSpan[][] {
  if (load === undefined) return [];
  const { database, lag } = load;
  const drawLimit = (title: string, share: Share & { total: number }, text: string): TextSpan[] => {
    const part = share.used / share.total;
    const tone = part >= NEARLY_FULL ? "problem" : part >= 0.5 ? "waiting" : "accent";
    return [
      { text: `${title} `, role: "quiet" },
      ...drawBar(share, BAR_WIDTH, tone, signs),
      { text: ` ${text}`, role: tone === "accent" ? "plain" : tone },
    ];
  };
  const quota = database && `${formatBytes(database.used)} of ${formatBytes(database.total)}`;
  return [
    ...(database === undefined ? [] : [drawLimit("quota", database, quota ?? "")]),
    drawLimit("raft lag", { used: lag, total: FULL_BAR_LAG }, lag === 0 ? "< 100" : String(lag)),
    drawLimit(
      "latency",
      { used: ms, total: FULL_BAR_DELAY_MS },
      ms < 10 ? "< 10 ms" : `${Math.round(ms)} ms`,
    ),
  ];
}

/** Makes all of a line lead to an object or a listing. */
function setTarget(line: readonly TextSpan[], target: PictureTarget): TextSpan[] {
  return line.map((span) => ({ ...span, target }));
}
