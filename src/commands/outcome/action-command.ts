import type { ActionImplementation, Call, CommandIo } from "../spec.ts";
import { type CommandContext, createStoreCommand, withCommandContext } from "../store-command.ts";
import type { ActionOutcome } from "./action-outcome.ts";
import { printOutcome } from "./print-outcome.ts";

/** Does the work of a command that acts. */
type ActionWork = (call: Call, io: CommandIo, context: CommandContext) => Promise<ActionOutcome>;

/** Creates a command that acts, from its work. */
export function createActionCommand(work: ActionWork): ActionImplementation {
  return {
    perform: (call, io) => withCommandContext(call, io, (context) => work(call, io, context)),
    execute: createStoreCommand(async (call, io, context) =>
      printOutcome(await work(call, io, context), call, io),
    ),
  };
}
