import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import type { Command, CommandIo } from "../cli/frame/command.ts";
import { executeCommand, reportError } from "../cli/frame/command-line/execute-command.ts";
import { UsageError } from "../core/base/errors.ts";
import { quoteText } from "../core/base/text.ts";

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

/**
 * Refuses arguments that are not valid UTF-8. Node replaces invalid bytes with U+FFFD, so two names would become one
 * lock, and the command would receive a changed argument.
 * @throws UsageError
 */
function checkBytes(argv: readonly string[]): void {
  const suspect = argv.find((argument) => argument.includes("\ufffd"));
  // An argument can contain U+FFFD itself. Only the original bytes show the difference.
  if (suspect === undefined || isUtf8(readCommandLine())) return;
  throw new UsageError(
    `argument ${quoteText(suspect)} is not valid UTF-8; it could not be passed on as it is`,
  );
}

function readCommandLine(): Uint8Array {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return new Uint8Array(); // without /proc, accept the argument: the bytes cannot be checked
  }
}
