import type { CronField, CronFields } from "../cron/cron-field.ts";
import { MONTH_NAMES } from "../cron/explain-cron.ts";
import { formatList } from "../cron/explain-words.ts";
import type { LintFinding } from "./lint-finding.ts";

/** Days per month; 29 for February. */
const LENGTHS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Finds possible problems with day of the month, month and day of the week. */
export function lintDays(fields: CronFields): LintFinding[] {
  return [...lintDayCombination(fields), ...lintDaySteps(fields), ...lintDates(fields)];
}

/** Reports that both day fields are restricted: this rule of cron surprises most users. */
function lintDayCombination({ day, weekday }: CronFields): LintFinding[] {
  const isStarDay = /^[*?]$/.test(day.text);
  const isStarWeekday = /^[*?]$/.test(weekday.text);
  if (isStarDay || isStarWeekday) return [];
  if (day.isStar || weekday.isStar)
    return [
      {
        level: "warning",
        about: "day of the week",
        detail: `both days must match, "${day.text}" and "${weekday.text}", because one of them begins with *; for some schedulers one match is enough`,
      },
    ];
  return [
    {
      level: "warning",
      about: "day of the week",
      detail: `it fires on days of the month "${day.text}" and also on every day of the week "${weekday.text}": one match is enough`,
      remedy: `to require both, let the command check one of them; for the nth weekday of a month, write 1#2`,
    },
  ];
}

/** Reports steps over days, which start again with every month or week. */
function lintDaySteps({ day, weekday }: CronFields): LintFinding[] {
  const dates = /\/([2-9]|\d\d)/.test(day.text);
  const days = /\/[2-6]/.test(weekday.text);
  return [
    ...(dates
      ? [
          {
            level: "hint",
            about: "day of the month",
            detail: `"${day.text}" starts again with every month: the 31st and the 1st may both fire`,
          } as const,
        ]
      : []),
    ...(days
      ? [
          {
            level: "hint",
            about: "day of the week",
            detail: `"${weekday.text}" starts again with every week, which begins on Sunday: Saturday and Sunday may both fire`,
            remedy: "list the days",
          } as const,
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
      {
        level: "warning",
        about: "day of the month",
        detail: "it fires on the 29th of February only: every four years",
      },
    ];
  const isShort = latest === 29 && month.values.includes(2);
  if (without.length === 0 && !isShort) return [];
  const names = isShort
    ? "February, but for leap years,"
    : formatList(without.map((value) => MONTH_NAMES[value - 1] ?? ""));
  return [
    {
      level: "warning",
      about: "day of the month",
      detail: `${names} ${without.length > 1 ? "have" : "has"} no day ${latest}`,
      remedy: "use L for the last day of every month",
    },
  ];
}

function isLeapDay(day: CronField, month: CronField): boolean {
  return month.values.length === 1 && month.values[0] === 2 && Math.min(...day.values) === 29;
}
