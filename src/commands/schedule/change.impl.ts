import { ConfigError, EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { buildModifyMutation } from "../../operate/schedule-mutations.ts";
import { readStoredSchedules, type StoredSchedule } from "../../operate/stored-schedules.ts";
import { checkDefinition, type Definition, findUnknownField } from "../../schedule/definition.ts";
import type { JsonFields } from "../../schedule/json-fields.ts";
import { parsePlan } from "../../schedule/plan/plan.ts";
import { ACTION_FLAGS, getTextFlag, parseReasonFlag } from "../command-line/flags.ts";
import { parseFirstRunFlags } from "../command-line/instant.ts";
import { toFlags } from "../declare-command.ts";
import { editText } from "../editor.ts";
import { escapeInvisible } from "../json-output.ts";
import { createActionCommand } from "../outcome/action-command.ts";
import type { ActionOutcome } from "../outcome/action-outcome.ts";
import type { Call } from "../spec.ts";
import type { ActionContext } from "../store-command.ts";
import { AmendmentCommand } from "./amendment-command.ts";
import { listProgramNotes } from "./command-words.ts";
import { applyGivenFields, parseGivenFields } from "./definition-input.ts";
import { checkConfiguredTotals } from "./lease-totals.ts";
import { readExistingSchedule } from "./read-schedule.ts";

export const { execute, perform } = createActionCommand(async (context) => {
  const { call } = context;
  parseReasonFlag(call); // check it before the user types anything
  const seen = await readExistingSchedule(context, call.args[0] ?? "");
  return hasChanges(call) ? await editByFlags(context, seen) : await editInEditor(context, seen);
});

const NON_CHANGE_FLAGS = new Set([
  ...toFlags(ACTION_FLAGS).map(({ name }) => name),
  "config",
  "context",
  "verbose",
  "quiet",
]);

/** Reports whether a flag or a command changes the schedule. */
function hasChanges({ flags, command }: Call): boolean {
  return command.length > 0 || Object.keys(flags).some((name) => !NON_CHANGE_FLAGS.has(name));
}

async function editByFlags(
  context: ActionContext,
  { id, definition, fault }: StoredSchedule,
): Promise<ActionOutcome> {
  if (definition === undefined)
    throw new ConfigError(
      `schedule ${quoteText(id)} cannot be read: ${fault}; open it in your editor: signalbox schedule edit`,
    );
  const { call } = context;
  const now = context.clock.getWallTime();
  const given = parseGivenFields(call, definition.timezone, now);
  await checkConfiguredTotals(context, given.leases ?? []);
  const zone = given.timezone ?? definition.timezone;
  const first = parseFirstRunFlags(call, zone, now);
  const applyChange = (before: Definition | undefined) =>
    applyGivenFields(applyTimes(before ?? definition, call), given, call);
  const notes = listProgramNotes(given.command ?? []);
  return await changeSchedule(context, id, buildModifyMutation([id], applyChange, first), notes);
}

function applyTimes(before: Definition, call: Call): Definition {
  const { type: old, ...rest } = before;
  const cron = parsePlan(getTextFlag(call, "cron") ?? before.cron).text;
  const type = getTextFlag(call, "type") ?? old;
  return { ...rest, cron, ...(type !== undefined && type !== "" && type !== "-" && { type }) };
}

async function editInEditor(context: ActionContext, seen: StoredSchedule): Promise<ActionOutcome> {
  const { call, io } = context;
  if (!io.terminal.canAsk() && !call.flags.yes)
    throw new UsageError(
      "edit needs a terminal, or flags with the changes; see: signalbox schedule edit --help",
    );
  const { id, definition = {} } = seen;
  return await editText(context, {
    text: escapeInvisible(`${JSON.stringify(definition, undefined, 2)}\n`),
    parse: (text) => parseDefinition(`schedule ${id}`, text, { ...definition }),
    isSettled: ({ exitCode }) => exitCode === EXIT.ok,
    apply: async (after) => {
      const { definitionMod } = (await readStoredSchedules(context, [id])).schedules.get(id) ?? seen;
      if (definitionMod !== seen.definitionMod)
        throw new UsageError(`nothing was done: schedule ${quoteText(id)} has changed since it was opened`);
      return await changeSchedule(
        context,
        id,
        buildModifyMutation([id], () => after),
      );
    },
  });
}

/** @param name  for the fault. @param before  the definition that was edited */
function parseDefinition(
  name: string,
  text: string,
  before: JsonFields,
): { value: Definition } | { faults: string[] } {
  try {
    const value = checkDefinition(JSON.parse(text) as Definition);
    const fault = findUnknownField({ ...value }, before);
    return fault === undefined ? { value } : { faults: [`${name}: ${fault}`] };
  } catch (error) {
    if (error instanceof SignalboxError || error instanceof SyntaxError)
      return { faults: [`${name}: ${error.message}`] };
    throw error;
  }
}

async function changeSchedule(
  context: ActionContext,
  id: string,
  amendment: ReturnType<typeof buildModifyMutation>,
  notes: readonly string[] = [],
): Promise<ActionOutcome> {
  return await new AmendmentCommand(context, {
    amendment,
    notes,
    nothing: `schedule ${quoteText(id)} is up to date: nothing to change`,
    buildQuestion: () => `Change schedule ${id}?`,
  }).run();
}
