import type { Millis, WallTime } from "../core/base/clock.ts";
import { type BlackoutSpan, excludeBlackouts, findBlackout, listBlackouts } from "./calendar/blackout.ts";
import { type Calendars, NO_CALENDARS, toDay } from "./calendar/calendar.ts";
import { buildDayRule } from "./calendar/day-rule.ts";
import { restrictPlan } from "./calendar/upcoming-days.ts";
import { getZoneOffset } from "./cron/offsets.ts";
import type { Definition } from "./definition.ts";
import { SCHEDULE_DEFAULTS } from "./definition-values.ts";
import { computeJitter } from "./hash.ts";
import { createPlanTimes, NO_TIMES, parsePlan } from "./plan.ts";
import type { PlanTimes } from "./plan-times.ts";

/**
 * Times of the occurrences of one schedule, without those on excluded days, and when each may be claimed. Instants in ms
 * since the epoch.
 */
export interface Timing extends PlanTimes {
  /** Time between the scheduled time and the claim: delay and jitter. */
  readonly lag: Millis;
  /** Time from the end of a run to the next scheduled time, if that depends on the end. */
  readonly wait?: Millis | undefined;
  /** Returns whether an instant is in a blackout, or the calendars exclude its day in the zone of the schedule. */
  isExcluded(instant: WallTime): boolean;
  findBlackout(instant: WallTime): BlackoutSpan | undefined;
  /**
   * Returns when something runs that is not due by the plan: at the instant itself; if its day is excluded, at the time to which that
   * moves. Undefined if it is left out.
   */
  findAllowed(instant: WallTime): number | undefined;
}

/** Timing without any occurrence. */
export const NEVER_DUE: Timing = {
  ...NO_TIMES,
  lag: 0,
  isExcluded: () => false,
  findBlackout: () => undefined,
  findAllowed: (instant) => instant,
};

/**
 * Creates the timing of a schedule from its definition.
 * @param calendars  all calendars; needed only if the schedule names some
 * @throws CronError, UsageError if the cron expression or the zone is invalid; ConfigError if one of its calendars is
 *   missing or cannot be read
 */
export function createTiming(
  id: string,
  definition: Definition,
  calendars: Calendars = NO_CALENDARS,
): Timing {
  const { timezone, end } = definition;
  const rule = buildDayRule(definition, calendars);
  const plan = restrictPlan(parsePlan(definition.cron), timezone, rule);
  const blackouts = listBlackouts(definition);
  const findSpan = (instant: WallTime) => findBlackout(blackouts, timezone, instant);
  const times = excludeBlackouts(createPlanTimes(plan, timezone), timezone, blackouts);
  const limitToEnd = (at: WallTime | undefined) =>
    at !== undefined && end !== undefined && at > end ? undefined : at;
  return {
    lag: computeLag(id, definition),
    wait: plan.kind === "after-end" ? plan.wait : undefined,
    findAfter: (instant) => limitToEnd(times.findAfter(instant)),
    findFrom: (instant) => limitToEnd(times.findFrom(instant)),
    findUntil: (instant) => times.findUntil(end === undefined ? instant : Math.min(instant, end)),
    count: times.count,
    isExcluded: (instant) =>
      findSpan(instant) !== undefined ||
      rule?.isExcluded(toDay(instant + getZoneOffset(timezone, instant))) === true,
    findBlackout: findSpan,
    findAllowed: (instant) => {
      const once = restrictPlan({ kind: "once", text: "", at: instant }, timezone, rule);
      return once.kind === "once" && findSpan(once.at) === undefined ? once.at : undefined;
    },
  };
}

/** Returns the time between the scheduled time of an occurrence and its claim, ms. */
export function computeLag(
  id: string,
  {
    delay = SCHEDULE_DEFAULTS.delay,
    jitter = SCHEDULE_DEFAULTS.jitter,
  }: Pick<Definition, "delay" | "jitter">,
): number {
  return delay + computeJitter(id, jitter);
}
