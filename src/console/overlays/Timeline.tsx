import { useMemo, useState } from "react";
import { ASCII_DRAWING, drawLevel, UNICODE_DRAWING } from "../../cli/views/drawing.ts";
import { type BarCell, countBandCells, drawRunBar, drawTimeAxis } from "../../cli/views/timeline-drawing.ts";
import { formatBriefDuration, formatInstant, type WallTime } from "../../core/base/clock.ts";
import { cleanToWidth } from "../../core/base/display-width.ts";
import { clean, collectTexts } from "../../core/base/text.ts";
import type { KeyRange } from "../../core/protocol/txn.ts";
import type { TimeSpan } from "../../site/state/forecast.ts";
import { computeUnitPeaks } from "../../site/state/resource-use.ts";
import { buildQueueId, type Snapshot } from "../../site/state/snapshot.ts";
import type { ActionableSubject } from "../../site/state/subject.ts";
import {
  buildHostTimeline,
  buildRunBars,
  buildTimeline,
  isFailedResult,
  type RunBar,
  type TimelineInputs,
  type TimelineTrack,
} from "../../site/state/timeline.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { OutcomeReader } from "../data/outcome-reader.ts";
import { chooseSubject, toQueueSubject } from "../parts/marks.ts";
import { clamp, computeWindowTop } from "../state/cursor.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { createRow, padText, type RowCell, type RowModel, wrapRows } from "../theme/Row.tsx";
import { openComparison } from "./Comparison.tsx";
import { openTarget } from "./Dialog.tsx";
import { moveInList, OverlayFrame, useKeys, useOutcomes, useOverlay } from "./OverlayFrame.tsx";
import { TextView } from "./output.tsx";

/** Maximum number of schedules whose outcomes are read for the timeline of a host or a resource. */
const MOST_SCHEDULES = 1_000;

/** Opens the timeline of the selected lock, resource, host or schedule. */
export function openTimeline(app: ConsoleApp): void {
  const kinds = ["lock", "resource", "host", "schedule"] as const;
  const refusal = "timeline: select a lock, a resource, a host or a schedule";
  const subject = chooseSubject(app, kinds, refusal, toTimelineSubject);
  if (subject === undefined) return;
  app.overlays.open(<Timeline subject={subject} ranges={listOutcomeRanges(app, subject)} />);
}

function listOutcomeRanges({ context: { keys }, liveView }: ConsoleApp, { kind, name }: TimelineSubject) {
  if (kind === "schedule") return keys.listOutcomeRanges(name);
  const readsAll = kind !== "lock" && liveView.snapshot.schedules.size <= MOST_SCHEDULES;
  return readsAll ? [keys.outcomeHistories()] : undefined;
}

interface TimelineSubject {
  kind: "lock" | "resource" | "host" | "schedule";
  name: string;
}

/** Converts a subject to one with a timeline: a drain to its target, a run to its queue. */
function toTimelineSubject(subject: ActionableSubject): ActionableSubject | undefined {
  if (subject.kind !== "drain") return toQueueSubject(subject);
  const { scope, name } = subject;
  return scope === "all" ? undefined : { kind: scope, name };
}

interface TimelineProps {
  subject: TimelineSubject;
  /** The outcomes of schedules to show. */
  ranges: readonly Required<KeyRange>[] | undefined;
}

