import { briefDuration, formatInstant } from "../../base/duration.ts";
import { typeOf } from "../../schedule/definition.ts";
import type { Execution } from "../picture.ts";
import { type ScheduleRow, type ScheduleState, scheduleRows } from "../schedule-row.ts";
import { ago, andMore, briefWho, lasting } from "./cells.ts";
import { type PictureView, SCENE_ROOMS, type Tone } from "./view.ts";

export const schedules: PictureView<ScheduleRow> = {
  ...{
    ...{ of: "picture", isTimed: true, id: "schedules" },
    brief: "schedules: when they run next, who runs them, how the last run ended",
  },
  rooms: [...SCENE_ROOMS, "schedules", "dues", "runnings", "workers"],
  columns: [
    { id: "schedule", title: "SCHEDULE", priority: 1, text: ({ id }) => id },
    {
      ...{ id: "state", title: "STATE", isMarked: true, priority: 1, text: ({ state }) => state },
      tone: ({ state }) => scheduleTone(state),
    },
    {
      ...{ id: "next", title: "NEXT", priority: 1, align: "right", isTimed: true },
      text: ({ next }, wall) => nextText(next, wall),
      order: ({ next }) => next ?? Number.POSITIVE_INFINITY,
      tone: ({ states }) => (states.includes("late") ? "problem" : "plain"),
    },
    {
      ...{ id: "at", title: "AT", priority: 4 },
      text: ({ next }) => (next === undefined ? "" : formatInstant(next)),
      order: ({ next }) => next ?? Number.POSITIVE_INFINITY,
    },
    {
      ...{ id: "on", title: "ON", priority: 2, text: (row) => andMore(hostsOf(row)) },
      brief: (row) => andMore(hostsOf(row).map(briefWho)),
    },
    {
      ...{ id: "since", title: "SINCE", priority: 3, align: "right", isTimed: true },
      text: (row, wall) => ago(sinceOf(row), wall),
      order: (row) => lasting(sinceOf(row)),
    },
    {
      ...{ id: "last", title: "LAST", priority: 2, text: ({ due }) => due?.last?.result ?? "" },
      tone: ({ due }) => resultTone(due?.last?.result),
    },
    {
      ...{ id: "ended", title: "ENDED", priority: 3, align: "right", isTimed: true },
      text: ({ due }, wall) => (due?.last === undefined ? "" : `${ago(due.last.endedAt, wall)} ago`),
      order: ({ due }) => lasting(due?.last?.endedAt),
    },
    {
      ...{ id: "late", title: "LATE", priority: 4, align: "right" },
      text: ({ due }) => (due?.last === undefined ? "" : lateText(due.last.late)),
      order: ({ due }) => due?.last?.late ?? -1,
    },
    { id: "cron", title: "CRON", priority: 2, text: ({ definition }) => definition?.cron ?? "" },
    { id: "zone", title: "ZONE", priority: 5, text: ({ definition }) => definition?.timezone ?? "" },
    { id: "task", title: "TASK", priority: 3, text: taskText },
    {
      ...{ id: "dead", title: "DEAD", priority: 3, align: "right" },
      text: ({ due }) => (due?.dead === undefined ? "" : String(due.dead)),
      order: ({ due }) => due?.dead ?? 0,
      tone: () => "problem",
    },
    { id: "note", title: "NOTE", priority: 4, text: noteText, tone: ({ state }) => scheduleTone(state) },
    {
      ...{ id: "open", title: "OPEN", priority: 6, align: "right" },
      text: ({ due }) => (due === undefined || due.open.length === 0 ? "" : String(due.open.length)),
      order: ({ due }) => due?.open.length ?? 0,
    },
    { id: "group", title: "GROUP", priority: 6, text: ({ definition }) => definition?.group ?? "" },
    { id: "source", title: "SOURCE", priority: 9, text: ({ definition }) => definition?.source ?? "" },
  ],
  sort: "next",
  key: ({ id }) => id,
  facets: (row) => ({ states: row.states, hosts: hostsOf(row), holders: row.executions.map(whoRuns) }),
  subject: ({ id }) => ({ kind: "schedule", name: id }),
  json: scheduleJson,
  rows: scheduleRows,
  empty: "There are no schedules. Make one: signalbox schedule add backup '0 3 * * *' -- backup.sh",
};

const TONES: Partial<Record<ScheduleState, Tone>> = {
  ...{
    malformed: "problem",
    "no-worker": "problem",
    late: "problem",
    failed: "problem",
    retrying: "problem",
  },
  ...{ running: "held", paused: "quiet", ended: "quiet", due: "waiting" },
};

export function scheduleTone(state: ScheduleState): Tone {
  return TONES[state] ?? "free";
}

/** How a result is shown. `released` and `retry` are what handlers ask for: nothing is wrong. */
export function resultTone(result: string | undefined): Tone {
  if (result === undefined || result === "ok") return "quiet";
  return result === "released" || result === "retry" ? "plain" : "problem";
}

/** `in 5m`, or how long it is overdue: `3m over`. */
export function nextText(next: number | undefined, wall: number): string {
  if (next === undefined) return "";
  return next > wall ? `in ${briefDuration(next - wall + 999)}` : `${briefDuration(wall - next)} over`;
}

/** Milliseconds below ten seconds, for that is where they tell something. */
export function lateText(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : briefDuration(ms);
}

/** `HOST:PID` of the worker that runs something. */
export function whoRuns({ value, key }: Execution): string {
  return value === undefined ? `malformed ${key}` : `${value.host}:${value.pid}`;
}

function hostsOf({ executions }: ScheduleRow): string[] {
  return executions.flatMap(({ value }) => value?.host ?? []);
}

function sinceOf({ executions }: ScheduleRow): number | undefined {
  return executions.find(({ value }) => value !== undefined)?.value?.since;
}

/** What is run: the words of a command, or the type that chooses a handler. */
export function taskText({ id, definition }: Pick<ScheduleRow, "id" | "definition">): string {
  if (definition === undefined) return "";
  return definition.command?.join(" ") ?? typeOf(id, definition);
}

/** Why no worker will run it, to be put behind "no worker" or "none": one without the right host is as good as none. */
export function lackText(group: string | undefined): string {
  return group === undefined ? "has a handler for it" : `in the group ${group} has a handler for it`;
}

function noteText({ fault, definition, state }: ScheduleRow): string {
  const { pause, note } = definition ?? {};
  if (fault !== undefined) return fault;
  if (state === "no-worker") return `no worker ${lackText(definition?.group)}`;
  if (pause === undefined) return note ?? "";
  const until = pause.until === undefined ? "" : ` until ${formatInstant(pause.until)}`;
  return `paused by ${pause.by}${until}${pause.why === undefined ? "" : `: ${pause.why}`}`;
}

/** A schedule for programs. Instants in ms since the epoch, durations in ms. */
function scheduleJson(row: ScheduleRow): object {
  const { id, state, states, fault, definition, due, next, executions } = row;
  return {
    ...{ schedule: id, state, states, fault, task: taskText(row), next, nominal: due?.next },
    ...{
      definition,
      open: due?.open ?? [],
      last: due?.last,
      dead: due?.dead ?? 0,
      runs: executions.map(executionJson),
    },
  };
}

/** Who runs an occurrence, for programs. */
export function executionJson({ value, fault, token }: Execution): object {
  return { ...value, fault, token };
}
