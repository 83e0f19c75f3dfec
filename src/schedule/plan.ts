import { quoteText } from "../base/text.ts";
import { type Cron, CronError, parseCron } from "./cron/cron.ts";
import { explainCron } from "./cron/explain-cron.ts";
import {
  countOccurrences,
  findOccurrenceAfter,
  findOccurrenceFrom,
  findOccurrenceUntil,
} from "./cron/occurrence.ts";
import { findOffsetPeriod } from "./cron/offsets.ts";
import { listUpcomingOccurrences, type UpcomingOccurrence } from "./cron/upcoming-occurrences.ts";
import { formatLocalTime } from "./cron/wall-times.ts";

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

/** The occurrences of a plan in a time zone. Instants in ms since the epoch. */
export interface PlanTimes {
  /** Returns the first occurrence strictly after an instant; undefined if there is none. */
  findAfter(instant: number): number | undefined;
  /** Returns the first occurrence at or after an instant. */
  findFrom(instant: number): number | undefined;
  /** Returns the last occurrence at or before an instant. */
  findUntil(instant: number): number | undefined;
  /** Counts the occurrences after one instant and up to another, at most `most`. */
  count(after: number, until: number, most: number): number;
}

/** @param zone  a name that `checkZone` accepts; it matters for cron expressions only */
export function createPlanTimes(plan: Plan, zone: string): PlanTimes {
  if (plan.kind === "manual") return NEVER;
  if (plan.kind === "once") return createOnceTimes(plan.at);
  const { cron } = plan;
  return {
    findAfter: (instant) => findOccurrenceAfter(cron, zone, instant),
    findFrom: (instant) => findOccurrenceFrom(cron, zone, instant),
    findUntil: (instant) => findOccurrenceUntil(cron, zone, instant),
    count: (after, until, most) => countOccurrences(cron, zone, after, until, most),
  };
}

const NEVER: PlanTimes = {
  findAfter: () => undefined,
  findFrom: () => undefined,
  findUntil: () => undefined,
  count: () => 0,
};

function createOnceTimes(at: number): PlanTimes {
  return {
    findAfter: (instant) => (at > instant ? at : undefined),
    findFrom: (instant) => (at >= instant ? at : undefined),
    findUntil: (instant) => (at <= instant ? at : undefined),
    count: (after, until, most) => (at > after && at <= until ? Math.min(1, most) : 0),
  };
}

/** Explains a plan in plain English: "at 02:30, Monday to Friday". Does not include the time zone. */
export function explainPlan(plan: Plan): string {
  if (plan.kind === "cron") return explainCron(plan.cron);
  return plan.kind === "manual" ? "never by itself" : `once, at ${new Date(plan.at).toISOString()}`;
}

/**
 * Returns the next occurrences of a plan, with the effects of clock changes.
 * @param after ms since the epoch; the first occurrence is later
 * @param count maximum number; there may be fewer
 */
export function listPlannedOccurrences(
  plan: Plan,
  zone: string,
  after: number,
  count: number,
): UpcomingOccurrence[] {
  if (plan.kind === "cron") return listUpcomingOccurrences(plan.cron, zone, after, count);
  if (plan.kind === "manual" || plan.at <= after || count < 1) return [];
  const offset = findOffsetPeriod(zone, plan.at)?.offset ?? 0;
  return [{ at: plan.at, local: formatLocalTime(zone, plan.at, offset) }];
}