/** Shows who held an object when, who waited, and when it was drained. Follows the present until it is moved. */
function Timeline({ subject, ranges }: TimelineProps) {
  const { app, room, close } = useOverlay();
  const { kind, name } = subject;
  const { snapshot } = app.liveView;
  const reader = useOutcomes(ranges, kind === "schedule" ? snapshot.dues.get(name) : snapshot.dues);
  /** Undefined until the user chooses a window; until then, the window fits the runs. */
  const [chosenWindow, setWindow] = useState<TimeWindow>();
  /** The run under the cursor; undefined: the last one. */
  const [chosen, setChosen] = useState<string>();
  const now = app.getShownTime();
  const second = Math.floor(now / 1000);
  const known = reader?.outcomes;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it stays as it is while runs come and go
  const fitted = useMemo(() => {
    const outcomes = listRunsBySchedule(known);
    const all = { from: now - MAX_SPAN_MS, until: now };
    return fitWindow(buildRunBars(buildSubjectTracks(subject, { snapshot, outcomes }, all)), now);
  }, [subject, known]);
  const window = chosenWindow ?? fitted;
  const span = getWindowSpan(window, now);
  const isSearched = kind === "host" || kind === "resource";
  // biome-ignore lint/correctness/useExhaustiveDependencies: these runs are searched among all, so once a second is enough
  const { tracks, bars } = useMemo(() => {
    const outcomes = listRunsBySchedule(known);
    const found = buildSubjectTracks(subject, { snapshot, outcomes }, span);
    return { tracks: found, bars: buildRunBars(found) };
  }, [subject, isSearched ? undefined : snapshot, known, window, second]);
  const wanted = bars.findIndex((bar) => getBarId(bar) === chosen);
  const cursor = wanted < 0 ? bars.length - 1 : wanted;
  const move = (chord: string) => {
    const to = moveInList(cursor, bars.length, chord);
    const bar = bars[to];
    if (to !== cursor) setChosen(bar && getBarId(bar));
  };
  const open = () => {
    const bar = bars[cursor];
    if (bar === undefined) return;
    const history = reader?.outcomes.get(bar.subject.slice("schedule ".length));
    openRunBar(
      app,
      bar,
      history?.runs.find(({ run }) => run === bar.run),
    );
  };
  const compare = () => {
    const bar = bars[cursor];
    const from = bar?.waitedFrom ?? bar?.from ?? span.from;
    const until = bar === undefined ? window.end : bar.until;
    openComparison(app, { at: from - 1 }, { at: until ?? now });
  };
  const zoom = (by: "in" | "out") => () => setWindow(zoomWindow(window, by, now));
  const pan = (by: -1 | 1) => () => setWindow(panWindow(window, by, now));
  const showNow = () => {
    setWindow(undefined);
    setChosen(undefined);
  };
  const keys = {
    q: close,
    t: close,
    "+": zoom("in"),
    "=": zoom("in"),
    "-": zoom("out"),
    left: pan(-1),
    h: pan(-1),
    right: pan(1),
    l: pan(1),
    "0": showNow,
    enter: open,
    c: compare,
  };
  useKeys(keys, move);
  const until = window.end === undefined ? "now" : formatInstant(span.until);
  const what = cleanToWidth(`${kind} ${name}`, Math.max(8, room.width - 46));
  const rows = buildTimelineRows(
    {
      tracks,
      bars,
      span,
      cursor,
      signs: app.theme.signs.isAscii ? ASCII_VIEW_SIGNS : UNICODE_VIEW_SIGNS,
      isMixed: kind === "host",
      note: reader?.obstacle ?? describeTimelineGap(kind, reader !== undefined),
    },
    room,
  );
  return (
    <OverlayFrame
      title={`timeline ${what}: ${formatBriefDuration(window.length)} until ${until}`}
      rows={rows}
      hints={[
        ["+ -", "zoom"],
        ["←→", "move"],
        ["0", "now"],
        ["↑↓", "run"],
        ["Enter", "open"],
        ["c", "compare before and after"],
      ]}
      width={room.width}
    />
  );
}

/** The period that a timeline shows. */
interface TimeWindow {
  /** ms. */
  readonly length: number;
  /** ms since the epoch; undefined: the window follows the present. */
  readonly end: number | undefined;
}

/** The window of a timeline without runs. */
export const FIRST_WINDOW: TimeWindow = { length: 3_600_000, end: undefined };

const MIN_SPAN_MS = 10_000;
const MAX_SPAN_MS = 64 * 86_400_000;

/** Returns the shortest of a few windows that contains all runs: a timeline begins with it, and `0` returns to it. */
export function fitWindow(bars: readonly RunBar[], now: WallTime): TimeWindow {
  if (bars.length === 0) return FIRST_WINDOW;
  const oldest = bars.reduce(
    (least, { waitedFrom, from }) => Math.min(least, waitedFrom ?? from ?? now),
    now,
  );
  let length = FIRST_WINDOW.length / 4;
  while (length < now - oldest && length < MAX_SPAN_MS) length *= 2;
  return { length: Math.min(length, MAX_SPAN_MS), end: undefined };
}

export function getWindowSpan({ length, end }: TimeWindow, now: WallTime): TimeSpan {
  const until = Math.max(length, end ?? now);
  return { from: until - length, until };
}

