import { formatDuration, type WallTime } from "../../../core/base/clock.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { markSeconds } from "../../../schedule/cron/cron.ts";
import { getZoneOffset } from "../../../schedule/cron/offsets.ts";
import { formatRecurrence } from "../../../schedule/cron/recurrence.ts";
import { anchorInterval } from "../../../schedule/interval.ts";
import type { CronText } from "../../../schedule/plan.ts";
import { declareFlags, type FlagsOf } from "../../frame/command.ts";
import type { WrittenInstant } from "../../frame/command-line/instant.ts";

export const SECONDS_FLAG = declareFlags({
  "--seconds": "cron texts may have six fields; the first one is for seconds",
});

/** Flags for the times of a schedule. */
export const TIME_FLAGS = declareFlags({
  "--cron CRON": {
    isRepeatable: true,
    separator: ";",
    help: "when; given several times, it is due at the times of each",
  },
  ...SECONDS_FLAG,
  "--rrule RULE": {
    help: "on the days of a rule of iCalendar, such as FREQ=WEEKLY;INTERVAL=2;BYDAY=MO, at the time of the day of --start, its first day",
  },
  "--after-end DURATION": "this long after the end of its last run; the first one is at --start, or now",
});

export type TimeFlags = FlagsOf<typeof TIME_FLAGS>;

/** Where times begin. */
interface TimeOrigin {
  zone: string;
  /** Of --start. */
  start: WrittenInstant | undefined;
  /** Without --start, ms since the epoch. */
  now: WallTime;
}

/** Returns the times that the flags give, and a cron text beside them; undefined if there are none. @throws UsageError */
export function readTimes(
  flags: TimeFlags,
  given: string | undefined,
  { zone, start, now }: TimeOrigin,
): CronText | undefined {
  const { cron = [], rrule, "after-end": wait } = flags;
  if (rrule !== undefined && start === undefined)
    throw new UsageError("--rrule needs --start: its first day, and the time of the day");
  // A rule keeps the time of the day that was written, also if the clocks skip it on the first day.
  const wall = start === undefined ? 0 : (start.wall ?? start.at + getZoneOffset(zone, start.at));
  const texts = [
    ...readCronTexts(given === undefined ? cron : [given, ...cron], flags),
    ...(rrule === undefined ? [] : [formatRecurrence(rrule, wall)]),
    ...(wait === undefined ? [] : [`@after-end ${formatDuration(wait)}`]),
  ];
  const [only, ...more] = texts;
  return only === undefined || more.length > 0 ? only && texts : anchorInterval(only, start?.at ?? now);
}

/** Reads cron texts. With the flag, those with six fields have seconds. */
export function readCronTexts(
  texts: readonly string[],
  { seconds }: { readonly seconds?: true | undefined },
): string[] {
  return texts.map((text) => (seconds ? markSeconds(text) : text));
}
