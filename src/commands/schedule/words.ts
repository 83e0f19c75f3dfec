import { UsageError } from "../../base/errors.ts";
import { nameFault, quoted } from "../../base/text.ts";
import { parseLeases } from "../../fleet/lease-spec.ts";
import { shellCommands, UNKNOWN } from "../../fleet/shell-words.ts";

/**
 * A line as the words of one command, without a shell: quotes and backslashes mean what they mean to one.
 * @throws UsageError where it takes a shell to know what is meant
 */
export function wordsOf(what: string, line: string): readonly string[] {
  const read = shellCommands(line, new Map());
  if ("fault" in read) throw new UsageError(`${what}: ${quoted(line)}: ${read.fault}`);
  const [only, ...more] = read.value;
  if (only === undefined) throw new UsageError(`${what}: there is no command in ${quoted(line)}`);
  const isPlain = more.length === 0 && only.next === "" && !/[<>]/.test(unquoted(line));
  if (!isPlain || only.words.some((word) => word.includes(UNKNOWN)))
    throw new UsageError(
      `${what}: ${quoted(line)} takes a shell, and none is used; write: sh -c ${quoted(line)}`,
    );
  return only.words;
}

function unquoted(line: string): string {
  return line.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./gs, "");
}

/** Leases as `--lease` has them. Totals and names may have macros, which only hosts know. @throws UsageError */
export function checkLeases(leases: readonly string[]): readonly string[] {
  for (const lease of leases) {
    if (!/^[^=]+=[^:=]+(?::.+)?$/s.test(lease))
      throw new UsageError(`--lease: ${quoted(lease)} is not RESOURCE=COUNT[:TOTAL], such as db=2:10`);
  }
  const plain = leases.filter((lease) => !/[A-Z]/.test(lease));
  parseLeases(plain, { lookup: () => undefined, expand: (name) => name });
  return leases;
}

/** @throws UsageError */
export function checkName(what: string, name: string): string {
  const fault = nameFault(name);
  if (fault !== undefined) throw new UsageError(`${what} name ${quoted(name)} cannot be used: ${fault}`);
  return name;
}
