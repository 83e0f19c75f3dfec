import { formatBriefDuration, formatDuration, formatInstant } from "../base/duration.ts";
import { quoteShellWord } from "../base/shell.ts";
import { findMembership } from "../fleet/groups.ts";
import type { Calendars } from "../schedule/calendar/calendar.ts";
import { findCalendarFault } from "../schedule/calendar/day-rule.ts";
import { listUpcoming } from "../schedule/calendar/upcoming-days.ts";
import type { UpcomingOccurrence } from "../schedule/cron/upcoming-occurrences.ts";
import { type Definition, getScheduleType, isPaused } from "../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../schedule/definition-values.ts";
import { canHandle } from "../schedule/handler-types.ts";
import { explainPlan, MANUAL, parsePlan } from "../schedule/plan.ts";
import type { Backfill, DueState, LastOccurrence, OpenOccurrence } from "../schedule/state/due.ts";
import { isHeadFree } from "../schedule/state/next-candidate.ts";
import { parseOutcomes } from "../schedule/state/outcome.ts";
import type { WorkerRecord } from "../schedule/state/worker-record.ts";
import { computeLag } from "../schedule/timing.ts";
import { findRunnerLiveness, type SessionLivenessMap } from "../state/explain.ts";
import { buildGroupMembers, type Execution, type Snapshot, type StoredValue } from "../state/snapshot.ts";
import type { Tone } from "../state/subject.ts";
import { CONTEXT_COLLECTIONS, type ViewContext } from "../state/view-context.ts";
import {
  computeDurationWeight,
  createAgeColumn,
  createAgeMeasure,
  createNumberColumn,
  createStateColumn,
  formatAge,
  formatFirstAndMore,
  formatLateness,
  getResultTone,
  shortenOwner,
} from "./columns.ts";
import {
  buildAuditTable,
  buildDetailTable,
  buildFacts,
  buildOwnerCell,
  type Cell,
  type Detail,
  type DetailContext,
  type Fact,
  type ItemColumn,
  type Section,
} from "./detail.ts";
import { buildDeadLetterTable, buildLastOutput, buildLongerOutput, buildOutcomeTable } from "./history.ts";
import type { SnapshotView } from "./view.ts";

