import {
  formatBriefDuration,
  formatDuration,
  formatInstant,
  type Millis,
  type WallTime,
} from "../../core/base/clock.ts";
import { quoteShellWord, quoteShellWords } from "../../core/base/shell.ts";
import { collectTexts } from "../../core/base/text.ts";
import { findMembership } from "../../core/fleet/groups.ts";
import type { Calendars } from "../../schedule/calendar/calendar.ts";
import { findCalendarFault } from "../../schedule/calendar/day-rule.ts";
import { listUpcoming } from "../../schedule/calendar/upcoming-days.ts";
import type { UpcomingOccurrence } from "../../schedule/cron/upcoming-occurrences.ts";
import {
  type Definition,
  formatConditions,
  getCatchup,
  getPause,
  getScheduleType,
  isPaused,
  type Pause,
  runsAtBoot,
  runsOnEveryHost,
} from "../../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../../schedule/definition-values.ts";
import { type Expectation, getExpectation } from "../../schedule/expectation.ts";
import { canHandle, getHandlerKind } from "../../schedule/handler-types.ts";
import { BOOT_PLAN, explainPlan, formatCronText, MANUAL_PLAN, parsePlan } from "../../schedule/plan.ts";
import {
  type DueState,
  type LastOccurrence,
  OPEN_KINDS,
  type OpenOccurrence,
  type SkippedOccurrences,
} from "../../schedule/state/due.ts";
import { listStates, type ShownDue } from "../../schedule/state/host-states.ts";
import { isHeadFree } from "../../schedule/state/next-candidate.ts";
import {
  isFailure,
  NO_OUTCOMES,
  OCCURRENCE_RESULTS,
  type OccurrenceOutcome,
  type OutcomeHistory,
} from "../../schedule/state/outcome.ts";
import type { RunningRecord, WorkerRecord } from "../../schedule/state/running-record.ts";
import { computeLag } from "../../schedule/timing.ts";
import { findRunnerLiveness, type SessionLivenessMap } from "../../site/state/explain.ts";
import { findMissedRuns, listMissedTimes, type MissedRuns } from "../../site/state/missed-runs.ts";
import {
  buildGroupMembers,
  type Execution,
  type Snapshot,
  type StoredValue,
} from "../../site/state/snapshot.ts";
import type { Tone } from "../../site/state/subject.ts";
import { CONTEXT_COLLECTIONS, type ViewContext } from "../../site/state/view-context.ts";
import { formatExecutionOwner } from "./claims.ts";
import {
  computeDurationWeight,
  createAgeColumn,
  createAgeMeasure,
  createNumberColumn,
  createOwnerColumn,
  createRightColumn,
  createStateColumn,
  createTextColumn,
  formatAge,
  formatFirstAndMore,
  formatIfKnown,
  formatLateness,
  getResultTone,
  shortenOwner,
} from "./columns.ts";
import {
  buildAuditTable,
  buildDetailTable,
  buildFacts,
  type Detail,
  type DetailContext,
  type Fact,
  type Section,
} from "./detail.ts";
import { formatReason } from "./drain-lines.ts";
import {
  buildDeadLetterTable,
  buildLastOutput,
  buildLongerOutput,
  buildOutcomeTable,
  RESULT_COLUMN,
} from "./history.ts";
import {
  describeChoice,
  describeCount,
  describeField,
  describeFieldsOf,
  describeInstant,
  describeInteger,
  describeNumber,
  describeObject,
  describePart,
  describeParts,
  describeRevision,
  describeText,
  describeTexts,
} from "./json.ts";
import type { SnapshotView, TableColumn } from "./view.ts";

/**
 * The states of a schedule. `overrun`: a run takes longer than expected. `due`: a worker may start the next run. `late`: the run has been due for
 * `SCHEDULE_LATE_AFTER`, and no worker started it. `missed`: what was due has not run, and nothing has since (`findMissedRuns`). `retrying`: a failed run is retried. `no-worker`: no worker has a
 * handler for it. `failed`: its last run failed, and is not retried.
 */
export const SCHEDULE_STATES = [
  "malformed",
  "overrun",
  "running",
  "paused",
  "no-worker",
  "late",
  "missed",
  "due",
  "retrying",
  "failed",
  "ended",
  "waiting",
] as const;
type ScheduleState = (typeof SCHEDULE_STATES)[number];

const OPEN_JSON = describeObject<OpenOccurrence>(
  "open",
  "An occurrence of a schedule that was started or triggered, and has not finished.",
  {
    scheduled: describeInstant("nominal time of the occurrence", "scheduled"),
    runAt: describeInstant("earliest start, unless it is running", "runAt"),
    attempt: describeCount("number of starts", "attempt"),
    failures: describeCount("number of failures", "failures"),
    kind: describeChoice(
      OPEN_KINDS,
      "origin. `trigger`: an operator triggered it; `after`: the schedules before it ended; `backfill`: a backfill started it",
      "kind",
    ),
    "postponed?": describeCount(
      "number of starts since the last failure that asked for another start later",
      "postponed",
    ),
    "data?": describeField({ description: "data for the handler, besides those of the definition" }, "data"),
    "env?": describeField(
      {
        type: "object",
        description: "variables of the command, besides those of the definition",
        additionalProperties: { type: "string" },
      },
      "env",
    ),
  },
);

