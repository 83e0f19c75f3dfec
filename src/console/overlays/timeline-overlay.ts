import { cleanToWidth } from "../../base/display-width.ts";
import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { clean } from "../../base/text.ts";
import { toSingleKeyRange } from "../../commands/read-snapshot.ts";
import { wrapProseLines } from "../../commands/see/detail.ts";
import type { TimeSpan } from "../../state/forecast.ts";
import { buildQueueId, type Snapshot } from "../../state/snapshot.ts";
import type { Subject } from "../../state/subject.ts";
import {
  buildHostTimeline,
  buildRunBars,
  buildTimeline,
  type RunBar,
  type TimelineInputs,
  type TimelineTrack,
} from "../../state/timeline.ts";
import { OutcomeReader } from "../data/outcome-reader.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { createSameRowCheck } from "../parts/navigation.ts";
import type { Overlay, OverlayModel } from "../parts/overlay.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { createRow } from "../theme/cells.ts";
import { openTarget } from "./dialog-openers.ts";
import { openText } from "./text-overlay.ts";
import {
  ASCII_VIEW_SIGNS,
  buildTimelineRows,
  describeRun,
  listRunFacts,
  UNICODE_VIEW_SIGNS,
} from "./timeline-rows.ts";

/** The part of the time that a timeline shows. */
interface TimeWindow {
  /** ms. */
  readonly length: number;
  /** ms since the epoch; undefined: it follows the present. */
  readonly end: number | undefined;
}

/** The window that a timeline begins with, and `0` returns to. */
export const FIRST_WINDOW: TimeWindow = { length: 3_600_000, end: undefined };

const SHORTEST = 10_000;
const LONGEST = 64 * 86_400_000;

export function getWindowSpan({ length, end }: TimeWindow, now: number): TimeSpan {
  const until = Math.max(length, end ?? now);
  return { from: until - length, until };
}

/** Halves or doubles the length. A window that follows the present goes on so; another one keeps its middle. */
export function zoomWindow(window: TimeWindow, by: "in" | "out", now: number): TimeWindow {
  const wanted = by === "in" ? window.length / 2 : window.length * 2;
  const length = Math.max(SHORTEST, Math.min(LONGEST, wanted));
  if (window.end === undefined) return { length, end: undefined };
  return stopAtPresent({ length, end: window.end + (length - window.length) / 2 }, now);
}

/** Moves a quarter of the length. At the present, it follows that again. */
export function panWindow(window: TimeWindow, by: -1 | 1, now: number): TimeWindow {
  const { length, end = now } = window;
  return stopAtPresent({ length, end: end + (by * length) / 4 }, now);
}

function stopAtPresent(window: { length: number; end: number }, now: number): TimeWindow {
  const { length, end } = window;
  return end >= now ? { length, end: undefined } : { length, end: Math.max(length, end) };
}

/** Shows who held an object when, who waited, and when it was drained. Follows the present until it is moved. */
class TimelineOverlay implements Overlay {
  readonly #app: ConsoleParts;
  readonly #subject: TimelineSubject;
  /** Only for what schedules do. */
  readonly #reader: OutcomeReader | undefined;
  #window: TimeWindow = FIRST_WINDOW;
  /** The run under the cursor; undefined: the last one. */
  #chosen: string | undefined;
  #bars: readonly RunBar[] = [];
  #last: { key: readonly unknown[]; tracks: readonly TimelineTrack[] } | undefined;

  constructor(app: ConsoleParts, subject: TimelineSubject, reader: OutcomeReader | undefined) {
    this.#app = app;
    this.#subject = subject;
    this.#reader = reader;
  }

  onInput(event: InputEvent): void {
    if (event.kind === "mouse") return this.#handleKey(event.action);
    if (event.kind === "key") this.#handleKey(event.chord);
  }