/** Halves or doubles the length. A window that follows the present continues to; another one keeps its middle. */
export function zoomWindow(window: TimeWindow, by: "in" | "out", now: WallTime): TimeWindow {
  const wanted = by === "in" ? window.length / 2 : window.length * 2;
  const length = clamp(wanted, MIN_SPAN_MS, MAX_SPAN_MS);
  if (window.end === undefined) return { length, end: undefined };
  return stopAtPresent({ length, end: window.end + (length - window.length) / 2 }, now);
}

/** Moves by a quarter of the length. A window that reaches the present follows it again. */
export function panWindow(window: TimeWindow, by: -1 | 1, now: WallTime): TimeWindow {
  const { length, end = now } = window;
  return stopAtPresent({ length, end: end + (by * length) / 4 }, now);
}

function stopAtPresent(window: { length: number; end: number }, now: WallTime): TimeWindow {
  const { length, end } = window;
  return end >= now ? { length, end: undefined } : { length, end: Math.max(length, end) };
}

function listRunsBySchedule(outcomes: OutcomeReader["outcomes"] = new Map()): TimelineInputs["outcomes"] {
  return new Map([...outcomes].map(([id, { runs }]) => [id, runs]));
}

function getBarId({ subject, run, from, waitedFrom }: RunBar): string {
  return JSON.stringify(run === "" ? [subject, waitedFrom ?? from] : [subject, run]);
}

/** The stored result of a run. */
interface RunEnd {
  code?: number;
  reason?: string;
  tail?: string;
}

/** Opens the details of a run that has not ended, or the facts and the stored output of one that has. */
function openRunBar(app: ConsoleApp, bar: RunBar, outcome: RunEnd | undefined): void {
  const [kind, name] = splitSubject(bar.subject);
  const title = `run ${bar.run}`;
  if (bar.until === undefined && (kind === "lock" || kind === "resource"))
    return openTarget(app, { title, subject: { kind: "run", name: bar.run, queue: { kind, name } } });
  const history = kind === "lock" ? app.liveView.snapshot.histories.get(name) : undefined;
  const end = outcome ?? history?.find(({ run }) => run === bar.run);
  app.overlays.open(<EndedRun title={title} bar={bar} end={end} />);
}

function EndedRun({ title, bar, end }: { title: string; bar: RunBar; end: RunEnd | undefined }) {
  const { app } = useOverlay();
  const lines = [describeRun(bar), ...listRunFacts(bar, app.getShownTime()), ...listEndLines(bar, end)];
  const texts = lines.map((line) => clean(line));
  return <TextView title={title} buildRows={(width) => wrapRows(app.theme, texts, width)} />;
}

function listEndLines({ until }: RunBar, { code, reason, tail }: RunEnd = {}): string[] {
  const output = tail === undefined ? ["its output is not stored"] : ["", ...tail.split("\n")];
  return [
    ...(code === undefined ? [] : [`exit code ${code}`]),
    ...(reason === undefined ? [] : [reason]),
    ...(until === undefined ? [] : output),
  ];
}

function splitSubject(subject: string): [kind: string, name: string] {
  const at = subject.indexOf(" ");
  return [subject.slice(0, at), subject.slice(at + 1)];
}

/** Builds the tracks of a subject. Uses only the subject's part of the snapshot, which may be large. */
function buildSubjectTracks(
  { kind, name }: TimelineSubject,
  { snapshot, outcomes }: { snapshot: Snapshot; outcomes: TimelineInputs["outcomes"] },
  span: TimeSpan,
): TimelineTrack[] {
  if (kind === "host") return buildHostTimeline({ snapshot, outcomes }, name, span);
  const { drains, audit, groups } = snapshot;
  const own = {
    drains,
    audit,
    groups,
    queues: kind === "schedule" ? new Map() : pick(snapshot.queues, buildQueueId(kind, name)),
    histories:
      kind === "resource" ? snapshot.histories : pick(snapshot.histories, kind === "lock" ? name : ""),
    executions: kind === "schedule" ? pick(snapshot.executions, name) : new Map(),
  };
  const inputs = { snapshot: own, outcomes: kind === "schedule" ? pick(outcomes, name) : outcomes };
  return buildTimeline(inputs, span).filter(({ subject }) => subject === `${kind} ${name}`);
}