const LAST_JSON = describeObject<LastOccurrence>("last", "Result of the occurrence that ended last.", {
  scheduled: describeInstant("nominal time of the occurrence", "scheduled"),
  startedAt: describeInstant("time of the start", "startedAt"),
  endedAt: describeInstant("time of the end", "endedAt"),
  late: describeNumber("delay of the start, ms", "late"),
  result: describeChoice(
    OCCURRENCE_RESULTS,
    "result. `retry`: the handler requested another start later; `released`: the occurrence was given back; `lost`: its worker had to end it, or vanished; `replaced`: the next occurrence was due; `canceled`: somebody canceled it; `skipped`: it was never started",
    "result",
  ),
  run: describeText("id of the run", "run"),
});

const SKIPPED_JSON = describeObject<SkippedOccurrences>(
  "skippedOccurrences",
  "Occurrences of a schedule that were skipped since its last start.",
  {
    since: describeInstant("when the first one was due", "since"),
    count: describeCount("how many they are", "count"),
    "reason?": describeText("why the last one was, if not because it was too late", "reason"),
  },
);

const EXECUTION_JSON = describeObject<Execution>(
  "execution",
  "A running occurrence of a schedule. If its key cannot be read, it has only `fault` and `token`.",
  {
    ...describeFieldsOf(({ value }: Execution) => value, {
      "worker?": describeText("id of the worker", "worker"),
      "host?": describeText("full name of the worker's host", "host"),
      "pid?": describeInteger("process id of the worker", "pid"),
      "run?": describeText("id of the run", "run"),
      "scheduled?": describeInstant("nominal time", "scheduled"),
      "attempt?": describeCount("attempt number, from 1", "attempt"),
      "since?": describeInstant("time of the start", "since"),
      "late?": describeNumber("delay of the start, ms", "late"),
      "progress?": describeText("what the task says about its progress", "progress"),
    }),
    "fault?": describeText("why the running key cannot be read", "fault"),
    token: describeRevision("fencing token: `create_revision` of the running key", "token"),
  },
);

/** A schedule on one host, if it runs on every host. */
interface HostPart {
  host: string;
  state: DueState;
}

const HOST_JSON = describeObject<HostPart>(
  "scheduleHost",
  "A schedule that runs on every host, on one of them.",
  {
    host: describeText("full name of the host", ({ host }) => host),
    "next?": describeInstant("earliest start of the next occurrence", ({ state }) =>
      state.next === undefined ? undefined : state.runAt,
    ),
    "nominal?": describeInstant("nominal time of the next occurrence", ({ state }) => state.next),
    open: describeParts(OPEN_JSON, "occurrences that have not finished", ({ state }) => state.open),
    "last?": describePart(LAST_JSON, ({ state }) => state.last),
    "skipped?": describePart(SKIPPED_JSON, ({ state }) => state.skipped),
    dead: describeInteger("number of stored dead letters", ({ state }) => state.dead ?? 0),
    "pause?": describeField(
      { type: "object", description: "pause that the schedule has set itself on this host" },
      ({ state }) => state.pause,
    ),
  },
);

function listHostParts(hosts: ReadonlyMap<string, DueState>): HostPart[] {
  return [...hosts].map(([host, state]) => ({ host, state }));
}

