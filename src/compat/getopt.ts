import { UsageError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";

/** The options of a tool: its short and long names, each mapped to one name. */
export interface GetoptSpec {
  tool: string;
  short: Readonly<Record<string, string>>;
  long: Readonly<Record<string, string>>;
  /** Names of options with a value. */
  valued: readonly string[];
}

interface GetoptResult {
  /** Each option with its value, in order. */
  options: readonly (readonly [name: string, value: string])[];
  /** The words from the first one that is not an option. */
  rest: readonly string[];
}

/**
 * Parses words like getopt_long, and stops at the first word that is not an option: `-nw5`, `--timeout=5`,
 * abbreviated long names.
 * @throws UsageError for an unknown option, and for a missing value
 */
export function parseGetopt(words: readonly string[], options: GetoptSpec): GetoptResult {
  const found: (readonly [string, string])[] = [];
  const left = [...words];
  for (let word = left[0]; word?.startsWith("-") && word !== "-"; word = left[0]) {
    left.shift();
    if (word === "--") break;
    if (word.startsWith("--")) found.push(parseLongOption(word, left, options));
    else found.push(...parseShortOptions(word, left, options));
  }
  return { options: found, rest: left };
}

function parseLongOption(word: string, left: string[], options: GetoptSpec): readonly [string, string] {
  const { tool, long, valued } = options;
  const [, typed = "", inline] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const meant = new Set(
    Object.keys(long)
      .filter((name) => name.startsWith(typed))
      .map((name) => long[name] ?? name),
  );
  const [only] = meant;
  const name = long[typed] ?? (meant.size === 1 ? only : undefined);
  if (name === undefined || typed === "") throw createUnknownOptionError(tool, `--${typed}`);
  const takes = valued.includes(name);
  if (!takes && inline !== undefined) throw new UsageError(`${tool}: --${typed} takes no value`);
  return [name, takes ? requireValue(tool, `--${typed}`, inline ?? left.shift()) : ""];
}

function parseShortOptions(word: string, left: string[], options: GetoptSpec): (readonly [string, string])[] {
  const { tool, short, valued } = options;
  const found: (readonly [string, string])[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const letter = word[at] ?? "";
    const name = short[letter];
    if (name === undefined) throw createUnknownOptionError(tool, `-${letter}`);
    if (!valued.includes(name)) found.push([name, ""]);
    else {
      const inline = word.slice(at + 1);
      found.push([name, requireValue(tool, `-${letter}`, inline === "" ? left.shift() : inline)]);
      break;
    }
  }
  return found;
}

function createUnknownOptionError(tool: string, option: string): UsageError {
  return new UsageError(`${tool}: unknown option ${quoteText(option)}`);
}

function requireValue(tool: string, option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${tool}: ${option} needs a value`);
  return value;
}
