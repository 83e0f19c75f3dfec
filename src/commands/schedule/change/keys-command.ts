import { validateName } from "../../../protocol/names.ts";
import type { ScheduleMutation } from "../../../work/schedules/schedule-mutation.ts";
import { createActionCommand } from "../../outcome/action-command.ts";
import type { ActionImplementation } from "../../spec.ts";
import type { ActionContext } from "../../store-command.ts";
import { AmendmentCommand } from "../amendment-command.ts";

/** Creates a command on named schedules: `KEY…`. @param verb  for the question */
export function createKeysCommand(
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
