import { collectTexts, quoteText } from "../../base/text.ts";
import type { Cron } from "../cron/cron.ts";
import { describeClockDifference } from "./lint-clock.ts";

/** Cron runs jobs that name no star right after a gap, and only once in a repeated hour, also lists and ranges. */
const CRON_CLOCK_RULE = {
  skipped: "Vixie's cron and cronie: right after the change",
  repeated: "Vixie's cron and cronie: once",
};

/**
 * Lists where cron reads a line of a crontab differently, one text for each kind: days, and clock changes.
 * @param now  ms since the epoch; clock changes within the following year count
 * @see cronie's find_jobs, BusyBox's flag_starting_jobs
 */
export function listCronDifferences(cron: Cron, zone: string, now: number): string[] {
  const { minute, hour } = cron.fields;
  const isWild = minute.isStar || hour.isStar;
  return collectTexts([
    describeCronDayDifference(cron),
    !isWild && describeClockDifference(cron, zone, now, CRON_CLOCK_RULE),
  ]);
}

/** Days that begin with a star and have a step: whether they restrict the days depends on the cron. */
function describeCronDayDifference({ fields: { day, weekday } }: Cron): string | undefined {
  if (isOpen(day.text) || isOpen(weekday.text) || !(day.isStar || weekday.isStar)) return undefined;
  return (
    `days of the month ${quoteText(day.text)} and of the week ${quoteText(weekday.text)} must both match, as in Vixie's` +
    " cron and cronie; in BusyBox's crond one match is enough"
  );
}
