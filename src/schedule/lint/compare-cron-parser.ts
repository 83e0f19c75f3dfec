import type { Cron } from "../cron/cron.ts";
import type { CronField } from "../cron/cron-field.ts";
import type { LintFinding } from "./lint-dialects.ts";

/**
 * Parses a new cron expression a second time, with the package cron-parser, and compares the results. Most other
 * JavaScript schedulers read expressions the same way as that package, so a difference may surprise users. The package
 * is loaded only here: loading it costs more than starting a run.
 * @returns a finding; undefined if both agree
 */
export async function compareWithCronParser(cron: Cron): Promise<LintFinding | undefined> {
  const { minute, hour, day, month, weekday } = cron.fields;
  const own = [minute, hour, day, month, weekday];
  const theirs = await parseWithCronParser(own.map(({ text }) => text).join(" "));
  if (typeof theirs === "string") return createFinding(`it is refused there: ${theirs}`);
  const differing = own.find((field, at) => isPlain(field) && !isSame(field, theirs[at] ?? []));
  return (
    differing && createFinding(`its ${differing.kind.name} "${differing.text}" means something else there`)
  );
}

/** Returns the values of each field, or why cron-parser refuses the expression. */
async function parseWithCronParser(text: string): Promise<number[][] | string> {
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

/** Returns whether a field has no `L`, `W` or `#`. cron-parser does not keep these in the values. */
function isPlain({ fromEnd, nearest, isLastWeekday, lasts, nths }: CronField): boolean {
  return !isLastWeekday && [fromEnd, nearest, lasts, nths].every(({ length }) => length === 0);
}

/** The last day that every month has. cron-parser omits days that none of the months has. */
const SURE_DAYS = 28;

/** Compares the values of a field. In cron-parser, Sunday is 0 and 7. */
function isSame({ values, kind }: CronField, others: readonly number[]): boolean {
  const isDay = kind.most === 31;
  const isCounted = (value: number) => !isDay || value <= SURE_DAYS;
  const folded = new Set(
    others.map((value) => (kind.most === 7 && value === 7 ? 0 : value)).filter(isCounted),
  );
  const own = values.filter(isCounted);
  return folded.size === own.length && own.every((value) => folded.has(value));
}

function createFinding(detail: string): LintFinding {
  return {
    level: "warning",
    about: "other readers",
    detail: `the package cron-parser reads it differently: ${detail}`,
  };
}
