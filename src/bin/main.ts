import { readFileSync } from "node:fs";
import type { Command, CommandIo } from "../cli/frame/command.ts";
import { executeCommand, reportError } from "../cli/frame/command-line/execute-command.ts";
import { decodeArgument, decodeUtf8 } from "../core/base/bytes.ts";
import { UsageError } from "../core/base/errors.ts";
import { quoteText } from "../core/base/text.ts";

/** Runs one command with the arguments of this process. @returns the exit code; never throws */
export async function runCommandLine(spec: Command, argv: readonly string[], io: CommandIo): Promise<number> {
  let words: readonly string[];
  try {
    words = restoreBytes(spec, argv);
  } catch (error) {
    const code = reportError(error, io, 0);
    return spec.failure ?? code;
  }
  return await executeCommand(spec, words, io);
}

/**
 * Restores the bytes of a command to run: Node replaces those that are not valid UTF-8 with U+FFFD. Refuses other arguments with such
 * bytes, because two names would become one lock.
 * @throws UsageError
 */
function restoreBytes({ takesCommand }: Command, argv: readonly string[]): readonly string[] {
  const isSuspect = (argument: string) => argument.includes("\ufffd");
  if (!argv.some(isSuspect)) return argv;
  // An argument can contain U+FFFD itself. Only the original bytes show the difference.
  const raw = readCommandLine();
  if (raw.length < argv.length) return argv; // without /proc
  const end = takesCommand === true ? argv.indexOf("--") : -1;
  const count = end < 0 ? 0 : argv.length - end - 1;
  const own = argv.slice(0, argv.length - count);
  const suspect = own.find(isSuspect);
  if (
    suspect !== undefined &&
    !raw.slice(0, raw.length - count).every((word) => decodeUtf8(word) !== undefined)
  )
    throw new UsageError(`argument ${quoteText(suspect)} is not valid UTF-8; use a name that is`);
  return [...own, ...raw.slice(raw.length - count).map(decodeArgument)];
}

/** Reads the words of this process, as bytes. */
function readCommandLine(): string[] {
  try {
    return readFileSync("/proc/self/cmdline", "latin1").split("\0").slice(0, -1);
  } catch {
    return [];
  }
}
