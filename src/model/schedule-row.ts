import { type Definition, isPaused } from "../schedule/definition.ts";
import type { Due, Last } from "../schedule/due.ts";
import { type Execution, type Kept, membersOf, type Picture } from "./picture.ts";
import { type Served, servedBy } from "./served.ts";
import type { Scene } from "./tables/view.ts";

/**
 * How a schedule stands. `due`: its next run may be taken. `late`: that was so a while ago, and nobody took it. `retrying`: a run
 * that failed is tried again. `no-worker`: none has a handler for it. `failed`: its last run failed, and is not tried again.
 */
export const SCHEDULE_STATES = [
  ...(["malformed", "running", "paused", "no-worker", "late"] as const),
  ...(["due", "retrying", "failed", "ended", "waiting"] as const),
] as const;
export type ScheduleState = (typeof SCHEDULE_STATES)[number];

/** One schedule. Instants in ms since the epoch. */
export interface ScheduleRow {
  id: string;
  state: ScheduleState;
  /** All that holds of it: what runs may be paused as well. */
  states: readonly ScheduleState[];
  /** What cannot be read, and of which key. */
  fault: string | undefined;
  definition: Definition | undefined;
  due: Due | undefined;
  /** When it may run next, as far as that is known. */
  next: number | undefined;
  executions: readonly Execution[];
}

/** What is due for longer than this and was not taken, ms: workers take what is due within about two seconds. */
export const LATE = 10_000;

/** A row, what it was made of, and from when on, ms since the epoch, it may be another by itself. */
interface Made {
  row: ScheduleRow;
  due: Kept<Due> | undefined;
  executions: readonly Execution[];
  isServed: boolean;
  from: number;
  until: number;
}

/** Rows of schedules in which nothing has changed: there may be 100,000. */
const made = new WeakMap<object, Made>();
const NONE: readonly Execution[] = [];

/** All rows of a picture; the same array as long as none is another. @param scene.wall  ms since the epoch */
export function scheduleRows(
  picture: Pick<Picture, "schedules" | "dues" | "executions" | "workers">,
  scene: Pick<Scene, "wall" | "groups">,
): readonly ScheduleRow[] {
  const { schedules, dues, executions } = picture;
  const served = servedBy(picture, scene);
  const { wall } = scene;
  const parts = [schedules, dues, executions, served];
  if (last?.parts.every((part, at) => part === parts[at]) && wall >= last.from && wall < last.until)
    return last.rows;
  const rows: ScheduleRow[] = [];
  let until = Number.POSITIVE_INFINITY;
  for (const [id, kept] of schedules) {
    const one = rowOf(id, kept, { due: dues.get(id), executions: executions.get(id) ?? NONE, served, wall });
    rows.push(one.row);
    until = Math.min(until, one.until);
  }
  last = { parts, rows, from: wall, until };
  return rows;
}

/** One row; undefined where there is no such schedule. @param wall  ms since the epoch */
export function scheduleRowOf(
  picture: Pick<Picture, "schedules" | "dues" | "executions" | "workers" | "groups">,
  id: string,
  wall: number,
): ScheduleRow | undefined {
  const kept = picture.schedules.get(id);
  if (kept === undefined) return undefined;
  const served = servedBy(picture, { groups: membersOf(picture) });
  const executions = picture.executions.get(id) ?? NONE;
  return rowOf(id, kept, { due: picture.dues.get(id), executions, served, wall }).row;
}

let last:
  | { parts: readonly unknown[]; rows: readonly ScheduleRow[]; from: number; until: number }
  | undefined;

interface Around {
  due: Kept<Due> | undefined;
  executions: readonly Execution[];
  served: Served;
  wall: number;
}

function rowOf(id: string, kept: Kept<Definition>, { due, executions, served, wall }: Around): Made {
  const known = made.get(kept);
  const isServed = kept.value === undefined || served(id, kept.value);
  const isSame = known?.due === due && known?.executions === executions && known.isServed === isServed;
  if (known !== undefined && isSame && wall >= known.from && wall < known.until) return known;
  const next = nextOf(kept.value, due?.value, executions, wall);
  const fault = faultOf(kept, due);
  const states = statesOf({ kept, due, executions, served, wall }, { isServed, fault, next });
  const one: Made = {
    ...{ due, executions, isServed, from: wall, until: untilOf(kept.value, next, wall) },
    row: {
      ...{ id, state: states[0] ?? "waiting", states, fault, next, executions },
      ...{ definition: kept.value, due: due?.value },
    },
  };
  made.set(kept, one);
  return one;
}

function faultOf(kept: Kept<Definition>, due: Kept<Due> | undefined): string | undefined {
  if (kept.fault !== undefined) return `its definition cannot be read: ${kept.fault}`;
  if (due === undefined) return "nothing says when it is due";
  return due.fault === undefined ? undefined : `when it is due cannot be read: ${due.fault}`;
}

/** The earliest of what may start; what waits for the end of a pause may start then. */
function nextOf(
  definition: Definition | undefined,
  due: Due | undefined,
  executions: readonly Execution[],
  wall: number,
): number | undefined {
  if (definition === undefined || due === undefined) return undefined;
  const running = new Set(executions.map(({ value }) => value?.scheduled));
  const open = due.open.filter(({ scheduled }) => !running.has(scheduled));
  const planned = due.next === undefined ? [] : [due.runAt];
  const until = isPaused(definition, wall) ? (definition.pause?.until ?? Number.POSITIVE_INFINITY) : 0;
  const triggers = open.filter(({ kind }) => kind === "trigger").map(({ runAt }) => runAt);
  const others = [...open.filter(({ kind }) => kind === "due").map(({ runAt }) => runAt), ...planned];
  const next = Math.min(...triggers, ...others.map((runAt) => Math.max(runAt, until)));
  return Number.isFinite(next) ? next : undefined;
}

/** The state it shows is the first of them. */
function statesOf(
  { kept, due, executions, wall }: Around & { kept: Kept<Definition> },
  { isServed, fault, next }: { isServed: boolean; fault: string | undefined; next: number | undefined },
): ScheduleState[] {
  const { value: definition } = kept;
  const state = due?.value;
  const isIdle = executions.length === 0;
  const isOver = state?.next === undefined && state?.open.length === 0;
  const overdue = next === undefined ? 0 : wall - next;
  const found: (ScheduleState | false)[] = [
    fault !== undefined && "malformed",
    !isIdle && "running",
    definition !== undefined && isPaused(definition, wall) && "paused",
    !isServed && !isOver && "no-worker",
    isIdle && overdue >= LATE && "late",
    isIdle && next !== undefined && overdue >= 0 && "due",
    state?.open.some(({ failures }) => failures > 0) === true && "retrying",
    hasFailed(state?.last) && !isTried(state) && "failed",
    fault === undefined && isOver && "ended",
  ];
  const states = found.filter((one) => one !== false);
  const isWaiting = fault === undefined && next !== undefined && overdue < 0;
  return isWaiting ? [...states, "waiting"] : states;
}

function hasFailed(last: Last | undefined): boolean {
  return last?.result === "failed" || last?.result === "timeout" || last?.result === "lost";
}

/** Whether the last occurrence that ended is tried again. */
function isTried(due: Due | undefined): boolean {
  return due?.open.some(({ scheduled }) => scheduled === due.last?.scheduled) === true;
}

/** When time alone makes another row of it. */
function untilOf(definition: Definition | undefined, next: number | undefined, wall: number): number {
  const instants = [next, next && next + LATE, definition?.pause?.until];
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...(instants.filter((at) => at !== undefined && at > wall) as number[]),
  );
}
