import { getZoneOffset } from "../cron/offsets.ts";
import type { UpcomingOccurrence } from "../cron/upcoming-occurrences.ts";
import { listPlannedOccurrences, type Plan, parsePlan } from "../plan/plan.ts";
import type { Calendars } from "./calendar.ts";
import { formatDay, toDay } from "./calendar-day.ts";
import { buildDayRule, type CalendarFields, type DayRule } from "./day-rule.ts";
import { isPlanned, listMovedDays, restrictPlan } from "./restrict-plan.ts";

/** What of a definition says when it is due. */
export interface PlannedFields extends CalendarFields {
  readonly cron: string;
  readonly timezone: string;
}

/** Which occurrences to list. Instants in ms since the epoch. */
export interface UpcomingRange {
  /** The first occurrence is later. */
  after: number;
  /** Maximum number; there may be fewer. */
  count: number;
  /** Excluded days are reported from the day of this instant on. Default: `after`. */
  since?: number | undefined;
}

/** Largest number of excluded days that are named; further ones are counted. */
const NAMED = 5;

/**
 * Returns the next occurrences of a schedule, with the effects of clock changes and of its calendars.
 * @throws CronError; ConfigError if a calendar is missing or cannot be read
 */
export function listUpcoming(
  fields: PlannedFields,
  calendars: Calendars,
  { after, count, since = after }: UpcomingRange,
): UpcomingOccurrence[] {
  const { timezone } = fields;
  const plan = parsePlan(fields.cron);
  const rule = buildDayRule(fields, calendars);
  const found = listPlannedOccurrences(restrictPlan(plan, timezone, rule), timezone, after, count);
  if (rule === undefined) return found;
  let last = toDay(since + getZoneOffset(timezone, since)) - 1;
  return found.map((one) => {
    const day = toDay(one.at + getZoneOffset(timezone, one.at));
    const note = day === last ? undefined : explainDay(plan, timezone, rule, { last, day });
    last = day;
    return note === undefined ? one : addNote(one, note);
  });
}

/**
 * Lists the next excluded days of a schedule on which it would be due, with the reason: `2026-12-25 (holidays)`.
 * @param from  ms since the epoch
 * @param horizon  days to search
 */
export function listExcludedDays(
  fields: PlannedFields,
  calendars: Calendars,
  from: number,
  horizon: number,
): string[] {
  const rule = buildDayRule(fields, calendars);
  const plan = parsePlan(fields.cron);
  if (rule === undefined || plan.kind !== "cron") return [];
  const first = toDay(from + getZoneOffset(fields.timezone, from));
  const days = listDays(first, first + horizon);
  return days
    .filter((day) => isPlanned(plan.cron.walls, day) && rule.isExcluded(day))
    .map((day) => formatExcludedDay(rule, day));
}

/** Says which days an occurrence follows or stands for. */
function explainDay(
  plan: Plan,
  zone: string,
  rule: DayRule,
  { last, day }: { last: number; day: number },
): string | undefined {
  if (plan.kind === "once") {
    const planned = toDay(plan.at + getZoneOffset(zone, plan.at));
    return planned === day ? undefined : `instead of ${formatExcludedDay(rule, planned)}`;
  }
  if (plan.kind === "manual") return undefined;
  const { walls } = plan.cron;
  if (rule.rule === "skip") {
    const skipped = listDays(last + 1, day).filter((one) => isPlanned(walls, one) && rule.isExcluded(one));
    return skipped.length === 0 ? undefined : `skipped ${formatExcludedDays(rule, skipped)}`;
  }
  const moved = listMovedDays(walls, rule, day).sort((a, b) => a - b);
  if (moved.length === 0) return undefined;
  return `${isPlanned(walls, day) ? "also for" : "instead of"} ${formatExcludedDays(rule, moved)}`;
}

/** Lists the days in [from, before). */
function listDays(from: number, before: number): number[] {
  return Array.from({ length: Math.max(0, before - from) }, (_, index) => from + index);
}

function formatExcludedDays(rule: DayRule, days: readonly number[]): string {
  const more = days.length > NAMED ? ` and ${days.length - NAMED} more` : "";
  return `${days
    .slice(0, NAMED)
    .map((day) => formatExcludedDay(rule, day))
    .join(", ")}${more}`;
}

function formatExcludedDay(rule: DayRule, day: number): string {
  return `${formatDay(day)} (${rule.findReason(day) ?? ""})`;
}

function addNote(one: UpcomingOccurrence, note: string): UpcomingOccurrence {
  return one.note === undefined
    ? { ...one, mark: one.mark ?? "calendar", note }
    : { ...one, note: `${one.note}; ${note}` };
}
