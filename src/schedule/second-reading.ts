import type { Cron } from "./cron.ts";
import type { Field } from "./cron-field.ts";
import type { LintFinding } from "./lint-finding.ts";

/**
 * Reads a cron text a second time, with the package cron-parser, where it enters the system. Its reading is that of most other
 * schedulers in JavaScript; where it differs from ours, somebody will be surprised. It is loaded only here: to load it costs
 * more than to start a run.
 * @returns what to tell; undefined where both agree
 */
export async function secondReading(cron: Cron): Promise<LintFinding | undefined> {
  const { minute, hour, day, month, weekday } = cron.fields;
  const own = [minute, hour, day, month, weekday];
  const theirs = await readByOther(own.map(({ text }) => text).join(" "));
  if (typeof theirs === "string") return finding(`it is refused there: ${theirs}`);
  const differing = own.find((field, at) => isPlain(field) && !isSame(field, theirs[at] ?? []));
  return differing && finding(`its ${differing.kind.name} "${differing.text}" means something else there`);
}

/** The values of each field, or why the text was refused. */
async function readByOther(text: string): Promise<number[][] | string> {
  const { CronExpressionParser } = await import("cron-parser");
  try {
    const { minute, hour, dayOfMonth, month, dayOfWeek } = CronExpressionParser.parse(text, {
      tz: "UTC",
    }).fields;
    return [minute, hour, dayOfMonth, month, dayOfWeek].map(({ values }) =>
      values.filter((value): value is never => typeof value === "number"),
    );
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** `L` and `#` stand beside the values there. */
function isPlain({ isLast, lasts, nth }: Field): boolean {
  return !isLast && lasts.length === 0 && nth === undefined;
}

/** Days that every month has; there, days that none of the months has are left out. */
const SURE_DAYS = 28;

/** There, Sunday is 0 and 7. */
function isSame({ values, kind }: Field, others: readonly number[]): boolean {
  const isDay = kind.most === 31;
  const counts = (value: number) => !isDay || value <= SURE_DAYS;
  const folded = new Set(others.map((value) => (kind.most === 7 && value === 7 ? 0 : value)).filter(counts));
  const own = values.filter(counts);
  return folded.size === own.length && own.every((value) => folded.has(value));
}

function finding(detail: string): LintFinding {
  return {
    level: "warning",
    about: "other readers",
    detail: `the package cron-parser reads it otherwise: ${detail}`,
  };
}
