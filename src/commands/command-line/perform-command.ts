import type { ActionOutcome } from "../outcome/action-outcome.ts";
import type { Call, Command, CommandIo } from "../spec.ts";
import { InterruptedError } from "../store-command.ts";
import { loadCommand, reportError } from "./execute-command.ts";
import { parseCall } from "./parse-call.ts";

/** How a command ended. */
export interface CommandEnd {
  exitCode: number;
  /** What a command that acts has done, not printed. Undefined for other commands, and if it failed with a message. */
  outcome?: ActionOutcome;
}

/**
 * Runs one command, but does not print the outcome of a command that acts. Never throws.
 * @param argv      the words after its name
 * @param settings  settings of the caller, such as the endpoints of etcd; the command line takes precedence
 */
export async function performCommand(
  spec: Command,
  argv: readonly string[],
  io: CommandIo,
  settings: Call["settings"],
): Promise<CommandEnd> {
  try {
    const parsed = parseCall(spec, argv);
    const call = { ...parsed, settings: { ...settings, ...parsed.settings } };
    const { execute, perform } = await loadCommand(spec);
    if (perform === undefined) return { exitCode: await execute(call, io) };
    const outcome = await perform(call, io);
    return { exitCode: outcome.exitCode, outcome };
  } catch (error) {
    return { exitCode: error instanceof InterruptedError ? error.exitCode : reportError(error, io, 0) };
  }
}
