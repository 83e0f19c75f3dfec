import { DAY_MS, type LocalTime, type WallTime } from "../../core/base/clock.ts";
import { pluralize } from "../../core/base/text.ts";
import type { WallPlan } from "../cron/cron.ts";
import { findOffsetPeriod, getZoneOffset } from "../cron/offsets.ts";
import type { UpcomingOccurrence } from "../cron/upcoming-occurrences.ts";
import { isPlanned, memoizeMonths, type WallTimes } from "../cron/wall-times.ts";
import {
  type CronText,
  createPlanTimes,
  listPlannedOccurrences,
  MANUAL_PLAN,
  type Plan,
  parsePlan,
} from "../plan.ts";
import { excludeBlackouts, listBlackouts } from "./blackout.ts";
import { type Calendars, formatDay, toDay } from "./calendar.ts";
import { buildDayRule, type CalendarFields, type DayRule } from "./day-rule.ts";

/** What of a definition says when it is due. */
export interface PlannedFields extends CalendarFields {
  readonly cron: CronText;
  readonly timezone: string;
}

/** Which occurrences to list. */
interface UpcomingRange {
  /** The first occurrence is later. */
  after: WallTime;
  /** Maximum number; there may be fewer. */
  count: number;
  /** Excluded days are reported from the day of this instant on. Default: `after`. */
  since?: WallTime | undefined;
}

/** Largest number of excluded days that are named; further ones are counted. */
const MAX_NAMED_DAYS = 5;

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
  const found = listOutsideBlackouts(restrictPlan(plan, timezone, rule), fields, after, count);
  if (rule === undefined) return found;
  let last = toDay(since + getZoneOffset(timezone, since)) - 1;
  return found.map((one) => {
    const day = toDay(one.at + getZoneOffset(timezone, one.at));
    const note = day === last ? undefined : explainDay(plan, timezone, rule, { last, day });
    last = day;
    return note === undefined ? one : addNote(one, note);
  });
}

/** Lists the next occurrences that are in no blackout; the first one after a blackout says how many it left out. */
function listOutsideBlackouts(
  plan: Plan,
  { timezone, ...fields }: PlannedFields,
  after: WallTime,
  count: number,
): UpcomingOccurrence[] {
  const blackouts = listBlackouts(fields);
  if (blackouts.length === 0) return listPlannedOccurrences(plan, timezone, after, count);
  const times = createPlanTimes(plan, timezone);
  const allowed = excludeBlackouts(times, timezone, blackouts);
  const found: UpcomingOccurrence[] = [];
  for (let last = after; found.length < count; last = found.at(-1)?.at ?? after) {
    const at = allowed.findFrom(last + 1);
    const skipped = at === undefined ? 0 : times.count(last, at - 1, MAX_COUNTED_TIMES + 1);
    const [one] =
      at === undefined ? [] : listPlannedOccurrences(plan, timezone, skipped === 0 ? last : at - 1, 1);
    if (one === undefined) break;
    found.push(skipped === 0 ? one : addNote(one, formatLeftOut(skipped, blackouts), "blackout"));
  }
  return found;
}

/** Largest number of times in a blackout that is told. */
const MAX_COUNTED_TIMES = 999;

function formatLeftOut(count: number, blackouts: ReturnType<typeof listBlackouts>): string {
  const times = count > MAX_COUNTED_TIMES ? `more than ${MAX_COUNTED_TIMES} times` : pluralize(count, "time");
  return `skipped ${times} (${blackouts.map(({ text }) => text).join(", ")})`;
}

/**
 * Lists the next excluded days of a schedule on which it would be due, with the reason: `2026-12-25 (holidays)`.
 * @param horizon  days to search
 */
export function listExcludedDays(
  fields: PlannedFields,
  calendars: Calendars,
  from: WallTime,
  horizon: number,
): string[] {
  const rule = buildDayRule(fields, calendars);
  const plan = parsePlan(fields.cron);
  if (rule === undefined || plan.kind !== "cron") return [];
  const first = toDay(from + getZoneOffset(fields.timezone, from));
  const days = listDays(first, first + horizon);
  return days
    .filter((day) => isPlannedByAny(plan.crons, day) && rule.isExcluded(day))
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
  if (plan.kind !== "cron") return undefined;
  const { crons } = plan;
  if (rule.rule === "skip") {
    const skipped = listDays(last + 1, day).filter(
      (one) => isPlannedByAny(crons, one) && rule.isExcluded(one),
    );
    return skipped.length === 0 ? undefined : `skipped ${formatExcludedDays(rule, skipped)}`;
  }
  const days = new Set(crons.flatMap(({ walls }) => listMovedDays(walls, rule, day)));
  const moved = [...days].sort((a, b) => a - b);
  if (moved.length === 0) return undefined;
  return `${isPlannedByAny(crons, day) ? "also for" : "instead of"} ${formatExcludedDays(rule, moved)}`;
}

