import { quoteText } from "../../base/text.ts";
import { type Cron, CronError, parseCron } from "../cron/cron.ts";

/**
 * When a schedule is due by itself: at the times of a cron expression, once at an instant (ms since the epoch), or
 * never: then it runs only when it is triggered, or after other schedules.
 */
export type Plan =
  | { readonly kind: "cron"; readonly text: string; readonly cron: Cron }
  | { readonly kind: "once"; readonly text: string; readonly at: number }
  | { readonly kind: "manual"; readonly text: string };

/** Plan of a schedule that is never due by itself. */
export const MANUAL = "@manual";

const ONCE = /^@at\s+(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)$/i;

/**
 * Parses the plan of a schedule: a cron expression or macro, `@at 2026-11-24T03:00Z`, or `@manual`.
 * @throws CronError with the text received and the remedy
 */
export function parsePlan(text: string): Plan {
  const trimmed = text.trim();
  const word = trimmed.toLowerCase();
  if (word === MANUAL) return { kind: "manual", text: MANUAL };
  if (/^@at(\s|$)/.test(word)) return { kind: "once", text: trimmed, at: parseInstant(trimmed) };
  const cron = parseCron(text);
  return { kind: "cron", text: cron.text, cron };
}

/** Formats the plan of a schedule that is due once. @param at  ms since the epoch */
export function formatOncePlan(at: number): string {
  return `@at ${new Date(at).toISOString()}`;
}

function parseInstant(text: string): number {
  const [, day, time, offset] = ONCE.exec(text) ?? [];
  const midnight = day === undefined ? Number.NaN : Date.parse(`${day}T00:00Z`);
  // `Date` accepts February 31 as March 3.
  const isDay = !Number.isNaN(midnight) && new Date(midnight).toISOString().slice(0, 10) === day;
  const at = isDay ? Date.parse(`${day}T${time}${offset?.toUpperCase()}`) : Number.NaN;
  if (at >= 0) return at;
  throw new CronError(
    `cron text ${quoteText(text)} is not an instant: write a date, a time and an offset, such as @at 2026-11-24T03:00Z`,
  );
}
