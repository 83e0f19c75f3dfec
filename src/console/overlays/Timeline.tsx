import { useMemo, useState } from "react";
import { cleanToWidth } from "../../base/display-width.ts";
import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { clean } from "../../base/text.ts";
import type { KeyRange } from "../../protocol/txn.ts";
import type { TimeSpan } from "../../state/forecast.ts";
import { buildQueueId, type Snapshot } from "../../state/snapshot.ts";
import type { ActionableSubject } from "../../state/subject.ts";
import {
  buildHostTimeline,
  buildRunBars,
  buildTimeline,
  type RunBar,
  type TimelineInputs,
  type TimelineTrack,
} from "../../state/timeline.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { OutcomeReader } from "../data/outcome-reader.ts";
import { chooseSubject, toQueueSubject } from "../parts/marks.ts";
import { clamp } from "../state/cursor.ts";
import { wrapRows } from "../theme/Row.tsx";
import { openTarget } from "./Dialog.tsx";
import { moveInList, OverlayFrame, useKeys, useOutcomes, useOverlay } from "./OverlayFrame.tsx";
import { TextView } from "./output.tsx";
import {
  ASCII_VIEW_SIGNS,
  buildTimelineRows,
  describeRun,
  listRunFacts,
  UNICODE_VIEW_SIGNS,
} from "./timeline-rows.ts";

/** The period that a timeline shows. */
interface TimeWindow {
  /** ms. */
  readonly length: number;
  /** ms since the epoch; undefined: the window follows the present. */
  readonly end: number | undefined;
}

/** The window of a timeline without runs. */
export const FIRST_WINDOW: TimeWindow = { length: 3_600_000, end: undefined };

const SHORTEST = 10_000;
const LONGEST = 64 * 86_400_000;

/** Returns the shortest of a few windows that contains all runs: a timeline begins with it, and `0` returns to it. */
export function fitWindow(bars: readonly RunBar[], now: number): TimeWindow {
  if (bars.length === 0) return FIRST_WINDOW;
  const oldest = bars.reduce(
    (least, { waitedFrom, from }) => Math.min(least, waitedFrom ?? from ?? now),
    now,
  );
  let length = FIRST_WINDOW.length / 4;
  while (length < now - oldest && length < LONGEST) length *= 2;
  return { length: Math.min(length, LONGEST), end: undefined };
}

export function getWindowSpan({ length, end }: TimeWindow, now: number): TimeSpan {
  const until = Math.max(length, end ?? now);
  return { from: until - length, until };
}

/** Halves or doubles the length. A window that follows the present continues to; another one keeps its middle. */
export function zoomWindow(window: TimeWindow, by: "in" | "out", now: number): TimeWindow {
  const wanted = by === "in" ? window.length / 2 : window.length * 2;
  const length = clamp(wanted, SHORTEST, LONGEST);
  if (window.end === undefined) return { length, end: undefined };
  return stopAtPresent({ length, end: window.end + (length - window.length) / 2 }, now);
}

/** Moves by a quarter of the length. A window that reaches the present follows it again. */
export function panWindow(window: TimeWindow, by: -1 | 1, now: number): TimeWindow {
  const { length, end = now } = window;
  return stopAtPresent({ length, end: end + (by * length) / 4 }, now);
}

function stopAtPresent(window: { length: number; end: number }, now: number): TimeWindow {
  const { length, end } = window;
  return end >= now ? { length, end: undefined } : { length, end: Math.max(length, end) };
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
    const all = { from: now - LONGEST, until: now };
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
      ]}
      width={room.width}
    />
  );
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
  return readsAll ? [keys.getOutcomesRange()] : undefined;
}

/** The subject of a timeline. */
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
