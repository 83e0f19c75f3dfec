import { formatDuration } from "../../base/duration.ts";
import { type Calendars, NO_CALENDARS } from "../../schedule/calendar/calendar.ts";
import { listUpcoming } from "../../schedule/calendar/upcoming-days.ts";
import type { UpcomingOccurrence } from "../../schedule/cron/upcoming-occurrences.ts";
import type { Definition } from "../../schedule/definition.ts";
import type { DueState } from "../../schedule/state/due.ts";
import { computeLag } from "../../schedule/timing.ts";
import { formatInstantUtc } from "../command-line/instant.ts";

/** A future occurrence. Times are ms since the epoch. */
export interface UpcomingRun extends UpcomingOccurrence {
  /** When it may start: its time plus delay and jitter. */
  runAt: number;
}

/**
 * Computes the next occurrences of a schedule, assuming that it does not change.
 * @param due  its current state; the first occurrence may be in the past if it is late
 * @param marks.since  excluded days are marked from this instant on, ms since the epoch
 */
export function computeNextRuns(
  id: string,
  definition: Definition,
  due: DueState,
  count: number,
  marks: CalendarMarks = {},
): UpcomingRun[] {
  if (due.next === undefined) return [];
  const all = computeRunsFrom(id, definition, due.next, count, marks);
  return all.map((one) => (one.at === due.next ? { ...one, runAt: due.runAt } : one));
}

/** What is needed to mark excluded days. */
export interface CalendarMarks {
  calendars?: Calendars;
  /** ms since the epoch. Default: the start of the list. */
  since?: number;
}

/** Computes the occurrences from a time on. @throws ConfigError if a calendar is missing or cannot be read */
export function computeRunsFrom(
  id: string,
  definition: Definition,
  from: number,
  count: number,
  { calendars = NO_CALENDARS, since = from }: CalendarMarks = {},
): UpcomingRun[] {
  const lag = computeLag(id, definition);
  const { end = Number.POSITIVE_INFINITY } = definition;
  const range = { after: from - 1, count, since: Math.min(since, from) };
  return listUpcoming(definition, calendars, range)
    .filter(({ at }) => at <= end)
    .map((one) => ({ ...one, runAt: one.at + lag }));
}

/** Formats the next runs as lines: `next: 2026-11-22 04:00 CET (+01:00), 2026-11-22 03:00:00 UTC`. */
export function formatUpcomingRuns(
  id: string,
  definition: Definition,
  due: DueState,
  count: number,
  marks: CalendarMarks = {},
): string[] {
  return computeNextRuns(id, definition, due, count, marks).map(
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
