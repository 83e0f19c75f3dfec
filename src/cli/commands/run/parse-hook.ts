import { UsageError } from "../../../core/base/errors.ts";
import { quoteText } from "../../../core/base/text.ts";
import {
  HOOK_ADDRESS_FORM,
  type Hook,
  parseHookAddress,
  resemblesHookAddress,
} from "../../../schedule/definition-values.ts";
import { parseShellCommands, UNKNOWN_VALUE } from "../../syntax/shell-parser.ts";

/** Parses a hook. @param what  the name of the flag or argument, for the message. @throws UsageError */
export function parseHook(text: string, what: string): Hook {
  if (!resemblesHookAddress(text)) return parseCommandWords(text, what);
  if (parseHookAddress(text) !== undefined) return text;
  throw new UsageError(`${what} must be a command line, or ${HOOK_ADDRESS_FORM}; got ${quoteText(text)}`);
}

/**
 * Splits a line into the words of one command, without a shell. Quotes and backslashes mean what they mean in a shell.
 * @throws UsageError if the line needs a shell
 */
export function parseCommandWords(line: string, what: string): readonly string[] {
  const read = parseShellCommands(line, new Map());
  if ("fault" in read) throw new UsageError(`${what}: ${quoteText(line)}: ${read.fault}`);
  const [only, ...more] = read.value;
  if (only === undefined) throw new UsageError(`${what} must have a command; got ${quoteText(line)}`);
  const unquoted = line.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./gs, "");
  const isPlain = more.length === 0 && only.next === "" && !/[<>]/.test(unquoted);
  if (!isPlain || only.words.some((word) => word.includes(UNKNOWN_VALUE)))
    throw new UsageError(
      `${what}: ${quoteText(line)} needs a shell, but commands run without one; write: sh -c ${quoteText(line)}`,
    );
  return only.words;
}
