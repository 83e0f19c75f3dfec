import { formatDuration, formatIso, type Millis, type WallTime } from "../core/base/clock.ts";
import { quoteText } from "../core/base/text.ts";
import { CronError, parseCron, type WallPlan } from "./cron/cron.ts";
import { explainWallPlan } from "./cron/explain-cron.ts";
import { findOffsetPeriod } from "./cron/offsets.ts";
import { parseRecurrence } from "./cron/recurrence.ts";
import {
  countOccurrences,
  findOccurrenceAfter,
  findOccurrenceFrom,
  findOccurrenceUntil,
  listUpcomingOccurrences,
  type UpcomingOccurrence,
} from "./cron/upcoming-occurrences.ts";
import { formatLocalTime } from "./cron/wall-times.ts";
import { createIntervalTimes, type Exclusion, type Interval, parseInterval, parseWait } from "./interval.ts";
import { countTimes, type PlanTimes, parseInstantText } from "./plan-times.ts";

/** The cron text of a schedule, or several: it is due at the times of each, at the same instant once. */
export type CronText = string | readonly string[];

/**
 * When a schedule is due by itself: at the times of cron expressions, once at an instant (ms since the epoch), at a fixed rate, some
 * time (ms) after the end of its last run, at each boot of its host, or never: then it runs only when it is triggered, or
 * after other schedules.
 */
export type Plan =
  | { readonly kind: "cron"; readonly text: CronText; readonly crons: readonly WallPlan[] }
  | { readonly kind: "once"; readonly text: string; readonly at: WallTime }
  | ({ readonly kind: "every"; readonly text: string } & Interval)
  | ({ readonly kind: "after-end"; readonly text: string; readonly wait: Millis } & Exclusion)
  | { readonly kind: "boot"; readonly text: string }
  | { readonly kind: "manual"; readonly text: string };

/** Plan of a schedule that is never due by itself. */
export const MANUAL_PLAN = "@manual";
/** Plan of a schedule that runs when its host has booted. */
export const BOOT_PLAN = "@reboot";

/** Parsers of the plans that are not cron expressions, by their first word. */
const PARSERS = new Map<string, (text: string) => Plan>([
  [MANUAL_PLAN, () => ({ kind: "manual", text: MANUAL_PLAN })],
  [BOOT_PLAN, () => ({ kind: "boot", text: BOOT_PLAN })],
  ["@rrule", (text) => toCronPlan(parseRecurrence(text))],
  ["@at", (text) => ({ kind: "once", text, at: parseOnce(text) })],
  ["@every", (text) => ({ kind: "every", text, ...parseInterval(text) })],
  ["@after-end", (text) => ({ kind: "after-end", text, wait: parseWait(text) })],
]);

/** Largest number of cron texts of one schedule. */
const MOST_TEXTS = 20;

/**
 * Parses the plan of a schedule: a cron expression or macro, or several, `@at 2026-11-24T03:00Z`,
 * `@every 90m`, `@after-end 5m`, `@reboot` or `@manual`.
 * @throws CronError with the text received and the remedy
 */
export function parsePlan(given: CronText): Plan {
  const [first = "", ...more] = typeof given === "string" ? [given] : new Set(given);
  if (more.length === 0) return parseText(first);
  if (more.length >= MOST_TEXTS)
    throw new CronError(`a schedule has at most ${MOST_TEXTS} cron texts; got ${more.length + 1}`);
  const crons = [first, ...more].flatMap((text) => {
    const plan = parseText(text);
    if (plan.kind === "cron") return plan.crons;
    throw new CronError(
      `cron text ${quoteText(text)} must stand alone; leave the others out, or add another schedule`,
    );
  });
  return { kind: "cron", text: crons.map(({ text }) => text), crons };
}

export function formatCronText(cron: CronText): string {
  return typeof cron === "string" ? cron : cron.join("; ");
}

function parseText(text: string): Plan {
  const trimmed = text.trim();
  const [word = "", ...more] = trimmed.toLowerCase().split(/\s+/);
  const parse = PARSERS.get(word);
  if (parse !== undefined && (more.length === 0 || (word !== MANUAL_PLAN && word !== BOOT_PLAN)))
    return parse(trimmed);
  return toCronPlan(parseCron(text));
}

function toCronPlan(cron: WallPlan): Plan {
  return { kind: "cron", text: cron.text, crons: [cron] };
}

/** Formats the plan of a schedule that is due once. */
export function formatOncePlan(at: WallTime): string {
  return `@at ${formatIso(at)}`;
}

