import { validateName } from "../../../protocol/names.ts";
import type { ScheduleMutation } from "../../../work/schedules/schedule-mutation.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import type { ActionImplementation, Call } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";
import { AmendmentCommand } from "../amendment-command.ts";

/** Creates a command on named schedules: `KEY…`. @param verb  for the question */
export function createKeysCommand(
  verb: string,
  buildAmendment: (ids: readonly string[], call: Call, context: CommandContext) => ScheduleMutation,
): ActionImplementation {
  return createActionCommand(async (call, io, context) => {
    const ids = [...new Set(call.args.map((id) => validateName("schedule", id)))];
    const what = ids.length === 1 ? `schedule ${ids[0]}` : `${ids.length} schedules`;
    return await new AmendmentCommand(call, io, context, {
      amendment: buildAmendment(ids, call, context),
      nothing: `${what}: nothing to change`,
      buildQuestion: (changes) => `${verb} ${changes.length === 1 ? what : `${changes.length} schedules`}?`,
    }).run();
  });
}
