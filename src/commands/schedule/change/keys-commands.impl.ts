import { formatOperator } from "../../../operate/ports.ts";
import type { ScheduleMutation } from "../../../operate/schedule-mutation.ts";
import {
  buildBuryMutation,
  buildDeleteMutation,
  buildPauseMutation,
  buildResumeMutation,
  buildTriggerMutation,
  type TriggerOptions,
} from "../../../operate/schedule-mutations.ts";
import { validateName } from "../../../protocol/names.ts";
import { getTextFlag, parseReasonFlag } from "../../command-line/flags.ts";
import { parseInstantFlag } from "../../command-line/instant.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import type { ActionImplementation, Call } from "../../spec.ts";
import type { ActionContext } from "../../store-command.ts";
import { AmendmentCommand } from "../amendment-command.ts";
import { parseDataJson, parseEnvField } from "../definition-input.ts";

export const deleteSchedules = createKeysCommand("Delete", buildDeleteMutation);
export const resumeSchedules = createKeysCommand("Resume", buildResumeMutation);
export const buryDeadLetters = createKeysCommand("Delete the dead letters of", buildBuryMutation);
export const pauseSchedules = createKeysCommand("Pause", (ids, { call, clock, operator }) => {
  const until = parseInstantFlag(call, "until", "UTC", clock.getWallTime());
  return buildPauseMutation(ids, { by: formatOperator(operator), until, why: parseReasonFlag(call) });
});
export const triggerSchedules = createKeysCommand("Trigger", (ids, { call, clock }) =>
  buildTriggerMutation(ids, {
    dead:
      getTextFlag(call, "dead") === "all"
        ? "all"
        : parseInstantFlag(call, "dead", "UTC", clock.getWallTime()),
    ...parseRunInput(call),
  }),
);

/** Parses --data and --env of a run. @throws UsageError */
function parseRunInput(call: Call): Pick<TriggerOptions, "data" | "env"> {
  const data = getTextFlag(call, "data");
  const env = parseEnvField(call);
  return {
    ...(data !== undefined && { data: parseDataJson(data) }),
    ...(env !== undefined && env !== null && { env }),
  };
}

/** Creates a command on named schedules: `KEY…`. @param verb  for the question */
function createKeysCommand(
  verb: string,
  buildAmendment: (ids: readonly string[], context: ActionContext) => ScheduleMutation,
): ActionImplementation {
  return createActionCommand(async (context) => {
    const ids = [...new Set(context.call.args.map((id) => validateName("schedule", id)))];
    const what = ids.length === 1 ? `schedule ${ids[0]}` : `${ids.length} schedules`;
    return await new AmendmentCommand(context, {
      amendment: buildAmendment(ids, context),
      nothing: `${what}: nothing to change`,
      buildQuestion: (changes) => `${verb} ${changes.length === 1 ? what : `${changes.length} schedules`}?`,
    }).run();
  });
}
