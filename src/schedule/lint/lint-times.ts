import type { CronField, CronFields } from "../cron/cron-field.ts";
import type { LintFinding } from "./lint-finding.ts";

/** Finds possible problems with minute and hour. */
export function lintTimes({ minute, hour }: CronFields): LintFinding[] {
  return [
    ...lintFrequency(minute, hour),
    ...lintStep(minute, 60, "hour"),
    ...lintStep(hour, 24, "day"),
    ...lintMidnight(minute, hour),
  ];
}

function lintFrequency(minute: CronField, hour: CronField): LintFinding[] {
  if (minute.values.length < 60) return [];
  if (hour.values.length === 24)
    return [{ level: "hint", about: "minute", detail: "it fires every minute, 1440 times a day" }];
  return [
    {
      level: "warning",
      about: "minute",
      detail: `"${minute.text} ${hour.text}" fires every minute of the hours it names, 60 times in each`,
      remedy: `to fire once an hour, write "0 ${hour.text}"`,
    },
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
      {
        level: "warning",
        about: name,
        detail: `"${text}" means only ${name} 0 of every ${parent}: a step does not go beyond the ${parent}`,
        remedy: `write "0", or let the command itself check whether it is time`,
      },
    ];
  const last = values.at(-1) ?? 0;
  return [
    {
      level: "warning",
      about: name,
      detail: `"${text}" is uneven: after ${name} ${last} comes ${name} 0 of the next ${parent}, ${whole - last} ${name}s later instead of ${step}`,
      remedy: `use a step that divides ${whole}`,
    },
  ];
}

function lintMidnight(minute: CronField, hour: CronField): LintFinding[] {
  const isMidnight = minute.values.length === 1 && minute.values[0] === 0 && hour.values.length === 1;
  if (!isMidnight || hour.values[0] !== 0) return [];
  return [
    {
      level: "hint",
      about: "hour",
      detail: "most daily schedules fire at 00:00, all at once",
      remedy: "use another minute, or a jitter",
    },
  ];
}
