import * as v from "valibot";
import { type LintFinding, lintCron } from "../schedule/cron/lint.ts";
import { checkZone } from "../schedule/cron/offsets.ts";
import { SCHEDULE_DEFAULTS } from "../schedule/definition-values.ts";
import { explainPlan, listPlannedOccurrences, parsePlan } from "../schedule/plan.ts";
import { INSTANT, parseOptions, quoteOption, TEXT } from "./options-schema.ts";
import type { CronOptions, CronTime, CronTimesOptions } from "./types.ts";

// Pure functions about cron expressions. They need no connection.

const MOST_TIMES = 10_000;
const CRON_OPTIONS = {
  timezone: v.optional(TEXT, SCHEDULE_DEFAULTS.timezone),
  from: v.optional(INSTANT),
} satisfies Record<keyof CronOptions, v.GenericSchema>;
const TIMES_OPTIONS = {
  ...CRON_OPTIONS,
  count: v.optional(
    v.pipe(
      v.custom<number>(Number.isInteger, quoteOption("is not a whole number")),
      v.minValue(1, quoteOption("is less than 1")),
      v.maxValue(MOST_TIMES, quoteOption(`is more than ${MOST_TIMES}`)),
    ),
    1,
  ),
};

/**
 * Lists the next times of a cron expression, with the effects of clock changes. Workers use the same function.
 * @param text  as the `cron` of a schedule
 * @throws CronError for the text; UsageError for the time zone; ConfigError for an option
 */
export function listCronTimes(text: string, options: CronTimesOptions = {}): CronTime[] {
  const { timezone, from = Date.now(), count } = parseOptions("listCronTimes", options, TIMES_OPTIONS);
  const found = listPlannedOccurrences(parsePlan(text), checkZone(timezone), from, count);
  return found.map(({ at, local, mark, note }) => ({
    time: new Date(at),
    local,
    note,
    mark: mark === "gap" || mark === "overlap" ? mark : undefined, // a cron expression has no calendars
  }));
}

/**
 * Explains a cron expression in plain English: `at 07:00, Monday to Friday`. The time zone is not part of it.
 * @throws CronError
 */
export function explainCronText(text: string): string {
  return explainPlan(parsePlan(text));
}

/**
 * Finds errors and probable mistakes in a cron expression, as `signalbox schedule lint` does.
 * @returns the worst first; an empty list if there are none. A wrong text or time zone is a finding of the level `error`
 * @throws ConfigError for an option
 */
export function lintCronText(text: string, options: CronOptions = {}): readonly LintFinding[] {
  const { timezone, from = Date.now() } = parseOptions("lintCronText", options, CRON_OPTIONS);
  return lintCron(text, timezone, from);
}
