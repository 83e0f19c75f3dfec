import type { Picture } from "../picture.ts";
import { type ScheduleState, scheduleRows } from "../schedule-row.ts";
import { sceneOf } from "../tables/scene.ts";
import { type Family, figure, tally } from "./family.ts";

/** In the order in which one counts before another. */
const STATES: readonly ScheduleState[] = [
  ...(["malformed", "running", "paused", "no-worker", "late", "due"] as const),
  ...(["retrying", "failed", "ended", "waiting"] as const),
];
const CLOCKS = ["ok", "warns", "refuses", "malformed"];

/** How schedules and their workers stand. @param wall  ms since the epoch */
export function scheduleMeasures(picture: Picture, wall: number): Family[] {
  const states = new Map<string, number>(STATES.map((state) => [state, 0]));
  let lateness = 0;
  for (const { state, states: all, next } of scheduleRows(picture, sceneOf(picture, wall))) {
    states.set(state, (states.get(state) ?? 0) + 1);
    if (all.includes("late") && next !== undefined) lateness = Math.max(lateness, wall - next);
  }
  const tasks = [...picture.executions.values()].reduce((sum, { length }) => sum + length, 0);
  return [
    tally("schedules", "Schedules, each by the first of its states.", "state", states),
    figure(
      "schedule_lateness_seconds",
      "How late the latest of those is that nobody takes.",
      lateness / 1_000,
    ),
    figure("tasks_running", "Occurrences of schedules that run.", tasks),
    ...workerMeasures(picture),
  ];
}

function workerMeasures({ workers }: Picture): Family[] {
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
    tally("workers", "Workers, by how they stand with their clocks.", "clock", clocks),
    figure("workers_leaving", "Those of them that take nothing more.", leaving),
    figure("worker_slots", "Tasks that the others may run at once.", slots),
  ];
}
