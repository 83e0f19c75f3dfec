import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { getScheduleType } from "../../schedule/definition.ts";
import { buildScheduleRows, type ScheduleRow, type ScheduleState } from "../rows/schedule-row.ts";
import type { Execution } from "../snapshot/snapshot.ts";
import { CONTEXT_COLLECTIONS, type SnapshotView, type Tone } from "../views/view.ts";
import { computeDurationWeight, formatAge, formatFirstAndMore, shortenOwner } from "./cells.ts";
import { createAgeColumn, createAgeMeasure, createNumberColumn, createStateColumn } from "./columns.ts";

export const schedulesView: SnapshotView<ScheduleRow> = {
  of: "picture",
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

/** Returns the tone of a result. `released` and `retry` are requests of handlers, not problems. */
export function getResultTone(result: string | undefined): Tone {
  if (result === undefined || result === "ok") return "quiet";
  return result === "released" || result === "retry" ? "plain" : "problem";
}

/** Formats the time until the next run: `in 5m`, or `3m over` if it is overdue. Times in ms since the epoch. */
export function formatTimeUntilNext(next: number | undefined, wall: number): string {
  if (next === undefined) return "";
  return next > wall
    ? `in ${formatBriefDuration(next - wall + 999)}`
    : `${formatBriefDuration(wall - next)} over`;
}

/** Formats a lateness, in tenths of a second below 10 s. @param ms  milliseconds */
export function formatLateness(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : formatBriefDuration(ms);
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
export function formatMissingWorker(group: string | undefined): string {
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
