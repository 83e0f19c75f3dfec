import { executeCommand, reportError } from "../commands/command-line/execute-command.ts";
import type { Command, CommandIo } from "../commands/spec.ts";
import { checkBytes } from "./bytes.ts";

/** Runs one command with the arguments of this process. @returns the exit code; never throws */
export async function runCommandLine(spec: Command, argv: readonly string[], io: CommandIo): Promise<number> {
  try {
    checkBytes(argv);
  } catch (error) {
    const code = reportError(error, io, 0);
    return spec.failure ?? code;
  }
  return await executeCommand(spec, argv, io);
}
