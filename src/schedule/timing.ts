import type { Definition } from "./definition.ts";
import { SCHEDULE_DEFAULTS } from "./definition-values.ts";
import { computeJitter } from "./hash.ts";
import { parsePlan } from "./plan/plan.ts";
import { createPlanTimes, type PlanTimes } from "./plan/plan-times.ts";

/** Times of the occurrences of one schedule, and when each may be claimed. Instants in ms since the epoch. */
export interface Timing extends PlanTimes {
  /** Time between the scheduled time and the claim: delay and jitter, ms. */
  readonly lag: number;
}

/**
 * Creates the timing of a schedule from its definition.
 * @throws CronError, UsageError if the cron expression or the zone is invalid
 */
export function createTiming(id: string, definition: Definition): Timing {
  const { timezone, delay = SCHEDULE_DEFAULTS.delay, jitter = SCHEDULE_DEFAULTS.jitter, end } = definition;
  const times = createPlanTimes(parsePlan(definition.cron), timezone);
  const limitToEnd = (at: number | undefined) =>
    at !== undefined && end !== undefined && at > end ? undefined : at;
  return {
    lag: delay + computeJitter(id, jitter),
    findAfter: (instant) => limitToEnd(times.findAfter(instant)),
    findFrom: (instant) => limitToEnd(times.findFrom(instant)),
    findUntil: (instant) => times.findUntil(end === undefined ? instant : Math.min(instant, end)),
    count: times.count,
  };
}