export const schedulesView: SnapshotView<ScheduleRow> = {
  of: "snapshot",
  isTimed: true,
  id: "schedules",
  brief: "schedules: when they run next, who runs them, how the last run ended",
  collections: [...CONTEXT_COLLECTIONS, "schedules", "dues", "runnings", "workers", "calendars"],
  columns: [
    createTextColumn("schedule", 1, ({ id }) => id),
    createStateColumn(1, getScheduleTone, ({ state }) => state),
    createRightColumn("next", 1, ({ next }, wall) => formatTimeUntilNext(next, wall), {
      isTimed: true,
      getSortValue: ({ next }) => next ?? Number.POSITIVE_INFINITY,
      getTone: ({ states }) => (states.includes("late") ? "problem" : "plain"),
    }),
    createTextColumn("at", 4, ({ next }) => (next === undefined ? "" : formatInstant(next)), {
      getSortValue: ({ next }) => next ?? Number.POSITIVE_INFINITY,
    }),
    createTextColumn("on", 2, (row) => formatFirstAndMore(listHosts(row)), {
      formatBriefCell: (row) => formatFirstAndMore(listHosts(row).map(shortenOwner)),
    }),
    createAgeColumn(
      "since",
      3,
      ({ executions }) => executions.find(({ value }) => value !== undefined)?.value?.since,
    ),
    createTextColumn("last", 2, ({ due }) => (due && formatHostResults(due)) ?? due?.last?.result, {
      getTone: ({ due }) => getResultTone(due?.last?.result),
    }),
    createRightColumn(
      "ended",
      3,
      ({ due }, wall) => (due?.last === undefined ? "" : `${formatAge(due.last.endedAt, wall)} ago`),
      {
        isTimed: true,
        getSortValue: ({ due }) => computeDurationWeight(due?.last?.endedAt),
        ...createAgeMeasure(({ due }) => due?.last?.endedAt),
      },
    ),
    createRightColumn(
      "late",
      4,
      ({ due }) => (due?.last === undefined ? "" : formatLateness(due.last.late)),
      {
        getSortValue: ({ due }) => due?.last?.late ?? -1,
        unit: "duration",
        getMeasure: ({ due }) => due?.last?.late,
      },
    ),
    createTextColumn("cron", 2, ({ definition }) => formatCronText(definition?.cron ?? "")),
    createTextColumn("zone", 5, ({ definition }) => definition?.timezone),
    createTextColumn("task", 3, formatScheduleTask),
    createNumberColumn("dead", 3, ({ due }) => due?.dead, { tones: ["problem", "problem"] }),
    createTextColumn("note", 4, formatNote, { getTone: ({ state }) => getScheduleTone(state) }),
    createNumberColumn("open", 6, ({ due }) => due?.open.length || undefined),
    createTextColumn("user", 6, ({ definition }) => definition?.runAs),
    createTextColumn("group", 6, ({ definition }) => definition?.group),
    createTextColumn("place", 6, ({ definition }) => definition?.place),
    createTextColumn("if", 6, ({ definition }) => definition?.if?.join(" and ")),
    createTextColumn("after", 6, ({ definition }) => definition?.after?.join(" ")),
    createTextColumn("tags", 6, ({ definition }) => definition?.tags?.join(" ")),
    createTextColumn("source", 9, ({ definition }) => definition?.source),
  ],
  sort: "next",
  getKey: ({ id }) => id,
  getFacets: (row) => ({
    states: row.states,
    hosts: listHosts(row),
    holders: row.executions.map(formatExecutionOwner),
    ...(row.definition?.tags !== undefined && { tags: row.definition.tags }),
  }),
  getSubject: ({ id }) => ({ kind: "schedule", name: id }),
  json: describeObject("schedule", "A schedule. `signalbox show schedule` prints more.", {
    schedule: describeText("id of the schedule", "id"),
    state: describeChoice(SCHEDULE_STATES, "first element of `states`", "state"),
    states: describeTexts(
      "all states that apply. `overrun`: a run takes longer than expected; `due`: a worker may start the next run; `late`: the run has been due for ten seconds; `missed`: occurrences were skipped, or cannot begin because their leases are not free, and nothing has started since, for five minutes or for good; `retrying`: a failed run is retried; `failed`: the last run failed and is not retried; `no-worker`: no worker has a handler for it; `ended`: no further run is planned",
      "states",
    ),
    "fault?": describeText("which key of the schedule is missing or cannot be read, and why", "fault"),
    task: describeText("command, or the type that selects the handler", formatScheduleTask),
    "next?": describeInstant("earliest start of the next run", "next"),
    "nominal?": describeInstant(
      "nominal time of the next occurrence in the cron expression: without delay, jitter and pause",
      ({ due }) => due?.next,
    ),
    "definition?": describeField(
      { type: "object", description: "definition, as in `export --format json`" },
      "definition",
    ),
    open: describeParts(
      OPEN_JSON,
      "occurrences that were started or triggered, and have not finished",
      ({ due }) => due?.open ?? [],
    ),
    "skipped?": describePart(SKIPPED_JSON, ({ due }) => due?.skipped),
    "pause?": describeField(
      { type: "object", description: "pause that the schedule has set itself: by whom, since when, why" },
      ({ due }) => due?.pause,
    ),
    "last?": describePart(LAST_JSON, ({ due }) => due?.last),
    "hosts?": describeParts(
      HOST_JSON,
      "the hosts of a schedule that runs on every host; `last` is then the newest failure among their last results, or the newest result",
      ({ due }) => due?.hosts && listHostParts(due.hosts),
    ),
    dead: describeInteger("number of stored dead letters", ({ due }) => due?.dead ?? 0),
    runs: describeParts(EXECUTION_JSON, "current executions, oldest first", ({ executions }) => executions),
  }),
  buildRows: buildScheduleRows,
  empty: "No schedules yet. Create one: signalbox schedule add backup '0 3 * * *' -- backup.sh",
};

const TONES: Partial<Record<ScheduleState, Tone>> = {
  malformed: "problem",
  overrun: "problem",
  "no-worker": "problem",
  late: "problem",
  missed: "problem",
  failed: "problem",
  retrying: "problem",
  running: "held",
  paused: "quiet",
  ended: "quiet",
  due: "waiting",
};

export function getScheduleTone(state: ScheduleState): Tone {
  return TONES[state] ?? "free";
}

/** Formats the time until the next run: `in 5m`, or `3m over` if it is overdue. */
export function formatTimeUntilNext(next: WallTime | undefined, wall: WallTime): string {
  if (next === undefined) return "";
  return next > wall
    ? `in ${formatBriefDuration(next - wall + 999)}`
    : `${formatBriefDuration(wall - next)} over`;
}

function listHosts({ executions }: ScheduleRow): string[] {
  return executions.flatMap(({ value }) => value?.host ?? []);
}

/** Formats the task of a schedule: its command, quoted for a shell, or its handler type. */
export function formatScheduleTask({ id, definition }: Pick<ScheduleRow, "id" | "definition">): string {
  if (definition === undefined) return "";
  const { command } = definition;
  return command === undefined ? getScheduleType(id, definition) : quoteShellWords(command);
}

/** Formats why no worker runs a schedule, as the rest of a sentence after "no worker" or "none". */
function formatMissingWorker(definition: Partial<Definition> = {}): string {
  const { group, runAs } = definition;
  const where = group === undefined ? "" : ` in the group ${group}`;
  const secrets = formatSecrets(definition);
  const what = collectTexts([
    runAs !== undefined && `may run commands as ${runAs}`,
    secrets !== "" && `has its secrets (${secrets})`,
  ]).join(" and ");
  return `is running${where} that ${what || "has a handler for it"}`;
}

function formatNote({ fault, definition, due, state, missed }: ScheduleRow): string {
  const pause = getPause(definition, due);
  if (fault !== undefined) return fault;
  if (state === "missed") return missed.map(formatMissedRuns).join("; ");
  if (state === "no-worker") return `no worker ${formatMissingWorker(definition)}`;
  if (pause === undefined)
    return (state === "late" && definition && formatConditions(definition)) || (definition?.note ?? "");
  const until = pause.until === undefined ? "" : ` until ${formatInstant(pause.until)}`;
  return `paused by ${pause.by}${until}${formatReason(pause.why)}`;
}

