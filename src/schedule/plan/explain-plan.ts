import { explainCron } from "../cron/explain-cron.ts";
import { findOffsetPeriod } from "../cron/offsets.ts";
import { listUpcomingOccurrences, type UpcomingOccurrence } from "../cron/upcoming-occurrences.ts";
import { formatLocalTime } from "../cron/wall-time.ts";
import type { Plan } from "./plan.ts";

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
