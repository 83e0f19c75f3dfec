import { UsageError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import { listCalendarNames } from "../schedule/calendar/day-rule.ts";
import type { Definition } from "../schedule/definition.ts";
import { type Plan, parsePlan } from "../schedule/plan/plan.ts";
import type { DueState } from "../schedule/state/due.ts";

/**
 * Checks that a schedule fires at least once by itself, unless it is only triggered.
 * @param due  its state
 * @param now  wall clock, ms since the epoch
 * @returns the state
 * @throws UsageError that says why it would never fire
 */
export function checkFires(id: string, definition: Definition, due: DueState, now: number): DueState {
  const plan = parsePlan(definition.cron);
  if (plan.kind === "manual" || due.next !== undefined) return due;
  throw new UsageError(
    `schedule ${quoteText(id)} would never fire: ${explainNeverFires(plan, definition, now)}`,
  );
}

function explainNeverFires(plan: Plan, definition: Definition, now: number): string {
  const { cron, timezone, end } = definition;
  const isOver = plan.kind === "once" && plan.at < now;
  if (listCalendarNames(definition).length > 0 && !isOver)
    return `its calendars leave no day${end === undefined ? "" : " before its end"}: ${listCalendarNames(definition).join(", ")}`;
  if (plan.kind === "once") return `${new Date(plan.at).toISOString()} has passed`;
  if (end !== undefined)
    return `${quoteText(cron)} has no occurrence before its end, ${new Date(end).toISOString()}`;
  return `the clocks of ${timezone} skip ${quoteText(cron)} every year; use another hour, or the time zone UTC`;
}