function pick<T>(map: ReadonlyMap<string, T>, key: string): Map<string, T> {
  const value = map.get(key);
  return new Map(value === undefined ? [] : [[key, value]]);
}

/** Describes what a timeline of this kind cannot show. @param hasOutcomes  whether the outcomes of schedules are read */
function describeTimelineGap(kind: TimelineSubject["kind"], hasOutcomes: boolean): string {
  switch (kind) {
    case "lock":
      return "its history has the last 20 runs";
    case "resource":
    case "host":
      return hasOutcomes
        ? "the last 20 runs of each lock, and what schedules keep"
        : "the last 20 runs of each lock; there are too many schedules to read their runs";
    case "schedule":
      return "runs as far as its --keep and --keep-for keep them";
  }
}

interface TimelineViewSigns {
  cells: Readonly<Record<BarCell, string>>;
  drain: string;
  /** See `drawLevel`. */
  levels: string;
}

const UNICODE_VIEW_SIGNS: TimelineViewSigns = {
  cells: { free: "·", wait: "░", hold: "█", failed: "▲" },
  drain: "▒",
  levels: UNICODE_DRAWING.levels,
};
const ASCII_VIEW_SIGNS: TimelineViewSigns = {
  cells: { free: ".", wait: "-", hold: "#", failed: "!" },
  drain: "x",
  levels: ASCII_DRAWING.levels,
};

const ROLES: Readonly<Record<BarCell, StyleRole>> = {
  free: "quiet",
  wait: "waiting",
  hold: "held",
  failed: "problem",
};

interface TimelineRowsInput {
  tracks: readonly TimelineTrack[];
  bars: readonly RunBar[];
  span: TimeSpan;
  /** Index of the run under the cursor. */
  cursor: number;
  signs: TimelineViewSigns;
  /** Whether the object of each run is shown, because there are several. */
  isMixed: boolean;
  note: string;
}

/** Builds a timeline: axis, drains and waiters, a bar for each run around the cursor, the facts of one, the legend. */
function buildTimelineRows(
  input: TimelineRowsInput,
  { width, height }: { width: number; height: number },
): RowModel[] {
  const { bars, span, cursor, signs } = input;
  const label = clamp(Math.floor(width / 3), 10, input.isMixed ? 36 : 24);
  const room = Math.max(4, width - label - 2);
  const facts = buildFactRows(bars[cursor], span, width);
  const note = createRow(cleanToWidth(input.note, width), "quiet");
  const below = [...facts, buildLegendRow(signs), note].slice(0, Math.max(0, height - 4)); // low screens show no legend
  const band = buildBandRows(input, label, room);
  const list = Math.max(1, height - band.length - below.length);
  const top = computeWindowTop(cursor, bars.length, list);
  const shown = bars.slice(top, top + list);
  const rows = shown.map((bar, at): RowModel => {
    const isHere = top + at === cursor;
    const name = cleanToWidth(`${isHere ? ">" : " "} ${formatBarLabel(bar, input.isMixed)}`, label);
    const cells = joinSameRoles(
      drawRunBar(bar, span, room).map((cell) => ({ text: signs.cells[cell], role: ROLES[cell] })),
    );
    return {
      cells: [{ text: padText(name, label), role: isHere ? "key" : "plain" }, { text: "  " }, ...cells],
    };
  });
  return [
    ...band,
    ...(rows.length === 0 ? [createRow("no runs are recorded in this time", "quiet")] : rows),
    ...below,
  ];
}

/** The axis, the drains and the number of waiters. */
function buildBandRows({ tracks, span, signs }: TimelineRowsInput, label: number, room: number): RowModel[] {
  const { waiters, drained } = countBandCells(tracks, span, room);
  const drains = drained.map(
    (is): RowCell =>
      is ? { text: signs.drain, role: "problem" } : { text: signs.cells.free, role: "quiet" },
  );
  const counts = waiters.map((count): RowCell => {
    const text = count === 0 ? signs.cells.free : count > 9 ? "+" : String(count);
    return { text, role: count === 0 ? "quiet" : "waiting" };
  });
  const units = buildUnitCells(tracks, span, room, signs);
  const head = (text: string): RowCell => ({
    text: padText(cleanToWidth(text, label), label + 2),
    role: "quiet",
  });
  return [
    { cells: [head("UTC"), { text: drawTimeAxis(span, room), role: "quiet" }] },
    { cells: [head("  drained"), ...joinSameRoles(drains)] },
    { cells: [head("  waiting"), ...joinSameRoles(counts)] },
    ...(units === undefined ? [] : [{ cells: [head(`  units, ${units.most} at most`), ...units.cells] }]),
  ];
}

