import { EXIT, SignalboxError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { explainError } from "../explain-error.ts";
import type { Call, Command, CommandIo } from "../spec.ts";
import { parseCall } from "./parse-call.ts";

/**
 * Runs one command. Never throws.
 * @param argv  the words after its name
 * @returns the exit code
 */
export async function executeCommand(spec: Command, argv: readonly string[], io: CommandIo): Promise<number> {
  let call: Call | undefined;
  try {
    call = parseCall(spec, argv);
    if (call.flags.help) {
      const { renderCommandHelp, computeHelpWidth } = await import("./help.ts");
      io.writeOutput(renderCommandHelp(spec, computeHelpWidth(io.terminal)));
      return EXIT.ok;
    }
    const { execute } = await loadCommand(spec);
    return await execute(call, io);
  } catch (error) {
    return reportError(error, io, call?.verbosity ?? 0);
  }
}

/** Loads the implementation of a command. @throws SignalboxError if it is a program of its own */
export function loadCommand({ id, load }: Command): ReturnType<NonNullable<Command["load"]>> {
  if (load === undefined)
    throw new SignalboxError(EXIT.internal, `${id} is a program of its own: signalbox ${id}`);
  return load();
}

/** Prints the error unless `verbosity` is negative; with `-vv`, its stack too. @returns the exit code */
export function reportError(error: unknown, io: CommandIo, verbosity: number): number {
  const { exitCode, message } = explainError(error);
  if (verbosity >= 0) io.writeMessage(message);
  if (verbosity > 1) io.writeError(`${clean(String((error as Error)?.stack ?? error))}\n`);
  return exitCode;
}