/** One schedule. Instants in ms since the epoch. */
export interface ScheduleRow {
  id: string;
  state: ScheduleState;
  /** All states that apply: a running schedule may also be paused. The first one is `state`. */
  states: readonly ScheduleState[];
  /** Which value cannot be read or is missing, and why. */
  fault: string | undefined;
  definition: Definition | undefined;
  due: ShownDue | undefined;
  /** When it may run next, if known; on the hosts that have a worker, if it runs on every host. */
  next: WallTime | undefined;
  /** What was due and has not run. */
  missed: readonly MissedRuns[];
  executions: readonly Execution[];
}

/** A schedule is late if it is due for this long without a start, ms. Workers start a due run within about 2 s. */
export const SCHEDULE_LATE_AFTER = 10_000;

/** A row with its inputs. It is valid from `from` until `until`. */
interface CachedScheduleRow {
  row: ScheduleRow;
  due: StoredValue<ShownDue> | undefined;
  executions: readonly Execution[];
  isServed: boolean;
  served: ServedPredicate;
  /** Why it does not fire: a calendar is missing or cannot be read. */
  calendarFault: string | undefined;
  from: WallTime;
  until: WallTime;
}

/** Rows of unchanged schedules, by stored definition: there may be 100,000. */
const cachedRows = new WeakMap<object, CachedScheduleRow>();
const NO_EXECUTIONS: readonly Execution[] = [];

/** Builds the rows of all schedules. Returns the same array until a row changes. `wall`: ms since the epoch. */
export function buildScheduleRows(
  snapshot: Snapshot,
  { wall, groups }: Pick<ViewContext, "wall" | "groups">,
): readonly ScheduleRow[] {
  const { schedules, dues, executions, calendars } = snapshot;
  const served = createServedPredicate(snapshot, groups);
  const parts = [schedules, dues, executions, served, calendars];
  if (
    lastResult?.parts.every((part, at) => part === parts[at]) &&
    wall >= lastResult.from &&
    wall < lastResult.until
  )
    return lastResult.rows;
  const rows: ScheduleRow[] = [];
  let until = Number.POSITIVE_INFINITY;
  for (const [id, kept] of schedules) {
    const one = buildRow(id, kept, {
      due: dues.get(id),
      executions: executions.get(id) ?? NO_EXECUTIONS,
      served,
      calendars,
      wall,
    });
    rows.push(one.row);
    until = Math.min(until, one.until);
  }
  lastResult = { parts, rows, from: wall, until };
  return rows;
}

/** Builds the row of one schedule; undefined if it does not exist. */
function findScheduleRow(snapshot: Snapshot, id: string, wall: WallTime): ScheduleRow | undefined {
  const { schedules, dues, executions, calendars } = snapshot;
  const kept = schedules.get(id);
  if (kept === undefined) return undefined;
  const served = createServedPredicate(snapshot, buildGroupMembers(snapshot));
  const inputs = {
    due: dues.get(id),
    executions: executions.get(id) ?? NO_EXECUTIONS,
    served,
    calendars,
    wall,
  };
  return buildRow(id, kept, inputs).row;
}

let lastResult:
  | { parts: readonly unknown[]; rows: readonly ScheduleRow[]; from: WallTime; until: WallTime }
  | undefined;

interface RowInputs {
  due: StoredValue<ShownDue> | undefined;
  executions: readonly Execution[];
  served: ServedPredicate;
  calendars: Calendars;
  wall: WallTime;
}

function buildRow(id: string, kept: StoredValue<Definition>, inputs: RowInputs): CachedScheduleRow {
  const { due, executions, served, calendars, wall } = inputs;
  const known = cachedRows.get(kept);
  const isServed = kept.value === undefined || served(id, kept.value);
  const calendarFault = kept.value && findCalendarFault(kept.value, calendars);
  const isSame =
    known?.calendarFault === calendarFault &&
    known?.due === due &&
    known?.executions === executions &&
    known.isServed === isServed &&
    (due?.value?.hosts === undefined || known.served === served);
  if (known !== undefined && isSame && wall >= known.from && wall < known.until) return known;
  const next = computeShownNext(id, kept.value, inputs);
  const fault = findStoredFault(kept, due) ?? calendarFault;
  const missed = findMissedRuns({ definition: kept.value, due: due?.value, executions }, wall);
  const states = listRowStates(kept.value, inputs, { isServed, fault, next, missed });
  const one: CachedScheduleRow = {
    due,
    executions,
    isServed,
    served,
    calendarFault,
    from: wall,
    until: computeValidUntil({ definition: kept.value, due: due?.value, executions }, next, wall),
    row: {
      id,
      state: states[0] ?? "waiting",
      states,
      fault,
      next,
      missed,
      executions,
      definition: kept.value,
      due: due?.value,
    },
  };
  cachedRows.set(kept, one);
  return one;
}

/** Returns why a schedule cannot run: one of its keys is missing, or cannot be read. */
export function findStoredFault(
  kept: StoredValue<Definition>,
  due: StoredValue<DueState> | undefined,
): string | undefined {
  if (kept.fault !== undefined) return `its definition cannot be read: ${kept.fault}`;
  if (due === undefined) return "its due time is missing";
  return due.fault && `its due time cannot be read: ${due.fault}`;
}

