import { formatDuration } from "../../base/duration.ts";
import type { UpcomingOccurrence } from "../../schedule/cron/upcoming-occurrences.ts";
import type { Definition } from "../../schedule/definition.ts";
import { listPlannedOccurrences } from "../../schedule/plan/explain-plan.ts";
import { parsePlan } from "../../schedule/plan/plan.ts";
import type { DueState } from "../../schedule/state/due.ts";
import { createTiming } from "../../schedule/timing.ts";
import { formatInstantUtc } from "../command-line/instant.ts";

/** A future occurrence. Times are ms since the epoch. */
export interface UpcomingRun extends UpcomingOccurrence {
  /** When it may start: its time plus delay and jitter. */
  runAt: number;
}

/**
 * Computes the next occurrences of a schedule, assuming that it does not change.
 * @param due  its current state; the first occurrence may be in the past if it is late
 */
export function computeNextRuns(
  id: string,
  definition: Definition,
  due: DueState,
  count: number,
): UpcomingRun[] {
  if (due.next === undefined) return [];
  const all = computeRunsFrom(id, definition, due.next, count);
  return all.map((one) => (one.at === due.next ? { ...one, runAt: due.runAt } : one));
}

/** Computes the occurrences from a time on. */
export function computeRunsFrom(
  id: string,
  definition: Definition,
  from: number,
  count: number,
): UpcomingRun[] {
  const { lag } = createTiming(id, definition);
  const { cron, timezone, end = Number.POSITIVE_INFINITY } = definition;
  return listPlannedOccurrences(parsePlan(cron), timezone, from - 1, count)
    .filter(({ at }) => at <= end)
    .map((one) => ({ ...one, runAt: one.at + lag }));
}

/** Formats the next runs as lines: `next: 2026-11-22 04:00 CET (+01:00), 2026-11-22 03:00:00 UTC`. */
export function formatUpcomingRuns(
  id: string,
  definition: Definition,
  due: DueState,
  count: number,
): string[] {
  return computeNextRuns(id, definition, due, count).map(
    (one, index) => `${index === 0 ? "next:" : "then:"} ${formatUpcomingRun(one)}`,
  );
}

function formatUpcomingRun({ at, local, runAt, mark, note }: UpcomingRun): string {
  const lag = runAt - at;
  const started =
    lag === 0
      ? ""
      : lag > 0
        ? `, started ${formatDuration(lag)} later`
        : `, started ${formatInstantUtc(runAt)}`;
  return `${local}, ${formatInstantUtc(at)}${started}${formatClockMark({ mark, note })}`;
}

/** Formats how a clock change affects an occurrence. */
export function formatClockMark({
  mark,
  note,
}: {
  mark?: UpcomingOccurrence["mark"] | undefined;
  note?: string | undefined;
}): string {
  if (mark === undefined && note === undefined) return "";
  return `  [${[mark, note].filter((part) => part !== undefined).join(": ")}]`;
}
