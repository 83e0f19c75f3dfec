import { buildScheduleRows, SCHEDULE_STATES } from "../rows/schedule-row.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { buildViewContext } from "../views/view-context.ts";
import { createLabelledMetric, createMetric, type MetricFamily, measureItems } from "./metric-family.ts";

const CLOCKS = ["ok", "warns", "refuses", "malformed"];

/** Maximum number of schedules with their own series. There may be 100,000 schedules; the last ones to end are shown. */
const MOST_SCHEDULES = 1_000;

/** Measures schedules and workers. @param wall  ms since the epoch */
export function measureSchedules(snapshot: Snapshot, wall: number): MetricFamily[] {
  const states = new Map<string, number>(SCHEDULE_STATES.map((state) => [state, 0]));
  let lateness = 0;
  for (const { state, states: all, next } of buildScheduleRows(snapshot, buildViewContext(snapshot, wall))) {
    states.set(state, (states.get(state) ?? 0) + 1);
    if (all.includes("late") && next !== undefined) lateness = Math.max(lateness, wall - next);
  }
  const tasks = [...snapshot.executions.values()].reduce((sum, { length }) => sum + length, 0);
  return [
    createLabelledMetric("schedules", "Schedules, each by the first of its states.", "state", states),
    createMetric(
      "schedule_lateness_seconds",
      "How late the most overdue schedule is that no worker takes.",
      lateness / 1_000,
    ),
    createMetric("tasks_running", "Occurrences of schedules that run.", tasks),
    ...measureSuccesses(snapshot),
    ...measureWorkers(snapshot),
  ];
}

function measureSuccesses({ dues }: Snapshot): MetricFamily[] {
  const ended = [...dues].flatMap(([schedule, { value }]) => {
    const { last, succeededAt } = value ?? {};
    if (last === undefined) return [];
    const success = succeededAt ?? (last.result === "ok" ? last.endedAt : undefined); // an older worker has written it
    return [{ schedule, endedAt: last.endedAt, success }];
  });
  const shown = ended.sort((a, b) => b.endedAt - a.endedAt).slice(0, MOST_SCHEDULES);
  return [
    ...measureItems(shown, ({ schedule }) => ({ schedule }), [
      [
        "schedule_last_success_timestamp_seconds",
        "When an occurrence of the schedule last succeeded, in seconds since the epoch.",
        ({ success }) => success && success / 1_000,
      ],
      [
        "schedule_last_end_timestamp_seconds",
        "When an occurrence of the schedule last ended, in seconds since the epoch.",
        ({ endedAt }) => endedAt / 1_000,
      ],
    ]),
    createMetric(
      "schedules_left_out",
      "Schedules that have run and have no series of their own.",
      ended.length - shown.length,
    ),
  ];
}

function measureWorkers({ workers }: Snapshot): MetricFamily[] {
  const clocks = new Map(CLOCKS.map((clock) => [clock, 0]));
  let slots = 0;
  let leaving = 0;
  for (const { value } of workers.values()) {
    const clock = value?.clock ?? "malformed";
    clocks.set(clock, (clocks.get(clock) ?? 0) + 1);
    if (value?.isLeaving) leaving += 1;
    else slots += value?.concurrency ?? 0;
  }
  return [
    createLabelledMetric("workers", "Workers, by the state of their clocks.", "clock", clocks),
    createMetric("workers_leaving", "Workers that take no more tasks.", leaving),
    createMetric("worker_slots", "Tasks that the other workers may run at once.", slots),
  ];
}