/** Returns the earliest possible start; if it runs on every host, on those that have a worker. */
function computeShownNext(
  id: string,
  definition: Definition | undefined,
  { due, executions, served, wall }: RowInputs,
): number | undefined {
  const { hosts } = due?.value ?? {};
  if (hosts === undefined || definition === undefined)
    return computeNext(definition, due?.value, executions, wall);
  const next = [...hosts].flatMap(([host, state]) => {
    if (!served(id, definition, host)) return [];
    const own = executions.filter(({ value }) => value?.host === host);
    return computeNext(definition, state, own, wall) ?? [];
  });
  return next.length === 0 ? undefined : Math.min(...next);
}

/** Returns the earliest possible start. A pause delays all runs except triggers until its end. */
function computeNext(
  definition: Definition | undefined,
  due: DueState | undefined,
  executions: readonly Execution[],
  wall: WallTime,
): number | undefined {
  if (definition === undefined || due === undefined) return undefined;
  const running = new Set(executions.map(({ value }) => value?.scheduled));
  const open = due.open.filter(({ scheduled }) => !running.has(scheduled));
  const planned = isHeadFree(definition, due) ? [due.runAt] : [];
  const until = computePauseEnd(definition, due, wall);
  const triggers = open.filter(({ kind }) => kind === "trigger").map(({ runAt }) => runAt);
  const others = [...open.filter(({ kind }) => kind !== "trigger").map(({ runAt }) => runAt), ...planned];
  const next = Math.min(...triggers, ...others.map((runAt) => Math.max(runAt, until)));
  return Number.isFinite(next) ? next : undefined;
}

/** Returns when a pause ends, Infinity if it has no end; 0 without a pause. */
function computePauseEnd(definition: Definition, due: DueState | undefined, wall: WallTime): number {
  if (!isPaused(definition, due, wall)) return 0;
  return getPause(definition, due)?.until ?? Number.POSITIVE_INFINITY;
}

/** Lists all states that apply; the first one is shown. */
function listRowStates(
  definition: Definition | undefined,
  { due, executions, wall }: RowInputs,
  { isServed, fault, next, missed }: Pick<ScheduleRow, "fault" | "next" | "missed"> & { isServed: boolean },
): ScheduleState[] {
  const state = due?.value;
  const isIdle = executions.length === 0 || state?.hosts !== undefined; // then `next` is of a host that is idle
  const parts = listStates(state).map(([, one]) => one);
  const isOver = state?.next === undefined && state?.open.length === 0 && state.backfill === undefined;
  const overdue = next === undefined ? 0 : wall - next;
  const found: (ScheduleState | false)[] = [
    fault !== undefined && "malformed",
    findOverruns({ definition, executions }, wall).length > 0 && "overrun",
    executions.length > 0 && "running",
    definition !== undefined && isPaused(definition, state, wall) && "paused",
    !isServed && !isOver && "no-worker",
    isIdle && overdue >= SCHEDULE_LATE_AFTER && "late",
    missed.length > 0 && "missed",
    isIdle && next !== undefined && overdue >= 0 && "due",
    state?.open.some(({ failures }) => failures > 0) === true && "retrying",
    parts.some(({ last, open }) => {
      const isRetried = open.some(({ scheduled }) => scheduled === last?.scheduled);
      return last !== undefined && isFailure(last.result) && !isRetried;
    }) && "failed",
    fault === undefined && isOver && !canRunAgain(definition, wall) && "ended",
  ];
  const states = found.filter((one) => one !== false);
  const isWaiting = states.length === 0 || (fault === undefined && next !== undefined && overdue < 0);
  return isWaiting ? [...states, "waiting"] : states;
}

/** Whether a schedule without a next time may run again: it is triggered, or its hosts boot. */
function canRunAgain(definition: Definition | undefined, wall: WallTime): boolean {
  const { cron, end = wall } = definition ?? {};
  return cron === MANUAL_PLAN || (cron === BOOT_PLAN && end >= wall);
}

/** A run that should take at most so long, ms. */
interface BoundedRun {
  execution: Execution;
  running: RunningRecord;
  most: number;
}

type RunningSchedule = Pick<ScheduleRow, "definition" | "executions">;

function listBounds({ definition, executions }: RunningSchedule): BoundedRun[] {
  if (definition?.expect === undefined) return [];
  return executions.flatMap((execution) => {
    const { value: running } = execution;
    if (running === undefined) return [];
    const { most } = getExpectation(definition);
    return most === undefined ? [] : [{ execution, running, most }];
  });
}

/** Finds the runs of a schedule that take longer than expected. */
export function findOverruns(schedule: RunningSchedule, wall: WallTime): BoundedRun[] {
  return listBounds(schedule).filter(({ running, most }) => wall - running.since >= most);
}

/** Returns the next instant at which the row changes without a change in etcd. */
function computeValidUntil(
  schedule: RunningSchedule & Pick<ScheduleRow, "due">,
  next: WallTime | undefined,
  wall: WallTime,
): number {
  const { definition } = schedule;
  const end = runsAtBoot(definition) ? definition?.end : undefined;
  const overruns = listBounds(schedule).map(({ running, most }) => running.since + most);
  const instants = [
    next,
    next && next + SCHEDULE_LATE_AFTER,
    definition?.pause?.until,
    end && end + 1,
    ...overruns,
    ...listMissedTimes(schedule, wall),
  ];
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...(instants.filter((at) => at !== undefined && at > wall) as number[]),
  );
}

/** Returns whether any worker can run a schedule, or one of a host. */
type ServedPredicate = (id: string, definition: Definition, host?: string) => boolean;