/** Lists the days in [from, before). */
function listDays(from: number, before: number): number[] {
  return Array.from({ length: Math.max(0, before - from) }, (_, index) => from + index);
}

function formatExcludedDays(rule: DayRule, days: readonly number[]): string {
  const more = days.length > MAX_NAMED_DAYS ? ` and ${days.length - MAX_NAMED_DAYS} more` : "";
  return `${days
    .slice(0, MAX_NAMED_DAYS)
    .map((day) => formatExcludedDay(rule, day))
    .join(", ")}${more}`;
}

function formatExcludedDay(rule: DayRule, day: number): string {
  return `${formatDay(day)} (${rule.findReason(day) ?? ""})`;
}

function addNote(
  one: UpcomingOccurrence,
  note: string,
  mark: UpcomingOccurrence["mark"] = "calendar",
): UpcomingOccurrence {
  return one.note === undefined
    ? { ...one, mark: one.mark ?? mark, note }
    : { ...one, note: `${one.note}; ${note}` };
}

/** Farthest day to which an occurrence moves, days: ten years. An occurrence without a free day until then is left out. */
const FARTHEST_MOVE = 3_653;
/**
 * Applies calendars to a plan. Of an interval, what is due on an excluded day is always skipped; what is due after an end waits for
 * the next day that is not. All occurrences of a day have the same times, so an excluded day is removed from the days
 * of the plan, and the day to which its occurrences move is added.
 * @param zone  a name that `checkZone` accepts
 */
export function restrictPlan(plan: Plan, zone: string, rule: DayRule | undefined): Plan {
  if (rule === undefined || plan.kind === "manual" || plan.kind === "boot") return plan;
  if (plan.kind === "every" || plan.kind === "after-end")
    return { ...plan, isExcluded: (at) => rule.isExcluded(toDay(at + getZoneOffset(zone, at))) };
  if (plan.kind === "cron")
    return {
      ...plan,
      crons: plan.crons.map((cron) => ({ ...cron, walls: restrictWallTimes(cron.walls, rule) })),
    };
  const wall = plan.at + getZoneOffset(zone, plan.at);
  const day = findActualDay(rule, toDay(wall));
  if (day === undefined) return { kind: "manual", text: MANUAL_PLAN };
  return day === toDay(wall)
    ? plan
    : { ...plan, at: findInstantOf(zone, wall + (day - toDay(wall)) * DAY_MS) };
}

/** Removes excluded days, and adds those to which occurrences move. */
function restrictWallTimes(walls: WallTimes, rule: DayRule): WallTimes {
  const isDay = (day: number) =>
    !rule.isExcluded(day) && (isPlanned(walls, day) || listMovedDays(walls, rule, day).length > 0);
  return { times: walls.times, getDayMask: memoizeMonths(isDay) };
}

function isPlannedByAny(crons: readonly WallPlan[], day: number): boolean {
  return crons.some(({ walls }) => isPlanned(walls, day));
}

/** Returns the excluded days whose occurrences move to a day that is not excluded, the nearest first. */
export function listMovedDays(walls: WallTimes, rule: DayRule, to: number): number[] {
  if (rule.rule === "skip") return [];
  const step = rule.rule === "next" ? -1 : 1;
  const moved: number[] = [];
  for (let away = 1; away <= FARTHEST_MOVE && rule.isExcluded(to + away * step); away += 1)
    if (isPlanned(walls, to + away * step)) moved.push(to + away * step);
  return moved;
}

/** Returns the day on which the occurrence of a day takes place; undefined if it is left out. */
function findActualDay({ rule, isExcluded }: DayRule, planned: number): number | undefined {
  if (!isExcluded(planned)) return planned;
  if (rule === "skip") return undefined;
  const step = rule === "next" ? 1 : -1;
  for (let away = 1; away <= FARTHEST_MOVE; away += 1)
    if (!isExcluded(planned + away * step)) return planned + away * step;
  return undefined;
}

/** Returns the first instant at which the clocks of a zone show a time, or skip it. */
function findInstantOf(zone: string, wall: LocalTime): WallTime {
  let period = findOffsetPeriod(zone, wall - DAY_MS);
  while (period !== undefined && wall - period.offset >= period.end)
    period = findOffsetPeriod(zone, period.end);
  return period === undefined ? Number(wall) : Math.max(period.start, wall - period.offset);
}
