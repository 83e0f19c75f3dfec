import { findOffsetPeriod, getZoneOffset } from "../cron/offsets.ts";
import type { WallTimes } from "../cron/wall-times.ts";
import { MANUAL, type Plan } from "../plan/plan.ts";
import { toDay } from "./calendar-day.ts";
import type { DayRule } from "./day-rule.ts";

const DAY = 86_400_000;
/** Farthest day to which an occurrence moves, days: ten years. An occurrence without a free day until then is left out. */
export const FARTHEST_MOVE = 3_653;
/** Number of months whose days are kept: those around the present. */
const KEPT_MONTHS = 24;

/**
 * Applies calendars to a plan. All occurrences of a day have the same times, so an excluded day is removed from the days
 * of the plan, and the day to which its occurrences move is added.
 * @param zone  a name that `checkZone` accepts
 */
export function restrictPlan(plan: Plan, zone: string, rule: DayRule | undefined): Plan {
  if (rule === undefined || plan.kind === "manual") return plan;
  if (plan.kind === "cron")
    return { ...plan, cron: { ...plan.cron, walls: restrictWallTimes(plan.cron.walls, rule) } };
  const wall = plan.at + getZoneOffset(zone, plan.at);
  const day = findActualDay(rule, toDay(wall));
  if (day === undefined) return { kind: "manual", text: MANUAL };
  return day === toDay(wall) ? plan : { ...plan, at: findInstantOf(zone, wall + (day - toDay(wall)) * DAY) };
}

/** Removes excluded days, and adds those to which occurrences move. */
function restrictWallTimes(walls: WallTimes, rule: DayRule): WallTimes {
  const masks = new Map<number, number>();
  const getDayMask = (year: number, month: number) => {
    const key = year * 12 + month;
    let mask = masks.get(key);
    if (mask === undefined) {
      mask = computeDayMask(walls, rule, Date.UTC(year, month) / DAY, Date.UTC(year, month + 1) / DAY);
      if (masks.size >= KEPT_MONTHS) masks.clear();
      masks.set(key, mask);
    }
    return mask;
  };
  return { times: walls.times, getDayMask };
}

/** @param first  the 1st of the month; @param end  the 1st of the next one */
function computeDayMask(walls: WallTimes, rule: DayRule, first: number, end: number): number {
  let mask = 0;
  for (let day = first; day < end; day += 1)
    if (!rule.isExcluded(day) && (isPlanned(walls, day) || listMovedDays(walls, rule, day).length > 0))
      mask |= 1 << (day - first + 1);
  return mask;
}

/** Returns whether a day is one of a cron expression. */
export function isPlanned(walls: WallTimes, day: number): boolean {
  const at = new Date(day * DAY);
  return ((walls.getDayMask(at.getUTCFullYear(), at.getUTCMonth()) >>> at.getUTCDate()) & 1) === 1;
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

/** Returns the first instant at which the clocks of a zone show a time, or skip it. @param wall  wall-clock ms */
function findInstantOf(zone: string, wall: number): number {
  let period = findOffsetPeriod(zone, wall - DAY);
  while (period !== undefined && wall - period.offset >= period.end)
    period = findOffsetPeriod(zone, period.end);
  return period === undefined ? wall : Math.max(period.start, wall - period.offset);
}