/** The last predicate: workers write their records every few seconds, mostly without changes. */
let lastAnswer: { text: string; served: ServedPredicate } | undefined;

/** Creates the predicate from the worker records. Returns the same function until workers or groups change. */
function createServedPredicate({ workers }: Snapshot, groups: ViewContext["groups"]): ServedPredicate {
  const able = [...workers.values()].flatMap(({ value }) =>
    value === undefined || value.isLeaving || value.clock === "refuses" ? [] : [value],
  );
  const text = JSON.stringify([able.map(({ host, types }) => [host, types]), [...groups]]);
  if (lastAnswer?.text === text) return lastAnswer.served;
  const served = createPredicate(able, groups);
  lastAnswer = { text, served };
  return served;
}

/** Returns whether a worker may run a schedule. A program that polls names no types: it takes what has no command. */
export function canWorkerRun(
  { types, host, concurrency }: Pick<WorkerRecord, "types" | "host" | "concurrency">,
  id: string,
  definition: Definition,
  groups: ViewContext["groups"],
): boolean {
  const { group, command } = definition;
  const isHandled = canHandle(types, id, definition) || (concurrency === 0 && command === undefined);
  return (
    isHandled &&
    (group === undefined || (groups.has(group) && findMembership(groups, group, host) !== undefined))
  );
}

function createPredicate(workers: readonly WorkerRecord[], groups: ViewContext["groups"]): ServedPredicate {
  const kinds = new Map<string, boolean>();
  const known = new WeakMap<Definition, boolean>(); // there may be 100,000, each checked many times
  const isKindServed = (id: string, definition: Definition, only?: string) => {
    const kind = JSON.stringify([getHandlerKind(id, definition), definition.group, only]);
    const answer =
      kinds.get(kind) ??
      workers.some(
        (worker) =>
          (only === undefined || worker.host === only) && canWorkerRun(worker, id, definition, groups),
      );
    kinds.set(kind, answer);
    return answer;
  };
  return (id, definition, host) => {
    if (host !== undefined) return isKindServed(id, definition, host);
    const answer = known.get(definition) ?? isKindServed(id, definition);
    known.set(definition, answer);
    return answer;
  };
}

/** Builds the detail of a schedule: definition, executions, next and last runs. Undefined if it does not exist. */
export function buildScheduleDetail(
  snapshot: Snapshot,
  id: string,
  { wall, sessions }: DetailContext,
): Detail | undefined {
  const row = findScheduleRow(snapshot, id, wall);
  if (row === undefined) return undefined;
  const outcomes = snapshot.outcomes.get(id) ?? NO_OUTCOMES;
  return {
    heading: `schedule ${id}: ${row.states.join(", ")}`,
    tone: getScheduleTone(row.state),
    facts: buildScheduleFacts(row, wall),
    sections: [
      ...buildLastOutput(outcomes),
      ...buildExecutionTable(row, wall, sessions),
      ...buildHostTable(row, wall),
      ...buildOpenTable(row, wall),
      ...(row.fault === undefined ? buildUpcomingTable(row, snapshot.calendars, wall) : []),
      ...buildOutcomeTable(id, outcomes.runs),
      ...buildDeadLetterTable(id, outcomes.dead),
      ...buildLongerOutput(outcomes),
      ...buildAuditTable(snapshot, (target) => isAboutSchedule(target, id)),
    ],
  };
}

/** Whether an audit target is or includes a schedule. */
export function isAboutSchedule(target: string, id: string): boolean {
  if (target === `schedule ${id}`) return true;
  const [, names] = /^schedules (.*?)(?: and \d+ more)?$/s.exec(target) ?? [];
  return names?.split(", ").includes(id) === true;
}

function buildScheduleFacts(row: ScheduleRow, wall: WallTime): Fact[] {
  const { id, definition, due, fault, next } = row;
  if (definition === undefined) return buildFacts([["malformed", fault, "problem"]]);
  return buildFacts([
    ["malformed", fault, "problem"],
    ["paused", formatPause(getPause(definition, due)), "problem"],
    ["when", `${explainPlan(parsePlan(definition.cron))} (${definition.timezone})`],
    ["cron", formatCronText(definition.cron)],
    ["followed by", due?.successors?.join(", ")],
    [
      "backfill",
      due?.backfill &&
        `${due.backfill.started} of ${due.backfill.total} started, next ${formatInstant(due.backfill.next)}, ${due.backfill.parallel} at a time`,
    ],
    ["has ended", due?.arrived?.map(({ id }) => id).join(", ")],
    ["next", formatIfKnown(next, (at) => `${formatTimeUntilNext(at, wall)}, ${formatInstant(at)}`)],
    ["missed", row.missed.map(formatMissedRuns).join("; ") || undefined, "problem"],
    [
      "no worker",
      row.states.includes("no-worker") ? `none ${formatMissingWorker(definition)}` : undefined,
      "problem",
    ],
    ["type", definition.command === undefined ? getScheduleType(id, definition) : definition.type],
    ["command", definition.command && quoteShellWords(definition.command)],
    ["user", definition.runAs],
    ["folder", definition.folder],
    ["input", formatIfKnown(definition.input, JSON.stringify)],
    ["container", definition.container],
    ["data", formatIfKnown(definition.data, JSON.stringify)],
    ["environment", Object.keys(definition.env ?? {}).join(" ")],
    ["secrets", formatSecrets(definition)],
    ...listRuleFacts(definition),
    ["expected", formatExpectation(getExpectation(definition))],
    ["note", definition.note],
    ["source", definition.source],
    [
      "last",
      due?.last === undefined
        ? undefined
        : `${formatHostResults(due) ?? due.last.result}, ${formatAgo(due.last.endedAt, wall)}`,
    ],
  ]);
}

