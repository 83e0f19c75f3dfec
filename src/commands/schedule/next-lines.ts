import { formatDuration } from "../../base/duration.ts";
import { parseCron } from "../../schedule/cron.ts";
import type { Definition } from "../../schedule/definition.ts";
import type { Due } from "../../schedule/due.ts";
import { type Upcoming, upcoming } from "../../schedule/preview.ts";
import { timingOf } from "../../schedule/timing.ts";
import { shownInstant } from "./instant.ts";

/** An occurrence that is still to come. Instants in ms since the epoch. */
export interface Next extends Upcoming {
  /** When it may be started: its time, with delay and jitter. */
  runAt: number;
}

/**
 * The next occurrences of a schedule, should nobody change it.
 * @param due  where it is; the first may lie in the past, if it is late
 */
export function nextOf(id: string, definition: Definition, due: Due, count: number): Next[] {
  if (due.next === undefined) return [];
  const all = nextFrom(id, definition, due.next, count);
  return all.map((one) => (one.at === due.next ? { ...one, runAt: due.runAt } : one));
}

/** The occurrences from an instant on. */
export function nextFrom(id: string, definition: Definition, from: number, count: number): Next[] {
  const { lag } = timingOf(id, definition);
  const { cron, timezone, end = Number.POSITIVE_INFINITY } = definition;
  return upcoming(parseCron(cron), timezone, from - 1, count)
    .filter(({ at }) => at <= end)
    .map((one) => ({ ...one, runAt: one.at + lag }));
}

/** As lines for people: `next: 2026-11-22 04:00 CET (+01:00), 2026-11-22 03:00:00 UTC`. */
export function nextLines(id: string, definition: Definition, due: Due, count: number): string[] {
  return nextOf(id, definition, due, count).map(
    (one, index) => `${index === 0 ? "next:" : "then:"} ${nextText(one)}`,
  );
}

export function nextText({ at, local, runAt, mark, note }: Next): string {
  const lag = runAt - at;
  const started =
    lag === 0 ? "" : lag > 0 ? `, started ${formatDuration(lag)} later` : `, started ${shownInstant(runAt)}`;
  return `${local}, ${shownInstant(at)}${started}${markText({ mark, note })}`;
}

/** What a clock change does to it. */
export function markText({
  mark,
  note,
}: {
  mark?: Upcoming["mark"] | undefined;
  note?: string | undefined;
}): string {
  if (mark === undefined && note === undefined) return "";
  return `  [${[mark, note].filter((part) => part !== undefined).join(": ")}]`;
}