/** Draws how many units of a resource were held; undefined for something else. */
function buildUnitCells(
  tracks: readonly TimelineTrack[],
  span: TimeSpan,
  room: number,
  { levels }: TimelineViewSigns,
): { most: number; cells: RowCell[] } | undefined {
  const held = tracks.flatMap(({ intervals }) =>
    intervals.flatMap(({ kind, from, until = span.until, units }) =>
      kind === "hold" && units !== undefined ? [{ from, until, units }] : [],
    ),
  );
  if (tracks.length !== 1 || held.length === 0) return undefined;
  const peaks = computeUnitPeaks(held, span, room);
  const most = Math.max(...peaks);
  const cells = peaks.map((peak): RowCell => {
    const text = drawLevel(peak / Math.max(1, most), { levels });
    return { text: peak === 0 ? " " : text, role: "held" };
  });
  return { most, cells: joinSameRoles(cells) };
}

/** Joins neighbouring cells with the same role, because painting each cell takes time. */
function joinSameRoles(cells: readonly RowCell[]): RowCell[] {
  const joined: RowCell[] = [];
  for (const cell of cells) {
    const last = joined.at(-1);
    if (last !== undefined && last.role === cell.role) last.text += cell.text;
    else joined.push({ ...cell });
  }
  return joined;
}

/** Formats the label of a bar: the process on its host. If several objects are shown, the object instead of the host. */
function formatBarLabel({ subject, host, pid, run }: RunBar, isMixed: boolean): string {
  if (isMixed) return `${subject} ${pid ?? run}`;
  if (host === undefined) return run;
  return `${host.split(".")[0] ?? host}${pid === undefined ? "" : `:${pid}`}`;
}

function buildFactRows(bar: RunBar | undefined, { until: now }: TimeSpan, width: number): RowModel[] {
  if (bar === undefined) return [createRow(""), createRow(""), createRow("")];
  const role: StyleRole = isFailedResult(bar.result) ? "problem" : "plain";
  return [
    createRow(""),
    createRow(cleanToWidth(describeRun(bar), width)),
    // The end comes first: at 80 columns, there is no room for the beginning of the wait.
    createRow(cleanToWidth(listRunFacts(bar, now).toReversed().join("; "), width), role),
  ];
}

function describeRun({ subject, host, pid, command, run }: RunBar): string {
  const where = host === undefined ? "" : ` on ${host}${pid === undefined ? "" : `:${pid}`}`;
  return `${subject}: ${command ?? `run ${run}`}${where}`;
}

/** Lists when a run waited and held, and how it ended. */
function listRunFacts({ waitedFrom, from, until, result }: RunBar, now: WallTime): string[] {
  const verb = from === undefined && until === undefined ? "waits" : "waited";
  const waited =
    waitedFrom !== undefined &&
    `${verb} since ${formatInstant(waitedFrom)} (${formatBriefDuration((from ?? until ?? now) - waitedFrom)})`;
  if (from === undefined) return collectTexts([waited]);
  const span =
    until === undefined
      ? `holds since ${formatInstant(from)}`
      : `held ${formatInstant(from)} until ${formatInstant(until)}`;
  const held = `${span} (${formatBriefDuration((until ?? now) - from)})`;
  return collectTexts([waited, held, result && (/^-?\d+$/.test(result) ? `exit code ${result}` : result)]);
}

function buildLegendRow({ cells, drain }: TimelineViewSigns): RowModel {
  const part = (sign: string, role: StyleRole, what: string): RowCell[] => [
    { text: sign, role },
    { text: ` ${what}  `, role: "quiet" },
  ];
  return {
    cells: [
      ...part(cells.hold, "held", "held"),
      ...part(cells.wait, "waiting", "waited"),
      ...part(cells.failed, "problem", "failed"),
      ...part(drain, "problem", "drained"),
      ...part("1-9+", "waiting", "number waiting"),
    ],
  };
}
