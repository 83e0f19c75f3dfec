import { buildScheduleRows, SCHEDULE_STATES } from "../rows/schedule-row.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { buildViewContext } from "../views/view-context.ts";
import { createLabelledMetric, createMetric, type MetricFamily } from "./metric-family.ts";

const CLOCKS = ["ok", "warns", "refuses", "malformed"];

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
    ...measureWorkers(snapshot),
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