function parseOnce(text: string): number {
  const at = parseInstantText(text.replace(/^@at\s+/i, ""));
  if (at !== undefined) return at;
  throw new CronError(
    `cron text ${quoteText(text)} is not an instant: write a date, a time and an offset, such as @at 2026-11-24T03:00Z`,
  );
}

/** @param zone  a name that `checkZone` accepts; it matters for cron expressions only */
export function createPlanTimes(plan: Plan, zone: string): PlanTimes {
  if (plan.kind === "manual" || plan.kind === "boot") return NO_TIMES;
  if (plan.kind === "once") return createFixedTimes([plan.at]);
  if (plan.kind === "every") return createIntervalTimes(plan);
  if (plan.kind === "after-end") return createAfterEndTimes(plan);
  return mergeTimes(plan.crons.map((cron) => createCronTimes(cron, zone)));
}

function createCronTimes(cron: WallPlan, zone: string): PlanTimes {
  return {
    findAfter: (instant) => findOccurrenceAfter(cron, zone, instant),
    findFrom: (instant) => findOccurrenceFrom(cron, zone, instant),
    findUntil: (instant) => findOccurrenceUntil(cron, zone, instant),
    count: (after, until, most) => countOccurrences(cron, zone, after, until, most),
  };
}

/** Returns the times that are in any of several lists, each once. */
function mergeTimes(lists: readonly PlanTimes[]): PlanTimes {
  const [only, ...more] = lists;
  if (only !== undefined && more.length === 0) return only;
  const choose = (pick: typeof Math.min, find: (list: PlanTimes) => number | undefined) => {
    const found = lists.map(find).filter((at) => at !== undefined);
    return found.length === 0 ? undefined : pick(...found);
  };
  const findAfter = (instant: WallTime) => choose(Math.min, (list) => list.findAfter(instant));
  return {
    findAfter,
    findFrom: (instant) => choose(Math.min, (list) => list.findFrom(instant)),
    findUntil: (instant) => choose(Math.max, (list) => list.findUntil(instant)),
    count: (after, until, most) => countTimes(findAfter, { after, until, most }),
  };
}

/** Creates the times of a plan that is due at some instants, in order. */
function createFixedTimes(instants: readonly number[]): PlanTimes {
  return {
    findAfter: (instant) => instants.find((at) => at > instant),
    findFrom: (instant) => instants.find((at) => at >= instant),
    findUntil: (instant) => instants.findLast((at) => at <= instant),
    count: (after, until, most) => Math.min(most, instants.filter((at) => at > after && at <= until).length),
  };
}

/** Without any occurrence. */
export const NO_TIMES = createFixedTimes([]);

/** Any instant may be the first one. Which is the next one depends on the end of the run, see `planAfterEnd`. */
function createAfterEndTimes({ isExcluded }: Exclusion): PlanTimes {
  const { findFrom } = createIntervalTimes({ every: 1, from: 0, ...(isExcluded && { isExcluded }) });
  return { ...NO_TIMES, findFrom };
}

/** Explains a plan in plain English: "at 02:30, Monday to Friday". Does not include the time zone. */
export function explainPlan(plan: Plan): string {
  if (plan.kind === "cron") return plan.crons.map(explainWallPlan).join("; and ");
  if (plan.kind === "every")
    return `every ${formatDuration(plan.every)}, counted from ${formatIso(plan.from)}`;
  if (plan.kind === "once") return `once, at ${formatIso(plan.at)}`;
  return explainEventPlan(plan) ?? "never by itself";
}

/** Explains a plan that depends on an event, not on the clock: "5m after its end"; undefined for other plans. */
export function explainEventPlan(plan: Plan): string | undefined {
  if (plan.kind === "after-end") return `${formatDuration(plan.wait)} after its end`;
  return plan.kind === "boot" ? "at each boot of its host" : undefined;
}

/**
 * Returns the next occurrences of a plan, with the effects of clock changes.
 * @param after the first occurrence is later
 * @param count maximum number; there may be fewer
 */
export function listPlannedOccurrences(
  plan: Plan,
  zone: string,
  after: WallTime,
  count: number,
): UpcomingOccurrence[] {
  if (plan.kind === "cron") {
    const found = plan.crons.flatMap((cron) => listUpcomingOccurrences(cron, zone, after, count));
    const byTime = new Map(found.map((one) => [one.at, one]));
    return [...byTime.values()].sort((a, b) => a.at - b.at).slice(0, count);
  }
  const times = createPlanTimes(plan, zone);
  const found: UpcomingOccurrence[] = [];
  for (let at = times.findFrom(after + 1); at !== undefined && found.length < count; at = times.findAfter(at))
    found.push({ at, local: formatLocalTime(zone, at, findOffsetPeriod(zone, at)?.offset ?? 0) });
  return found;
}
