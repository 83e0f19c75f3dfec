import { UsageError } from "../../../base/errors.ts";
import { quoteText } from "../../../base/text.ts";
import { formatOperator } from "../../../operate/ports.ts";
import { buildAddMutation } from "../../../operate/schedule-mutations.ts";
import { compareWithCronParser } from "../../../schedule/lint/compare-cron-parser.ts";
import { type Plan, parsePlan } from "../../../schedule/plan/plan.ts";
import { getTextFlag, parseReasonFlag } from "../../command-line/flags.ts";
import { parseFirstRunFlags } from "../../command-line/instant.ts";
import type { ActionOutcome } from "../../outcome/action-outcome.ts";
import type { ActionContext } from "../../store-command.ts";
import { AmendmentCommand } from "../amendment-command.ts";
import { listProgramNotes } from "../command-words.ts";
import { applyGivenFields, checkNoneEmpty, parseDataJson, parseGivenFields } from "../definition-input.ts";
import { checkConfiguredTotals } from "../lease-totals.ts";
import { formatUpcomingRuns } from "../next-lines.ts";
import { readCalendarsOf } from "../read-schedule.ts";
import type { AddArguments } from "./add-arguments.ts";

/** Adds a schedule as its arguments and flags say. @throws UsageError, CronError */
export async function addSchedule(
  context: ActionContext,
  { id, type, cron, data, start }: AddArguments,
): Promise<ActionOutcome> {
  const { call } = context;
  checkNoneEmpty(call);
  const plan = parsePlan(cron);
  await printSecondReading(context, plan);
  const now = context.clock.getWallTime();
  if (data !== undefined && getTextFlag(call, "data") !== undefined)
    throw new UsageError("DATA was given twice: as an argument and with --data; leave one of them out");
  const given = parseGivenFields(call, "UTC", now);
  const base = { cron, timezone: "UTC", ...(type !== undefined && { type }) };
  const definition = {
    ...applyGivenFields(base, { ...given, ...(data !== undefined && { data: parseDataJson(data) }) }, call),
    ...buildPause(context, now),
  };
  const first = {
    ...(start !== undefined && { start }),
    ...parseFirstRunFlags(call, definition.timezone, now),
  };
  await checkConfiguredTotals(context, definition.leases);
  const calendars = await readCalendarsOf(context, definition);
  return await new AmendmentCommand(context, {
    amendment: buildAddMutation(id, definition, first),
    nothing: `schedule ${quoteText(id)} is up to date`,
    notes: listProgramNotes(definition.command),
    buildQuestion: () => `Add schedule ${id}?`,
    buildFollowUp: (changes) => {
      const due = changes.find(({ before }) => before.id === id)?.due;
      return due === undefined ? [] : formatUpcomingRuns(id, definition, due, 3, { calendars, since: now });
    },
  }).run();
}

/** Says how the package cron-parser reads an expression, if that differs. */
async function printSecondReading(context: ActionContext, plan: Plan): Promise<void> {
  const second = plan.kind === "cron" ? await compareWithCronParser(plan.cron) : undefined;
  if (second !== undefined) context.printMessage(`note: ${second.detail}`);
}

function buildPause({ call, operator }: ActionContext, at: number) {
  if (!call.flags.paused) return {};
  const why = parseReasonFlag(call);
  return { pause: { by: formatOperator(operator), at, ...(why !== undefined && { why }) } };
}
