import { UsageError } from "../../../base/errors.ts";
import { quoteText } from "../../../base/text.ts";
import { parseCron } from "../../../schedule/cron/cron.ts";
import type { Definition } from "../../../schedule/definition.ts";
import { compareWithCronParser } from "../../../schedule/lint/compare-cron-parser.ts";
import { computeFirstDue } from "../../../schedule/state/due-transitions.ts";
import { formatOperator } from "../../../work/operate/ports.ts";
import { buildAddMutation } from "../../../work/schedules/schedule-mutations.ts";
import { getTextFlag, parseReasonFlag } from "../../command-line/flags.ts";
import { parseFirstRunFlags } from "../../command-line/instant.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import type { Call } from "../../spec.ts";
import type { ActionContext } from "../../store-command.ts";
import { AmendmentCommand } from "../amendment-command.ts";
import { formatUpcomingRuns } from "../next-lines.ts";
import { applyGivenFields, parseDataJson, parseGivenFields } from "./definition-input.ts";

export const { execute, perform } = createActionCommand(async (context) => {
  const { call } = context;
  const { id, type, cron, data } = parseAddArguments(call);
  const second = await compareWithCronParser(parseCron(cron));
  if (second !== undefined) context.printMessage(`note: ${second.detail}`);
  const now = context.clock.getWallTime();
  if (data !== undefined && getTextFlag(call, "data") !== undefined)
    throw new UsageError("DATA was given twice: as an argument and with --data; leave one of them out");
  const given = parseGivenFields(call, "UTC", now);
  const base = { cron, timezone: "UTC", ...(type !== undefined && { type }) };
  const definition = {
    ...applyGivenFields(base, { ...given, ...(data !== undefined && { data: parseDataJson(data) }) }, call),
    ...buildPause(context, now),
  };
  const first = parseFirstRunFlags(call, definition.timezone, now);
  if (computeFirstDue(id, definition, now, first).next === undefined)
    throw new UsageError(`schedule ${quoteText(id)} would never fire: ${explainNeverFires(definition)}`);
  return await new AmendmentCommand(context, {
    amendment: buildAddMutation(id, definition, first),
    nothing: `schedule ${quoteText(id)} is up to date`,
    buildQuestion: () => `Add schedule ${id}?`,
    buildFollowUp: ([change]) =>
      change?.due === undefined ? [] : formatUpcomingRuns(id, definition, change.due, 3),
  }).run();
});

function explainNeverFires({ cron, timezone, end }: Definition): string {
  if (end !== undefined)
    return `${quoteText(cron)} has no occurrence before --end, ${new Date(end).toISOString()}`;
  return `the clocks of ${timezone} skip ${quoteText(cron)} every year; use another hour, or --timezone UTC`;
}

function buildPause({ call, operator }: ActionContext, at: number) {
  if (!call.flags.paused) return {};
  const why = parseReasonFlag(call);
  return { pause: { by: formatOperator(operator), at, ...(why !== undefined && { why }) } };
}

interface AddArguments {
  id: string;
  type?: string;
  cron: string;
  data?: string;
}

/** Parses `KEY TYPE CRON [DATA]`, or `KEY CRON` with a command. @throws UsageError */
function parseAddArguments(call: Call): AddArguments {
  const [id = "", first = "", second, data] = call.args;
  const hasCommand = call.command.length > 0 || getTextFlag(call, "command") !== undefined;
  if (second === undefined && hasCommand) return { id, cron: first };
  if (second === undefined)
    throw new UsageError(
      `CRON or COMMAND is missing: write KEY TYPE CRON, or KEY CRON -- COMMAND; got ${quoteText(first)} as TYPE`,
    );
  if (/^\S+$/.test(second) && /\s/.test(first))
    throw new UsageError(`TYPE must come before CRON: KEY TYPE CRON; got ${quoteText(first)} as TYPE`);
  return { id, cron: second, ...(first !== "-" && { type: first }), ...(data !== undefined && { data }) };
}
