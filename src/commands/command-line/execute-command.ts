import { EXIT, SignalboxError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { explainError } from "../explain-error.ts";
import type { Call, Command, CommandIo } from "../spec.ts";
import { parseCall } from "./parse-call.ts";

/** Options for running a command. */
export interface ExecuteOptions {
  /** Settings of the caller, such as the endpoints of etcd. Settings in the command line take precedence. */
  settings?: Call["settings"];
}

/**
 * Runs one command. Never throws.
 * @param argv  the words after its name
 * @returns the exit code
 */
export async function executeCommand(
  spec: Command,
  argv: readonly string[],
  io: CommandIo,
  { settings }: ExecuteOptions = {},
): Promise<number> {
  let call: Call | undefined;
  try {
    call = parseCall(spec, argv);
    if (call.flags.help) {
      const { renderCommandHelp, computeHelpWidth } = await import("./help.ts");
      io.writeOutput(renderCommandHelp(spec, computeHelpWidth(io.terminal)));
      return EXIT.ok;
    }
    const { execute } = await loadCommand(spec);
    return await execute(settings ? { ...call, settings: { ...settings, ...call.settings } } : call, io);
  } catch (error) {
    return reportError(error, io, call?.verbosity ?? 0);
  }
}

function loadCommand({ id, load }: Command): ReturnType<NonNullable<Command["load"]>> {
  if (load === undefined)
    throw new SignalboxError(EXIT.internal, `${id} is a program of its own: signalbox ${id}`);
  return load();
}

/** Prints the error unless `verbosity` is negative; with `-vv`, its stack too. @returns the exit code */
export function reportError(error: unknown, io: CommandIo, verbosity: number): number {
  const { exitCode, message } = explainError(error);
  if (verbosity >= 0) io.writeError(`signalbox: ${clean(message)}\n`);
  if (verbosity > 1) io.writeError(`${clean(String((error as Error)?.stack ?? error))}\n`);
  return exitCode;
}