export const schedulesView: SnapshotView<ScheduleRow> = {
  of: "snapshot",
  isTimed: true,
  id: "schedules",
  brief: "schedules: when they run next, who runs them, how the last run ended",
  collections: [...CONTEXT_COLLECTIONS, "schedules", "dues", "runnings", "workers", "calendars"],
  columns: [
    { id: "schedule", title: "SCHEDULE", priority: 1, formatCell: ({ id }) => id },
    createStateColumn(1, getScheduleTone, ({ state }) => state),
    {
      id: "next",
      title: "NEXT",
      priority: 1,
      align: "right",
      isTimed: true,
      formatCell: ({ next }, wall) => formatTimeUntilNext(next, wall),
      getSortValue: ({ next }) => next ?? Number.POSITIVE_INFINITY,
      getTone: ({ states }) => (states.includes("late") ? "problem" : "plain"),
    },
    {
      id: "at",
      title: "AT",
      priority: 4,
      formatCell: ({ next }) => (next === undefined ? "" : formatInstant(next)),
      getSortValue: ({ next }) => next ?? Number.POSITIVE_INFINITY,
    },
    {
      id: "on",
      title: "ON",
      priority: 2,
      formatCell: (row) => formatFirstAndMore(listHosts(row)),
      formatBriefCell: (row) => formatFirstAndMore(listHosts(row).map(shortenOwner)),
    },
    createAgeColumn("since", "SINCE", 3, findSince),
    {
      id: "last",
      title: "LAST",
      priority: 2,
      formatCell: ({ due }) => due?.last?.result ?? "",
      getTone: ({ due }) => getResultTone(due?.last?.result),
    },
    {
      id: "ended",
      title: "ENDED",
      priority: 3,
      align: "right",
      isTimed: true,
      formatCell: ({ due }, wall) =>
        due?.last === undefined ? "" : `${formatAge(due.last.endedAt, wall)} ago`,
      getSortValue: ({ due }) => computeDurationWeight(due?.last?.endedAt),
      ...createAgeMeasure(({ due }) => due?.last?.endedAt),
    },
    {
      id: "late",
      title: "LATE",
      priority: 4,
      align: "right",
      formatCell: ({ due }) => (due?.last === undefined ? "" : formatLateness(due.last.late)),
      getSortValue: ({ due }) => due?.last?.late ?? -1,
      unit: "duration",
      getMeasure: ({ due }) => due?.last?.late,
    },
    { id: "cron", title: "CRON", priority: 2, formatCell: ({ definition }) => definition?.cron ?? "" },
    { id: "zone", title: "ZONE", priority: 5, formatCell: ({ definition }) => definition?.timezone ?? "" },
    { id: "task", title: "TASK", priority: 3, formatCell: formatScheduleTask },
    createNumberColumn("dead", "DEAD", 3, ({ due }) => due?.dead, { zero: "problem", other: "problem" }),
    {
      id: "note",
      title: "NOTE",
      priority: 4,
      formatCell: formatNote,
      getTone: ({ state }) => getScheduleTone(state),
    },
    createNumberColumn("open", "OPEN", 6, ({ due }) => due?.open.length || undefined),
    { id: "group", title: "GROUP", priority: 6, formatCell: ({ definition }) => definition?.group ?? "" },
    {
      id: "after",
      title: "AFTER",
      priority: 6,
      formatCell: ({ definition }) => definition?.after?.join(" ") ?? "",
    },
    {
      id: "tags",
      title: "TAGS",
      priority: 6,
      formatCell: ({ definition }) => definition?.tags?.join(" ") ?? "",
    },
    { id: "source", title: "SOURCE", priority: 9, formatCell: ({ definition }) => definition?.source ?? "" },
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
  toJson: toScheduleJson,
  buildRows: buildScheduleRows,
  empty: "No schedules yet. Create one: signalbox schedule add backup '0 3 * * *' -- backup.sh",
};

const TONES: Partial<Record<ScheduleState, Tone>> = {
  malformed: "problem",
  "no-worker": "problem",
  late: "problem",
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

/** Formats the time until the next run: `in 5m`, or `3m over` if it is overdue. Times in ms since the epoch. */
export function formatTimeUntilNext(next: number | undefined, wall: number): string {
  if (next === undefined) return "";
  return next > wall
    ? `in ${formatBriefDuration(next - wall + 999)}`
    : `${formatBriefDuration(wall - next)} over`;
}

/** Returns `HOST:PID` of the worker that runs an occurrence. */
export function formatExecutionOwner({ value, key }: Execution): string {
  return value === undefined ? `malformed ${key}` : `${value.host}:${value.pid}`;
}

function listHosts({ executions }: ScheduleRow): string[] {
  return executions.flatMap(({ value }) => value?.host ?? []);
}

function findSince({ executions }: ScheduleRow): number | undefined {
  return executions.find(({ value }) => value !== undefined)?.value?.since;
}

/** Formats the task of a schedule: the words of its command, or its handler type. */
function formatScheduleTask({ id, definition }: Pick<ScheduleRow, "id" | "definition">): string {
  if (definition === undefined) return "";
  return definition.command?.join(" ") ?? getScheduleType(id, definition);
}

/** Formats why no worker runs a schedule, as the rest of a sentence after "no worker" or "none". */
function formatMissingWorker(group: string | undefined): string {
  const where = group === undefined ? "" : ` in the group ${group}`;
  return `is running${where} that has a handler for it`;
}

function formatNote({ fault, definition, state }: ScheduleRow): string {
  const { pause, note } = definition ?? {};
  if (fault !== undefined) return fault;
  if (state === "no-worker") return `no worker ${formatMissingWorker(definition?.group)}`;
  if (pause === undefined) return note ?? "";
  const until = pause.until === undefined ? "" : ` until ${formatInstant(pause.until)}`;
  return `paused by ${pause.by}${until}${pause.why === undefined ? "" : `: ${pause.why}`}`;
}

/** Returns a schedule for JSON output. Instants in ms since the epoch, durations in ms. */
function toScheduleJson(row: ScheduleRow): object {
  const { id, state, states, fault, definition, due, next, executions } = row;
  return {
    schedule: id,
    state,
    states,
    fault,
    task: formatScheduleTask(row),
    next,
    nominal: due?.next,
    definition,
    open: due?.open ?? [],
    last: due?.last,
    dead: due?.dead ?? 0,
    runs: executions.map(toExecutionJson),
  };
}

/** Returns an execution for JSON output. */
function toExecutionJson({ value, fault, token }: Execution): object {
  return { ...value, fault, token };
}

/**
 * The states of a schedule. `due`: a worker may start the next run. `late`: the run has been due for
 * `SCHEDULE_LATE_AFTER`, and no worker started it. `retrying`: a failed run is retried. `no-worker`: no worker has a
 * handler for it. `failed`: its last run failed, and is not retried.
 */
export const SCHEDULE_STATES = [
  "malformed",
  "running",
  "paused",
  "no-worker",
  "late",
  "due",
  "retrying",
  "failed",
  "ended",
  "waiting",
] as const;
type ScheduleState = (typeof SCHEDULE_STATES)[number];

/** One schedule. Instants in ms since the epoch. */
export interface ScheduleRow {
  id: string;
  state: ScheduleState;
  /** All states that apply: a running schedule may also be paused. The first one is `state`. */
  states: readonly ScheduleState[];
  /** Which value cannot be read or is missing, and why. */
  fault: string | undefined;
  definition: Definition | undefined;
  due: DueState | undefined;
  /** When it may run next, if known. */
  next: number | undefined;
  executions: readonly Execution[];
}

/** A schedule is late if it is due for this long without a start, ms. Workers start a due run within about 2 s. */
export const SCHEDULE_LATE_AFTER = 10_000;

/** A row with its inputs. It is valid from `from` until `until`, ms since the epoch. */
interface CachedScheduleRow {
  row: ScheduleRow;
  due: StoredValue<DueState> | undefined;
  executions: readonly Execution[];
  isServed: boolean;
  /** Why it does not fire: a calendar is missing or cannot be read. */
  calendarFault: string | undefined;
  from: number;
  until: number;
}

/** Rows of unchanged schedules, by stored definition: there may be 100,000. */
const cachedRows = new WeakMap<object, CachedScheduleRow>();
const NONE: readonly Execution[] = [];

/** Builds the rows of all schedules. Returns the same array until a row changes. `wall`: ms since the epoch. */
export function buildScheduleRows(
  snapshot: Pick<Snapshot, "schedules" | "dues" | "executions" | "workers" | "calendars">,
  viewContext: Pick<ViewContext, "wall" | "groups">,
): readonly ScheduleRow[] {
  const { schedules, dues, executions, calendars } = snapshot;
  const served = createServedPredicate(snapshot, viewContext);
  const { wall } = viewContext;
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
      executions: executions.get(id) ?? NONE,
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

/** Builds the row of one schedule; undefined if it does not exist. @param wall  ms since the epoch */
function findScheduleRow(
  snapshot: Pick<Snapshot, "schedules" | "dues" | "executions" | "workers" | "groups" | "calendars">,
  id: string,
  wall: number,
): ScheduleRow | undefined {
  const kept = snapshot.schedules.get(id);
  if (kept === undefined) return undefined;
  const served = createServedPredicate(snapshot, { groups: buildGroupMembers(snapshot) });
  const executions = snapshot.executions.get(id) ?? NONE;
  return buildRow(id, kept, {
    due: snapshot.dues.get(id),
    executions,
    served,
    wall,
    calendars: snapshot.calendars,
  }).row;
}

let lastResult:
  | { parts: readonly unknown[]; rows: readonly ScheduleRow[]; from: number; until: number }
  | undefined;

interface RowInputs {
  due: StoredValue<DueState> | undefined;
  executions: readonly Execution[];
  served: ServedPredicate;
  calendars: Calendars;
  wall: number;
}

function buildRow(
  id: string,
  kept: StoredValue<Definition>,
  { due, executions, served, calendars, wall }: RowInputs,
): CachedScheduleRow {
  const known = cachedRows.get(kept);
  const isServed = kept.value === undefined || served(id, kept.value);
  const calendarFault = kept.value && findCalendarFault(kept.value, calendars);
  const isSame =
    known?.calendarFault === calendarFault &&
    known?.due === due &&
    known?.executions === executions &&
    known.isServed === isServed;
  if (known !== undefined && isSame && wall >= known.from && wall < known.until) return known;
  const next = computeNext(kept.value, due?.value, executions, wall);
  const fault = findFault(kept, due) ?? calendarFault;
  const states = listStates({ kept, due, executions, served, calendars, wall }, { isServed, fault, next });
  const one: CachedScheduleRow = {
    due,
    executions,
    isServed,
    calendarFault,
    from: wall,
    until: computeValidUntil(kept.value, next, wall),
    row: {
      id,
      state: states[0] ?? "waiting",
      states,
      fault,
      next,
      executions,
      definition: kept.value,
      due: due?.value,
    },
  };
  cachedRows.set(kept, one);
  return one;
}

function findFault(
  kept: StoredValue<Definition>,
  due: StoredValue<DueState> | undefined,
): string | undefined {
  if (kept.fault !== undefined) return `its definition cannot be read: ${kept.fault}`;
  if (due === undefined) return "its due time is missing";
  return due.fault === undefined ? undefined : `its due time cannot be read: ${due.fault}`;
}

/** Returns the earliest possible start. A pause delays all runs except triggers until its end. */
function computeNext(
  definition: Definition | undefined,
  due: DueState | undefined,
  executions: readonly Execution[],
  wall: number,
): number | undefined {
  if (definition === undefined || due === undefined) return undefined;
  const running = new Set(executions.map(({ value }) => value?.scheduled));
  const open = due.open.filter(({ scheduled }) => !running.has(scheduled));
  const planned = isHeadFree(definition, due) ? [due.runAt] : [];
  const until = isPaused(definition, wall) ? (definition.pause?.until ?? Number.POSITIVE_INFINITY) : 0;
  const triggers = open.filter(({ kind }) => kind === "trigger").map(({ runAt }) => runAt);
  const others = [...open.filter(({ kind }) => kind !== "trigger").map(({ runAt }) => runAt), ...planned];
  const next = Math.min(...triggers, ...others.map((runAt) => Math.max(runAt, until)));
  return Number.isFinite(next) ? next : undefined;
}

/** Lists all states that apply; the first one is shown. */
function listStates(
  { kept, due, executions, wall }: RowInputs & { kept: StoredValue<Definition> },
  { isServed, fault, next }: { isServed: boolean; fault: string | undefined; next: number | undefined },
): ScheduleState[] {
  const { value: definition } = kept;
  const state = due?.value;
  const isIdle = executions.length === 0;
  const isOver = state?.next === undefined && state?.open.length === 0 && state.backfill === undefined;
  const overdue = next === undefined ? 0 : wall - next;
  const found: (ScheduleState | false)[] = [
    fault !== undefined && "malformed",
    !isIdle && "running",
    definition !== undefined && isPaused(definition, wall) && "paused",
    !isServed && !isOver && "no-worker",
    isIdle && overdue >= SCHEDULE_LATE_AFTER && "late",
    isIdle && next !== undefined && overdue >= 0 && "due",
    state?.open.some(({ failures }) => failures > 0) === true && "retrying",
    hasFailed(state?.last) && !isRetried(state) && "failed",
    fault === undefined && isOver && definition?.cron !== MANUAL && "ended",
  ];
  const states = found.filter((one) => one !== false);
  const isWaiting = fault === undefined && next !== undefined && overdue < 0;
  return isWaiting ? [...states, "waiting"] : states;
}

function hasFailed(last: LastOccurrence | undefined): boolean {
  return last?.result === "failed" || last?.result === "timeout" || last?.result === "lost";
}

/** Whether the occurrence that ended last is retried. */
function isRetried(due: DueState | undefined): boolean {
  return due?.open.some(({ scheduled }) => scheduled === due.last?.scheduled) === true;
}

/** Returns the next instant at which the row changes without a change in etcd. */
function computeValidUntil(
  definition: Definition | undefined,
  next: number | undefined,
  wall: number,
): number {
  const instants = [next, next && next + SCHEDULE_LATE_AFTER, definition?.pause?.until];
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...(instants.filter((at) => at !== undefined && at > wall) as number[]),
  );
}

/** Returns whether any worker can run a schedule. */
type ServedPredicate = (id: string, definition: Definition) => boolean;

/** The last predicate: workers write their records every few seconds, mostly without changes. */
let lastAnswer: { text: string; served: ServedPredicate } | undefined;

interface GroupContext {
  /** Members by group. */
  groups: ReadonlyMap<string, readonly string[]>;
}

/** Creates the predicate from the worker records. Returns the same function until workers or groups change. */
function createServedPredicate(
  { workers }: Pick<Snapshot, "workers">,
  { groups }: GroupContext,
): ServedPredicate {
  const able = [...workers.values()].flatMap(({ value }) =>
    value === undefined || value.isLeaving || value.clock === "refuses" ? [] : [value],
  );
  const text = JSON.stringify([able.map(({ host, types }) => [host, types]), [...groups]]);
  if (lastAnswer?.text === text) return lastAnswer.served;
  const served = createPredicate(able, groups);
  lastAnswer = { text, served };
  return served;
}

function createPredicate(workers: readonly WorkerRecord[], groups: GroupContext["groups"]): ServedPredicate {
  const kinds = new Map<string, boolean>();
  const known = new WeakMap<Definition, boolean>(); // there may be 100,000, each checked many times
  const isKindServed = (id: string, definition: Definition) => {
    const { group, command } = definition;
    const kind = JSON.stringify([command === undefined ? getScheduleType(id, definition) : null, group]);
    const answer =
      kinds.get(kind) ??
      workers.some(({ types, host }) => canHandle(types, id, definition) && isFor(group, host, groups));
    kinds.set(kind, answer);
    return answer;
  };
  return (id, definition) => {
    const answer = known.get(definition) ?? isKindServed(id, definition);
    known.set(definition, answer);
    return answer;
  };
}

function isFor(group: string | undefined, host: string, groups: GroupContext["groups"]): boolean {
  return group === undefined || (groups.has(group) && findMembership(groups, group, host) !== undefined);
}

/** Builds the detail of a schedule: definition, executions, next and last runs. Undefined if it does not exist. */
export function buildScheduleDetail(
  snapshot: Snapshot,
  id: string,
  { wall, sessions }: DetailContext,
): Detail | undefined {
  const row = findScheduleRow(snapshot, id, wall);
  if (row === undefined) return undefined;
  const outcomes = parseOutcomes(snapshot.outcomes.get(id));
  return {
    heading: `schedule ${id}: ${row.states.join(", ")}`,
    tone: getScheduleTone(row.state),
    evidence: buildLastOutput(outcomes),
    facts: buildScheduleFacts(row, wall),
    sections: [
      ...buildExecutionTable(row, wall, sessions),
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

function buildScheduleFacts(row: ScheduleRow, wall: number): Fact[] {
  const { id, definition, due, fault, next } = row;
  if (definition === undefined) return buildFacts([["malformed", fault, "problem"]]);
  return buildFacts([
    ["malformed", fault, "problem"],
    ["paused", formatPause(definition), "problem"],
    ["when", `${explainPlan(parsePlan(definition.cron))} (${definition.timezone})`],
    ["cron", definition.cron],
    ["followed by", due?.successors?.join(", ")],
    ["backfill", due?.backfill && formatBackfill(due.backfill)],
    ["has ended", due?.arrived?.map(({ id }) => id).join(", ")],
    ["next", next === undefined ? undefined : `${formatTimeUntilNext(next, wall)}, ${formatInstant(next)}`],
    [
      "no worker",
      row.states.includes("no-worker") ? `none ${formatMissingWorker(definition.group)}` : undefined,
      "problem",
    ],
    ["type", definition.command === undefined ? getScheduleType(id, definition) : definition.type],
    ["command", definition.command?.join(" ")],
    ["data", definition.data === undefined ? undefined : JSON.stringify(definition.data)],
    ["environment", Object.keys(definition.env ?? {}).join(" ")],
    ...listRuleFacts(definition),
    ["note", definition.note],
    ["source", definition.source],
    [
      "last",
      due?.last === undefined ? undefined : `${due.last.result}, ${formatAgo(due.last.endedAt, wall)}`,
    ],
  ]);
}

type FactEntry = readonly [label: string, value: string | undefined];

/** Lists the rules of a schedule. Omits unset options, except catch-up and overlap. */
function listRuleFacts(definition: Definition): FactEntry[] {
  const { delay, jitter, deadline, timeout, retries, backoff = SCHEDULE_DEFAULTS.backoff, end } = definition;
  const { keep, keepFor } = definition;
  const formatTime = (ms: number | undefined) => (ms ? formatDuration(ms) : undefined);
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
    [
      "catch-up",
      `${definition.catchup ?? SCHEDULE_DEFAULTS.catchup}${deadline ? `, none later than ${formatTime(deadline)}` : ""}`,
    ],
    ["overlap", definition.overlap ?? SCHEDULE_DEFAULTS.overlap],
    ["time-out", formatTime(timeout)],
    ["retries", retries ? `${retries}, the first after ${formatDuration(backoff)}` : undefined],
    ["group", definition.group],
    ["leases", definition.leases?.join(" ")],
    ["hooks", Object.keys(definition.hooks ?? {}).join(" ")],
    ["history", formatLimits(keep, keepFor)],
    ["end", end === undefined ? undefined : formatInstant(end)],
  ];
}

/** Formats a backfill: `12 of 30 started, next 2026-11-21T03:00:00Z, 2 at a time`. */
function formatBackfill({ started, total, next, parallel }: Backfill): string {
  return `${started} of ${total} started, next ${formatInstant(next)}, ${parallel} at a time`;
}

function formatLimits(keep: number | undefined, keepFor: number | undefined): string | undefined {
  const count = keep === undefined ? "" : `${keep} outcomes`;
  const age = keepFor === undefined ? "" : `of ${formatDuration(keepFor)}`;
  return `${count} ${age}`.trim() || undefined;
}

function formatPause({ pause }: Definition): string | undefined {
  if (pause === undefined) return undefined;
  const until = pause.until === undefined ? "" : ` until ${formatInstant(pause.until)}`;
  return `by ${pause.by}, since ${formatInstant(pause.at)}${until}${pause.why === undefined ? "" : `: ${pause.why}`}`;
}

const formatAgo = (at: number, wall: number) => `${formatBriefDuration(wall - at)} ago`;

const PROGRESS: ItemColumn<Execution> = {
  title: "PROGRESS",
  priority: 2,
  getCell: ({ value }) => value?.progress,
};

/** Builds the table of current executions. */
function buildExecutionTable(
  { executions }: ScheduleRow,
  wall: number,
  sessions: SessionLivenessMap,
): Section[] {
  const columns: ItemColumn<Execution>[] = [
    { title: "WHO", priority: 1, getCell: buildExecutionOwnerCell },
    { title: "WORKER", priority: 2, getCell: (execution) => buildWorkerCell(execution, sessions) },
    { title: "SCHEDULED", priority: 1, getCell: ({ value }) => value && formatInstant(value.scheduled) },
    { title: "ATTEMPT", priority: 3, align: "right", getCell: ({ value }) => value && String(value.attempt) },
    {
      title: "SINCE",
      priority: 1,
      align: "right",
      getCell: ({ value }) => value && formatBriefDuration(wall - value.since),
    },
    {
      title: "LATE",
      priority: 3,
      align: "right",
      getCell: ({ value }) => value && formatBriefDuration(value.late),
    },
    ...(executions.some(({ value }) => value?.progress !== undefined) ? [PROGRESS] : []),
    { title: "TOKEN", priority: 5, align: "right", getCell: ({ token }) => String(token) },
  ];
  return buildDetailTable("runs now", columns, executions);
}

function buildExecutionOwnerCell(execution: Execution): Cell {
  if (execution.value !== undefined) return buildOwnerCell(formatExecutionOwner(execution));
  return { text: `key ${execution.key}: ${execution.fault}`, tone: "problem" };
}

function buildWorkerCell(execution: Execution, sessions: SessionLivenessMap): Cell {
  const alive = findRunnerLiveness(execution, sessions);
  return { text: alive?.verdict ?? "", tone: alive?.verdict === "alive" ? "plain" : "problem" };
}

/** Builds the table of open occurrences, planned or triggered, that wait for a start. */
function buildOpenTable({ due, executions }: ScheduleRow, wall: number): Section[] {
  const running = new Set(executions.map(({ value }) => value?.scheduled));
  const waiting = (due?.open ?? []).filter(({ scheduled }) => !running.has(scheduled));
  const columns: ItemColumn<OpenOccurrence>[] = [
    { title: "SCHEDULED", priority: 1, getCell: ({ scheduled }) => formatInstant(scheduled) },
    { title: "KIND", priority: 2, getCell: ({ kind }) => kind },
    { title: "DUE", priority: 1, getCell: ({ runAt }) => formatTimeUntilNext(runAt, wall) },
    { title: "STARTS", priority: 3, align: "right", getCell: ({ attempt }) => String(attempt) },
    { title: "FAILURES", priority: 3, align: "right", getCell: ({ failures }) => String(failures) },
  ];
  return buildDetailTable("to be started", columns, waiting);
}

/** Number of occurrences shown. */
const COUNT = 5;

/** Builds the table of the next occurrences, with notes on clock changes (daylight saving time) and excluded days. */
function buildUpcomingTable(
  { id, definition, due }: ScheduleRow,
  calendars: Calendars,
  wall: number,
): Section[] {
  const first = due?.next;
  if (definition === undefined || first === undefined) return [];
  const lag = computeLag(id, definition);
  const { end = Number.POSITIVE_INFINITY } = definition;
  const found = listUpcoming(definition, calendars, {
    after: first - 1,
    count: COUNT,
    since: Math.min(first, wall),
  });
  const columns: ItemColumn<UpcomingOccurrence>[] = [
    { title: "SCHEDULED", priority: 1, getCell: ({ local }) => local },
    { title: "MAY RUN", priority: 2, getCell: ({ at }) => formatInstant(at + lag) },
    { title: "IN", priority: 1, align: "right", getCell: ({ at }) => formatBriefDuration(at + lag - wall) },
    { title: "NOTE", priority: 3, getCell: buildNoteCell },
  ];
  return buildDetailTable(
    `next runs; more: signalbox schedule next ${quoteShellWord(id)}`,
    columns,
    found.filter(({ at }) => at <= end),
  );
}

function buildNoteCell({ note, mark }: UpcomingOccurrence): Cell {
  return { text: note ?? mark ?? "", tone: mark === undefined ? "plain" : "waiting" };
}
