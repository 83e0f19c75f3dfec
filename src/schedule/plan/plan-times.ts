import {
  countOccurrences,
  findOccurrenceAfter,
  findOccurrenceFrom,
  findOccurrenceUntil,
} from "../cron/occurrence.ts";
import type { Plan } from "./plan.ts";

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
