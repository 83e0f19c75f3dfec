import { UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { type LeaseSpec, parseLeases } from "../../fleet/lease-spec.ts";
import { parseShellCommands, UNKNOWN } from "../../syntax/shell-parser.ts";

/**
 * Splits a line into the words of one command, without a shell. Quotes and backslashes mean what they mean in a shell.
 * @throws UsageError if the line needs a shell
 */
export function parseCommandWords(what: string, line: string): readonly string[] {
  const read = parseShellCommands(line, new Map());
  if ("fault" in read) throw new UsageError(`${what}: ${quoteText(line)}: ${read.fault}`);
  const [only, ...more] = read.value;
  if (only === undefined) throw new UsageError(`${what} must have a command; got ${quoteText(line)}`);
  const isPlain = more.length === 0 && only.next === "" && !/[<>]/.test(removeQuoted(line));
  if (!isPlain || only.words.some((word) => word.includes(UNKNOWN)))
    throw new UsageError(
      `${what}: ${quoteText(line)} needs a shell, but commands run without one; write: sh -c ${quoteText(line)}`,
    );
  return only.words;
}

function removeQuoted(line: string): string {
  return line.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./gs, "");
}

/**
 * Checks leases in the form of `--lease`. Totals and names may contain macros, which only hosts can evaluate.
 * @throws UsageError
 */
export function checkLeases(leases: readonly string[]): readonly string[] {
  for (const lease of leases) {
    if (!/^[^=]+=[^:=]+(?::.+)?$/s.test(lease))
      throw new UsageError(
        `--lease must be RESOURCE=COUNT[:TOTAL], such as db=2:10; got ${quoteText(lease)}`,
      );
  }
  parsePlainLeases(leases);
  return leases;
}

/** Parses the leases whose amounts contain no macro. Macros in names stay. @throws UsageError */
export function parsePlainLeases(leases: readonly string[]): LeaseSpec[] {
  const plain = leases.filter((lease) => !/=.*[A-Z]/s.test(lease));
  return parseLeases(plain, {
    lookup: () => undefined,
    expand: (name) => name,
    findTemplate: () => undefined,
  });
}

/** Lists a note about a command whose program is named by a relative path. */
export function listProgramNotes(command: readonly string[] | undefined): string[] {
  const [file = ""] = command ?? [];
  return file.includes("/") && !file.startsWith("/")
    ? [
        `${quoteText(file)} is a path in the working folder of the worker that runs it; write an absolute path`,
      ]
    : [];
}
