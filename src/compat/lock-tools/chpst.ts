import { UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { buildFileLock } from "../lock-tools.ts";
import type { LineTranslator } from "../translated-run.ts";

/** Matches letters of options without a value, and one option with its value, if any. @see chpst(8) of runit */
const OPTION = /^-([vVP012]*)(?:([uUbe/nlLmdopfct])(.*))?$/s;
const FAILURE = "111";

interface ChpstOptions {
  file: string | undefined;
  waits: boolean;
  /** Its other options, which stay with it. */
  others: readonly string[];
  command: readonly string[];
}

/** Translates a line of `chpst -l` or `-L`. The lock goes around its other effects. */
export const translateChpst: LineTranslator = (words, _variables, _files, program = "chpst") => {
  const { file, waits, others, command } = parseChpstOptions(words);
  if (file === undefined || command.length === 0)
    throw new UsageError("chpst: -l or -L, and a program are needed");
  const { lock, notes } = buildFileLock("chpst", file);
  return {
    options: ["--lock", lock, ...(waits ? ["--wait"] : []), "-E", FAILURE],
    command: others.length === 0 ? command : [program, ...others, ...command],
    notes,
    coversChildren: true,
  };
};

function parseChpstOptions(words: readonly string[]): ChpstOptions {
  let [file, waits]: [string | undefined, boolean] = [undefined, false];
  const others: string[] = [];
  const left = [...words];
  while (left[0]?.startsWith("-")) {
    const word = left.shift() ?? "";
    if (word === "--") break;
    const [, plain = "", letter, inline = ""] = OPTION.exec(word) ?? [];
    if (plain === "" && letter === undefined)
      throw new UsageError(`chpst: unknown option ${quoteText(word)}`);
    if (plain !== "") others.push(`-${plain}`);
    if (letter === undefined) continue;
    const value = inline === "" ? left.shift() : inline;
    if (value === undefined) throw new UsageError(`chpst: -${letter} needs a value`);
    if (letter === "l" || letter === "L") [file, waits] = [value, letter === "l"];
    else others.push(`-${letter}`, value);
  }
  return { file, waits, others, command: left };
}
