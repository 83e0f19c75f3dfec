import { SignalboxError } from "../../base/errors.ts";
import { type Cron, CronError, isCron } from "../cron/cron.ts";
import { type CronField, type CronFields, MONTHS } from "../cron/cron-field.ts";
import { formatList } from "../cron/explain-cron.ts";
import { checkZone } from "../cron/zone.ts";
import { type CronText, type Plan, parsePlan } from "../plan.ts";
import { createFinding, type LintFinding, lintClockChanges } from "./lint-dialects.ts";

/**
 * Finds possible problems with a cron expression in a time zone.
 * @param now ms since the epoch; clock changes within the following year are checked
 * @returns worst first; empty if there are no findings
 * @throws never
 */
export function lintCron(text: CronText, zone: string, now: number): readonly LintFinding[] {
  const cron = tryParse(() => parsePlan(text));
  const place = tryParse(() => checkZone(zone));
  if ("fault" in cron || "fault" in place)
    return [
      ...("fault" in cron ? [createFinding("error", cron.fault.field ?? "cron", cron.fault.message)] : []),
      ...("fault" in place ? [createFinding("error", "timezone", place.fault.message)] : []),
    ];
  return lintParsed(cron.value, place.value, now).sort((a, b) => RANK[a.level] - RANK[b.level]);
}

const RANK = { error: 0, warning: 1, hint: 2 } as const;

function lintParsed(plan: Plan, zone: string, now: number): LintFinding[] {
  if (plan.kind !== "cron") return [];
  return plan.crons.flatMap((cron) => [
    ...(isCron(cron) ? lintFields(cron) : []),
    ...lintClockChanges(cron, zone, now),
  ]);
}

/** Finds possible problems with the fields, in their order. */
function lintFields({ fields, seconds }: Cron): LintFinding[] {
  const { minute, hour } = fields;
  return [
    ...(seconds === undefined ? lintFrequency(minute, hour) : lintSeconds(seconds)),
    ...lintStep(minute, 60, "hour"),
    ...lintStep(hour, 24, "day"),
    ...lintMidnight(minute, hour),
    ...lintDayCombination(fields),
    ...lintDaySteps(fields),
    ...lintDates(fields),
  ];
}

type ParseFault = { message: string; field?: string | undefined };

function tryParse<T>(read: () => T): { value: T } | { fault: ParseFault } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof CronError) return { fault: error };
    if (error instanceof SignalboxError) return { fault: { message: error.message } };
    throw error;
  }
}

/** Days per month; 29 for February. */
const LENGTHS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Reports that both day fields are restricted: this rule of cron surprises most users. */
function lintDayCombination({ day, weekday }: CronFields): LintFinding[] {
  const isStarDay = /^[*?]$/.test(day.text);
  const isStarWeekday = /^[*?]$/.test(weekday.text);
  if (isStarDay || isStarWeekday) return [];
  if (day.isStar || weekday.isStar)
    return [
      createFinding(
        "warning",
        "day of the week",
        `both days must match, "${day.text}" and "${weekday.text}", because one of them begins with *; for some schedulers one match is enough`,
      ),
    ];
  return [
    createFinding(
      "warning",
      "day of the week",
      `it fires on days of the month "${day.text}" and also on every day of the week "${weekday.text}": one match is enough`,
      `to require both, let the command check one of them; for the nth weekday of a month, write 1#2`,
    ),
  ];
}

/** Reports steps over days, which start again with every month or week. */
function lintDaySteps({ day, weekday }: CronFields): LintFinding[] {
  const dates = /\/([2-9]|\d\d)/.test(day.text);
  const days = /\/[2-6]/.test(weekday.text);
  return [
    ...(dates
      ? [
          createFinding(
            "hint",
            "day of the month",
            `"${day.text}" starts again with every month: the 31st and the 1st may both fire`,
          ),
        ]
      : []),
    ...(days
      ? [
          createFinding(
            "hint",
            "day of the week",
            `"${weekday.text}" starts again with every week, which begins on Sunday: Saturday and Sunday may both fire`,
            "list the days",
          ),
        ]
      : []),
  ];
}

/** Reports dates that some of the months do not have. */
function lintDates({ day, month, weekday }: CronFields): LintFinding[] {
  const isPlain = day.fromEnd.length + day.nearest.length === 0 && !day.isLastWeekday;
  const restricts = day.values.length < 31 && !day.isStar && isPlain;
  const latest = restricts ? Math.max(...day.values) : 0;
  const isEither = !weekday.isStar;
  const without = month.values.filter((value) => latest > (LENGTHS[value] ?? 31));
  if (isLeapDay(day, month) && !isEither)
    return [
      createFinding("warning", "day of the month", "it fires on the 29th of February only: every four years"),
    ];
  const isShort = latest === 29 && month.values.includes(2);
  if (without.length === 0 && !isShort) return [];
  const names = isShort
    ? "February, but for leap years,"
    : formatList(without.map((value) => MONTHS[value - 1] ?? ""));
  return [
    createFinding(
      "warning",
      "day of the month",
      `${names} ${without.length > 1 ? "have" : "has"} no day ${latest}`,
      "use L for the last day of every month",
    ),
  ];
}

function isLeapDay(day: CronField, month: CronField): boolean {
  return month.values.length === 1 && month.values[0] === 2 && Math.min(...day.values) === 29;
}

/** Reports how often an expression with seconds fires: each run costs etcd some writes. */
function lintSeconds(seconds: readonly number[]): LintFinding[] {
  if (seconds.length < 2) return [];
  return [createFinding("hint", "second", `it fires ${seconds.length} times in each of its minutes`)];
}

function lintFrequency(minute: CronField, hour: CronField): LintFinding[] {
  if (minute.values.length < 60) return [];
  if (hour.values.length === 24)
    return [createFinding("hint", "minute", "it fires every minute, 1440 times a day")];
  return [
    createFinding(
      "warning",
      "minute",
      `"${minute.text} ${hour.text}" fires every minute of the hours it names, 60 times in each`,
      `to fire once an hour, write "0 ${hour.text}"`,
    ),
  ];
}

/** Reports steps that do not divide the hour or the day evenly. */
function lintStep({ text, kind, values }: CronField, whole: number, parent: string): LintFinding[] {
  const [, digits] = /^[*?]\/(\d+)$/.exec(text) ?? [];
  const step = Number(digits);
  if (digits === undefined || whole % step === 0) return [];
  const { name } = kind;
  if (values.length === 1)
    return [
      createFinding(
        "warning",
        name,
        `"${text}" means only ${name} 0 of every ${parent}: a step does not go beyond the ${parent}`,
        `write "0", or let the command itself check whether it is time`,
      ),
    ];
  const last = values.at(-1) ?? 0;
  return [
    createFinding(
      "warning",
      name,
      `"${text}" is uneven: after ${name} ${last} comes ${name} 0 of the next ${parent}, ${whole - last} ${name}s later instead of ${step}`,
      `use a step that divides ${whole}`,
    ),
  ];
}

function lintMidnight(minute: CronField, hour: CronField): LintFinding[] {
  const isMidnight = minute.values.length === 1 && minute.values[0] === 0 && hour.values.length === 1;
  if (!isMidnight || hour.values[0] !== 0) return [];
  return [
    createFinding(
      "hint",
      "hour",
      "most daily schedules fire at 00:00, all at once",
      "use another minute, or a jitter",
    ),
  ];
}
