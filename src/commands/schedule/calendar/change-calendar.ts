import { ConfigError, UsageError } from "../../../base/errors.ts";
import { quoteText } from "../../../base/text.ts";
import {
  applyCalendarMutation,
  type CalendarMutation,
  type CalendarPlan,
  formatCalendarChange,
  previewCalendarMutation,
} from "../../../operate/calendar-mutation.ts";
import { type Calendar, findDayFault, normalizeDays } from "../../../schedule/calendar/calendar.ts";
import { getTextFlag, parseReasonFlag, parseRevisionFlag } from "../../command-line/flags.ts";
import { confirmAction } from "../../confirm.ts";
import type { ActionOutcome } from "../../outcome/action-outcome.ts";
import { createOutcome } from "../../outcome/create-outcome.ts";
import type { ScheduleResult } from "../../outcome.ts";
import type { ActionContext } from "../../store-command.ts";
import { formatScheduleChange, toScheduleChange } from "../describe-schedule.ts";

/** Previews a change of a calendar, asks if it deletes something or moves schedules, and applies it. */
export async function changeCalendar(
  context: ActionContext,
  mutation: CalendarMutation,
): Promise<ActionOutcome<ScheduleResult>> {
  const { call } = context;
  const reason = parseReasonFlag(call);
  const expected = parseRevisionFlag(call, "expect-revision");
  const plan = await previewCalendarMutation(context, mutation);
  if (expected !== undefined && (plan.before?.mod ?? 0n) > expected)
    return describe(context, plan, "changed", [formatMoved(plan)]);
  if (plan.isSame)
    return describe(context, plan, "nothing", [`calendar ${quoteText(plan.name)} is up to date`]);
  const lines = listLines(plan);
  if (call.flags["dry-run"])
    return describe(context, plan, "dry-run", lines, `--expect-revision ${plan.revision} --yes`);
  const isAsked = call.flags.yes !== true && (plan.after === undefined || plan.changes.length > 0);
  const question = `${plan.after === undefined ? "Delete" : "Change"} calendar ${plan.name}?`;
  if (isAsked && !(await confirmAction(context, lines, question)))
    return describe(context, plan, "declined", ["nothing was changed"]);
  const end = await applyCalendarMutation(context, mutation, {
    reason,
    seen: isAsked ? plan.revision : expected,
  });
  const told = end.kind === "changed" ? [formatMoved(end.plan)] : listLines(end.plan);
  return describe(context, { ...end.plan, revision: end.revision }, end.kind, told);
}

/**
 * Builds the new value of a calendar.
 * @param note  null removes the note, undefined keeps it
 * @throws UsageError for a day that is not valid
 */
export function buildCalendar(days: readonly string[], note: string | undefined): Calendar {
  const normal = normalizeDays(days);
  const fault = findDayFault(normal);
  if (fault !== undefined) throw new UsageError(fault);
  return { days: normal, ...(note !== undefined && note !== "" && { note }) };
}

/** Returns the note to store: that of --note, else the old one. */
export function chooseNote({ call }: ActionContext, before: Calendar | undefined): string | undefined {
  return getTextFlag(call, "note") ?? before?.note;
}

/** Returns the stored calendar. @throws ConfigError if it cannot be read */
export function requireReadableCalendar(name: string, before: CalendarPlan["before"]): Calendar | undefined {
  if (before === undefined || "value" in before) return before?.value;
  throw new ConfigError(
    `calendar ${quoteText(name)} cannot be read; replace it with calendar add --replace: ${before.fault}`,
  );
}

/** Largest number of schedules that are reported one by one; further ones are only counted. */
const MANY = 20;

function listLines(plan: CalendarPlan): string[] {
  const { changes } = plan;
  const rest = changes.length > MANY ? [`and ${changes.length - MANY} more schedules change`] : [];
  return [formatCalendarChange(plan), ...changes.slice(0, MANY).map(formatScheduleChange), ...rest];
}

function formatMoved({ name }: CalendarPlan): string {
  return `calendar ${name} has changed; see: signalbox calendar show ${name}`;
}

function describe(
  { call }: ActionContext,
  { name, changes, revision, after }: CalendarPlan,
  outcome: ScheduleResult["outcome"],
  messages: readonly string[],
  repeat?: string,
): ActionOutcome<ScheduleResult> {
  const isChange = outcome === "done" || outcome === "dry-run";
  const shown = isChange ? changes.map(toScheduleChange) : [];
  const calendar = { name, days: after?.days ?? null };
  return createOutcome(
    call,
    { kind: "schedules", outcome, revision, target: `calendar ${name}`, changes: shown, calendar },
    { messages, ...(repeat !== undefined && { repeat }) },
  );
}