/** Formats which secrets a command gets: `PASSWORD=db, KEY=tls (file)`. */
function formatSecrets({ secrets = {}, secretFiles = {} }: Partial<Definition>): string {
  const variables = Object.entries(secrets).map(([name, secret]) => `${name}=${secret}`);
  const files = Object.entries(secretFiles).map(([name, secret]) => `${name}=${secret} (file)`);
  return [...variables, ...files].join(", ");
}

type FactEntry = readonly [label: string, value: string | undefined];

/** Lists the rules of a schedule. Omits unset options, except catch-up and overlap. */
function listRuleFacts(definition: Definition): FactEntry[] {
  const { delay, jitter, deadline, timeout, retries, backoff = SCHEDULE_DEFAULTS.backoff, end } = definition;
  const { keep, keepFor, pauseAfterFailures } = definition;
  const formatTime = (ms: Millis | undefined) => (ms ? formatDuration(ms) : undefined);
  return [
    [
      "after",
      definition.after && `${definition.after.join(", ")} (on ${definition.on ?? SCHEDULE_DEFAULTS.on})`,
    ],
    ["except", definition.except?.join(", ")],
    ["only", definition.only?.join(", ")],
    ["if excluded", definition.ifExcluded],
    ["tags", definition.tags?.join(" ")],
    ["delay", formatTime(delay)],
    ["jitter", jitter ? `up to ${formatDuration(jitter)}` : undefined],
    ["catch-up", `${getCatchup(definition)}${deadline ? `, none later than ${formatTime(deadline)}` : ""}`],
    ["overlap", definition.overlap ?? SCHEDULE_DEFAULTS.overlap],
    ["time-out", formatTime(timeout)],
    ["retries", retries ? `${retries}, the first after ${formatDuration(backoff)}` : undefined],
    ["pauses itself", pauseAfterFailures ? `after ${pauseAfterFailures} given up in a row` : undefined],
    ["runs on", runsOnEveryHost(definition) ? "every host" : undefined],
    ["group", definition.group],
    ["place", definition.place],
    ["only if", definition.if?.join(" and ")],
    ["leases", definition.leases?.join(" ")],
    ["hooks", Object.keys(definition.hooks ?? {}).join(" ")],
    ["history", formatLimits(keep, keepFor)],
    ["end", formatIfKnown(end, formatInstant)],
  ];
}

function formatLimits(keep: number | undefined, keepFor: Millis | undefined): string | undefined {
  const count = keep === undefined ? "" : `${keep} outcomes`;
  const age = keepFor === undefined ? "" : `of ${formatDuration(keepFor)}`;
  return `${count} ${age}`.trim() || undefined;
}

function formatPause(pause: Pause | undefined): string | undefined {
  if (pause === undefined) return undefined;
  const until = pause.until === undefined ? "" : ` until ${formatInstant(pause.until)}`;
  return `by ${pause.by}, since ${formatInstant(pause.at)}${until}${formatReason(pause.why)}`;
}

const formatAgo = (at: WallTime, wall: WallTime) => `${formatBriefDuration(wall - at)} ago`;

const PROGRESS: TableColumn<Execution> = createTextColumn("progress", 2, ({ value }) => value?.progress);

function buildExecutionTable(
  { executions }: ScheduleRow,
  wall: WallTime,
  sessions: SessionLivenessMap,
): Section[] {
  const columns: TableColumn<Execution>[] = [
    createOwnerColumn(
      "who",
      1,
      (one) => (one.value ? formatExecutionOwner(one) : `key ${one.key}: ${one.fault}`),
      {
        getTone: ({ value }) => (value === undefined ? "problem" : "plain"),
      },
    ),
    createTextColumn("worker", 2, (execution) => findRunnerLiveness(execution, sessions)?.verdict, {
      getTone: (execution) =>
        findRunnerLiveness(execution, sessions)?.verdict === "alive" ? "plain" : "problem",
    }),
    createTextColumn("scheduled", 1, ({ value }) => value && formatInstant(value.scheduled)),
    createNumberColumn("attempt", 3, ({ value }) => value?.attempt),
    createRightColumn("since", 1, ({ value }) => value && formatBriefDuration(wall - value.since)),
    createRightColumn("late", 3, ({ value }) => value && formatBriefDuration(value.late)),
    ...(executions.some(({ value }) => value?.progress !== undefined) ? [PROGRESS] : []),
    createNumberColumn("token", 5, ({ token }) => token),
  ];
  return buildDetailTable("runs now", columns, executions);
}

function buildHostTable({ due, executions }: ScheduleRow, wall: WallTime): Section[] {
  if (due?.hosts === undefined) return [];
  const running = new Set(executions.flatMap(({ value }) => value?.host ?? []));
  const columns: TableColumn<HostPart>[] = [
    createOwnerColumn("host", 1, ({ host }) => host),
    createTextColumn("last", 1, ({ state }) => state.last?.result, {
      getTone: ({ state }) => getResultTone(state.last?.result),
    }),
    createRightColumn("ended", 2, ({ state }) => state.last && formatAgo(state.last.endedAt, wall)),
    createRightColumn("next", 1, ({ state }) => formatTimeUntilNext(findNextStart(state), wall)),
    createNumberColumn("dead", 3, ({ state }) => state.dead),
    createTextColumn("note", 2, ({ host, state }) => {
      if (state.pause !== undefined) return `paused by ${state.pause.by}: ${state.pause.why ?? ""}`;
      return running.has(host) ? "running" : "";
    }),
  ];
  return buildDetailTable("hosts", columns, listHostParts(due.hosts));
}

