import { printOutcome } from "../print-outcome.ts";
import type { ActionImplementation } from "../spec.ts";
import { type ActionContext, createStoreCommand, withCommandContext } from "../store-command.ts";
import type { ActionOutcome } from "./action-outcome.ts";

/** Does the work of a command that acts. */
type ActionWork = (context: ActionContext) => Promise<ActionOutcome>;

/** Creates a command that acts, from its work. */
export function createActionCommand(work: ActionWork): ActionImplementation {
  return {
    perform: (call, io) => withCommandContext(call, io, (context) => work({ ...context, call, io })),
    execute: createStoreCommand(async (call, io, context) =>
      printOutcome(await work({ ...context, call, io }), call, io),
    ),
  };
}
