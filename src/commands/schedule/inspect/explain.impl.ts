import { EXIT } from "../../../base/errors.ts";
import { clean } from "../../../base/text.ts";
import { explainPlan, parsePlan } from "../../../schedule/plan/plan.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import { formatJsonDocument } from "../../json-output.ts";
import type { Call, CommandExecutor, CommandIo } from "../../spec.ts";
import { createStoreCommand } from "../../store-command.ts";
import { parseCronArgument, readCalendarsOf, readSchedule } from "../read-schedule.ts";
import { describeExcludedDays } from "./calendar-lines.ts";
import { describeDefinition } from "./definition-lines.ts";

export const execute: CommandExecutor = async (call, io) => {
  const given = parseCronArgument(call);
  if (given === undefined) return await explainSchedule(call, io);
  const { cron, timezone } = given;
  const where = getTextFlag(call, "timezone") === undefined ? "" : `, ${timezone}`;
  return printExplanation(call, io, { cron }, [`${explainPlan(parsePlan(cron))}${where}`]);
};

const explainSchedule = createStoreCommand(async (call, io, context) => {
  const { id, definition } = await readSchedule(context, call.args[0] ?? "");
  const calendars = await readCalendarsOf(context, definition);
  const lines = [
    ...describeDefinition(id, definition),
    ...describeExcludedDays(definition, calendars, context.clock.getWallTime()),
  ];
  return printExplanation(call, io, { id, cron: definition.cron }, lines);
});

function printExplanation(call: Call, io: CommandIo, about: object, lines: readonly string[]): number {
  if (call.flags.json) io.writeOutput(formatJsonDocument({ ...about, words: lines }));
  else for (const line of lines) io.writeOutput(`${clean(line)}\n`);
  return EXIT.ok;
}