/** Returns when the next run is or was due; undefined if none is. */
export function findNextStart({ next, runAt, open }: DueState): number | undefined {
  const times = [...open.map((one) => one.runAt), ...(next === undefined ? [] : [runAt])];
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Builds the table of open occurrences, planned or triggered, that wait for a start. */
function buildOpenTable({ due, executions }: ScheduleRow, wall: WallTime): Section[] {
  const running = new Set(executions.map(({ value }) => value?.scheduled));
  const waiting = (due?.open ?? []).filter(({ scheduled }) => !running.has(scheduled));
  const columns: TableColumn<OpenOccurrence>[] = [
    createTextColumn("scheduled", 1, ({ scheduled }) => formatInstant(scheduled)),
    createTextColumn("kind", 2, ({ kind }) => kind),
    createTextColumn("due", 1, ({ runAt }) => formatTimeUntilNext(runAt, wall)),
    createNumberColumn("starts", 3, ({ attempt }) => attempt),
    createNumberColumn("failures", 3, ({ failures }) => failures),
  ];
  return buildDetailTable("to be started", columns, waiting);
}

const SHOWN_OCCURRENCES = 5;

/** Builds the table of the next occurrences, with notes on clock changes (daylight saving time) and excluded days. */
function buildUpcomingTable(
  { id, definition, due }: ScheduleRow,
  calendars: Calendars,
  wall: WallTime,
): Section[] {
  if (definition === undefined || due?.next === undefined) return [];
  const first = Math.max(due.next, computePauseEnd(definition, due, wall)); // a pause skips what is due before its end
  if (!Number.isFinite(first)) return [];
  const lag = computeLag(id, definition);
  const { end = Number.POSITIVE_INFINITY } = definition;
  const found = listUpcoming(definition, calendars, {
    after: first - 1,
    count: SHOWN_OCCURRENCES,
    since: Math.min(first, wall),
  });
  const columns: TableColumn<UpcomingOccurrence>[] = [
    createTextColumn("scheduled", 1, ({ local }) => local),
    createTextColumn("may run", 2, ({ at }) => formatInstant(at + lag)),
    createRightColumn("in", 1, ({ at }) => formatBriefDuration(at + lag - wall)),
    createTextColumn("note", 3, ({ note, mark }) => note ?? mark, {
      getTone: ({ mark }) => (mark === undefined ? "plain" : "waiting"),
    }),
  ];
  return buildDetailTable(
    `next runs; more: signalbox schedule next ${quoteShellWord(id)}`,
    columns,
    found.filter(({ at }) => at <= end),
  );
}

/** An occurrence that failed and is not retried. */
export interface DeadLetter extends OccurrenceOutcome {
  /** Its schedule. */
  id: string;
}

/** Lists the dead letters of schedules, those of each the newest first. @param outcomes  by schedule */
export function listDeadLetters(outcomes: ReadonlyMap<string, OutcomeHistory>): DeadLetter[] {
  return [...outcomes].flatMap(([id, { dead }]) => dead.map((one) => ({ id, ...one })));
}

export const DEAD_LETTER_COLUMNS: readonly TableColumn<DeadLetter>[] = [
  createTextColumn("schedule", 1, ({ id }) => id),
  createTextColumn("scheduled", 1, ({ scheduled }) => formatInstant(scheduled)),
  RESULT_COLUMN,
  { ...createAgeColumn<DeadLetter>("ended", 2, ({ endedAt }) => endedAt), title: "GIVEN UP" },
  createNumberColumn("attempts", 3, ({ attempt }) => attempt),
  // The last line of its output, or the reason of its end if there is none; after a success, what went wrong.
  createTextColumn(
    "why",
    2,
    ({ result, tail = "", reason }) =>
      (result === "ok" && reason) || tail.trimEnd().split("\n").at(-1) || reason,
    {
      title: "LAST LINE",
    },
  ),
];

/** Formats missed runs: `12 occurrences were skipped: load 0.5 < 0.1 does not hold`. */
export function formatMissedRuns({ host, count, why }: MissedRuns): string {
  return `${count === 1 ? "an occurrence" : `${count} occurrences`}${host === undefined ? "" : ` on ${host}`} ${why}`;
}

/** Formats it for people: `5s to 20m`; undefined without bounds. */
export function formatExpectation({ least, most }: Expectation): string | undefined {
  if (most === undefined) return least === undefined ? undefined : `at least ${formatDuration(least)}`;
  return least === undefined
    ? `at most ${formatDuration(most)}`
    : `${formatDuration(least)} to ${formatDuration(most)}`;
}

/** Formats how the last runs of the hosts ended: `11 of 12 ok, web4 failed`; undefined if none has ended. */
export function formatHostResults({ hosts }: ShownDue): string | undefined {
  if (hosts === undefined) return undefined;
  const ended = [...hosts].flatMap(([host, { last }]) => (last === undefined ? [] : [{ host, ...last }]));
  if (ended.length === 0) return undefined;
  const good = ended.filter(({ result }) => result === "ok").length;
  const [first, ...more] = ended.filter(({ result }) => result !== "ok");
  const count = good === hosts.size ? `${good} ok` : `${good} of ${hosts.size} ok`;
  if (first === undefined) return count;
  return `${count}, ${first.host} ${first.result}${more.length === 0 ? "" : ` and ${more.length} more`}`;
}