  #handleKey(chord: string): void {
    const now = this.#app.getShownTime();
    switch (chord) {
      case "escape":
      case "q":
      case "t":
        return this.#app.overlays.close(this);
      case "+":
      case "=":
        this.#window = zoomWindow(this.#window, "in", now);
        break;
      case "-":
        this.#window = zoomWindow(this.#window, "out", now);
        break;
      case "left":
      case "h":
        this.#window = panWindow(this.#window, -1, now);
        break;
      case "right":
      case "l":
        this.#window = panWindow(this.#window, 1, now);
        break;
      case "0":
        this.#window = FIRST_WINDOW;
        this.#chosen = undefined;
        break;
      case "enter":
        return this.#open();
      default:
        return this.#moveCursor(chord);
    }
    this.#app.notifyChange();
  }

  #moveCursor(chord: string): void {
    const by = MOVES[chord];
    if (by === undefined) return;
    const at = Math.max(0, Math.min(this.#bars.length - 1, this.#findCursor() + by));
    const bar = this.#bars[at];
    this.#chosen = bar && getBarId(bar);
    this.#app.notifyChange();
  }

  /** The chosen run; if it is out of sight, the last one. */
  #findCursor(): number {
    const at = this.#bars.findIndex((bar) => getBarId(bar) === this.#chosen);
    return at < 0 ? this.#bars.length - 1 : at;
  }

  #open(): void {
    const bar = this.#bars[this.#findCursor()];
    if (bar !== undefined) openRunBar(this.#app, bar, this.#findOutcome(bar));
  }

  /** What is stored of an ended run of a schedule. */
  #findOutcome({ subject, run }: RunBar): RunEnd | undefined {
    const history = this.#reader?.outcomes.get(subject.slice("schedule ".length));
    return history?.runs.find((one) => one.run === run);
  }

  #buildTracks(): readonly TimelineTrack[] {
    const { snapshot } = this.#app.liveView;
    const { kind, name } = this.#subject;
    this.#reader?.refresh(kind === "schedule" ? snapshot.dues.get(name) : snapshot.dues, snapshot);
    const now = this.#app.getShownTime();
    const known = this.#reader?.outcomes;
    // A host's runs are searched among all: once a second is enough.
    const key = [kind === "host" ? undefined : snapshot, known, this.#window, Math.floor(now / 1000)];
    const last = this.#last;
    if (last !== undefined && key.every((part, at) => part === last.key[at])) return last.tracks;
    const outcomes = new Map([...(known ?? [])].map(([id, { runs }]) => [id, runs]));
    const span = getWindowSpan(this.#window, now);
    const tracks = buildSubjectTracks(this.#subject, { snapshot, outcomes }, span);
    this.#last = { key, tracks };
    return tracks;
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const span = getWindowSpan(this.#window, this.#app.getShownTime());
    const tracks = this.#buildTracks();
    this.#bars = buildRunBars(tracks);
    const { kind, name } = this.#subject;
    const { isAscii } = this.#app.theme.signs;
    const until = this.#window.end === undefined ? "now" : formatInstant(span.until);
    const title = `timeline ${cleanToWidth(`${kind} ${name}`, Math.max(8, available.width - 46))}: ${formatBriefDuration(this.#window.length)} until ${until}`;
    const rows = buildTimelineRows(
      {
        tracks,
        bars: this.#bars,
        span,
        cursor: this.#findCursor(),
        signs: isAscii ? ASCII_VIEW_SIGNS : UNICODE_VIEW_SIGNS,
        isMixed: kind === "host",
        note: this.#reader?.obstacle ?? describeTimelineGap(kind, this.#reader !== undefined),
      },
      available,
    );
    return {
      title,
      content: { kind: "text", rows },
      width: available.width,
      at: "middle",
      hints: [
        ["+ -", "zoom"],
        ["←→", "move"],
        ["0", "now"],
        ["↑↓", "run"],
        ["Enter", "open"],
        ["Esc", "close"],
      ],
    };
  }

  onClose(): void {
    this.#reader?.end();
  }
}

const MOVES: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  "wheel-up": -1,
  pageup: -10,
  home: Number.NEGATIVE_INFINITY,
  g: Number.NEGATIVE_INFINITY,
  down: 1,
  j: 1,
  "wheel-down": 1,
  pagedown: 10,
  end: Number.POSITIVE_INFINITY,
  G: Number.POSITIVE_INFINITY,
};

function getBarId({ subject, run, from, waitedFrom }: RunBar): string {
  return JSON.stringify(run === "" ? [subject, waitedFrom ?? from] : [subject, run]);
}

/** What is stored of the end of a run. */
interface RunEnd {
  code?: number;
  reason?: string;
  tail?: string;
}

/** Opens the details of a run that goes on, or the facts and the stored output of one that has ended. */
function openRunBar(app: ConsoleParts, bar: RunBar, outcome: RunEnd | undefined): void {
  const [kind, name] = splitSubject(bar.subject);
  const title = `run ${bar.run}`;
  if (bar.until === undefined && (kind === "lock" || kind === "resource"))
    return openTarget(app, { title, subject: { kind: "run", name: bar.run, queue: { kind, name } } });
  const history = kind === "lock" ? app.liveView.snapshot.histories.get(name) : undefined;
  const end = outcome ?? history?.find(({ run }) => run === bar.run);
  openText(app, {
    title,
    buildRows: (width) => {
      const lines = [describeRun(bar), ...listRunFacts(bar, app.getShownTime()), ...listEndLines(bar, end)];
      return wrapProseLines(
        lines.map((line) => clean(line)),
        app.theme.createLook(width),
      ).map((line) => createRow(line));
    },
  });
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

/** Most schedules whose outcomes are read for the timeline of a host. */
const MOST_SCHEDULES = 1_000;

/** Opens the timeline of the selected lock, resource, host or schedule. */
export function openTimeline(app: ConsoleParts): void {
  const [chosen] = getChosenSubjects(app);
  const subject = findTimelineSubject(chosen);
  if (subject === undefined)
    return app.showToast(
      "timeline: select a lock, a resource, a host or a schedule",
      "problem",
      createSameRowCheck(app),
    );
  const { context } = app;
  const { kind, name } = subject;
  const readsAll = kind === "host" && app.liveView.snapshot.schedules.size <= MOST_SCHEDULES;
  const ranges = {
    schedule: () => toSingleKeyRange(context.keys.outcomes(name)),
    host: () => context.keys.getOutcomesRange(),
  };
  const range = kind === "schedule" || (kind === "host" && readsAll) ? ranges[kind]() : undefined;
  const reader = range && new OutcomeReader(context, range, () => app.notifyChange());
  app.overlays.open(new TimelineOverlay(app, subject, reader));
}

/** What a timeline can be about. */
interface TimelineSubject {
  kind: "lock" | "resource" | "host" | "schedule";
  name: string;
}

/** Returns what the timeline of a row is about; undefined if it has none. */
function findTimelineSubject(subject: Subject | undefined): TimelineSubject | undefined {
  switch (subject?.kind) {
    case "lock":
    case "resource":
    case "host":
    case "schedule":
      return { kind: subject.kind, name: subject.name };
    case "run":
      return subject.queue;
    case "record":
      return findTimelineSubject(subject.about);
    case "drain":
      return subject.scope === "all" || subject.scope === "group"
        ? undefined
        : { kind: subject.scope, name: subject.name };
    default:
      return undefined;
  }
}

/** Builds the tracks of a subject. Looks only at its own part of the snapshot, which may be large. */
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
    histories: kind === "lock" ? pick(snapshot.histories, name) : new Map(),
    executions: kind === "schedule" ? pick(snapshot.executions, name) : new Map(),
  };
  const inputs = { snapshot: own, outcomes: kind === "schedule" ? pick(outcomes, name) : new Map() };
  return buildTimeline(inputs, span).filter(({ subject }) => subject === `${kind} ${name}`);
}

function pick<T>(map: ReadonlyMap<string, T>, key: string): Map<string, T> {
  const value = map.get(key);
  return new Map(value === undefined ? [] : [[key, value]]);
}

/** What a timeline of this kind cannot show. @param hasOutcomes  whether the outcomes of schedules are read */
function describeTimelineGap(kind: TimelineSubject["kind"], hasOutcomes: boolean): string {
  switch (kind) {
    case "lock":
      return "its history has the last 20 runs";
    case "resource":
      return "ended runs of resources are not stored: only those of now";
    case "host":
      return hasOutcomes
        ? "the last 20 runs of each lock, and what schedules keep"
        : "the last 20 runs of each lock; there are too many schedules to read their runs";
    case "schedule":
      return "runs as far as its --keep and --keep-for keep them";
  }
}
