import type { Calendars } from "../../schedule/calendar/calendar.ts";
import { findCalendarFault } from "../../schedule/calendar/day-rule.ts";
import { type Definition, isPaused } from "../../schedule/definition.ts";
import { MANUAL } from "../../schedule/plan/plan.ts";
import type { DueState, LastOccurrence } from "../../schedule/state/due.ts";
import { isHeadFree } from "../../schedule/state/next-candidate.ts";
import { createServedPredicate, type ServedPredicate } from "../snapshot/served-predicate.ts";
import { buildGroupMembers, type Execution, type Snapshot, type StoredValue } from "../snapshot/snapshot.ts";
import type { ViewContext } from "../views/view.ts";

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
export type ScheduleState = (typeof SCHEDULE_STATES)[number];

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
export function findScheduleRow(
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
