import { UsageError } from "../base/errors.ts";
import { quoted } from "../base/text.ts";

/** Options of a tool, by the names that it takes: to one name, and whether a value follows. */
export interface Options {
  tool: string;
  short: Readonly<Record<string, string>>;
  long: Readonly<Record<string, string>>;
  /** Names of options with a value. */
  valued: readonly string[];
}

export interface Given {
  /** Each option with its value, in their order. */
  options: readonly (readonly [name: string, value: string])[];
  /** From the first word that is no option. */
  rest: readonly string[];
}

/**
 * Words as getopt_long takes them apart when it stops at the first word that is no option: `-nw5`, `--timeout=5`, long names
 * cut short.
 * @throws UsageError for an option that is none of the tool's, and for a missing value
 */
export function getopt(words: readonly string[], options: Options): Given {
  const found: (readonly [string, string])[] = [];
  const left = [...words];
  for (let word = left[0]; word?.startsWith("-") && word !== "-"; word = left[0]) {
    left.shift();
    if (word === "--") break;
    if (word.startsWith("--")) found.push(longOption(word, left, options));
    else found.push(...shortOptions(word, left, options));
  }
  return { options: found, rest: left };
}

function longOption(word: string, left: string[], options: Options): readonly [string, string] {
  const { tool, long, valued } = options;
  const [, typed = "", inline] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const meant = new Set(
    Object.keys(long)
      .filter((name) => name.startsWith(typed))
      .map((name) => long[name] ?? name),
  );
  const [only] = meant;
  const name = long[typed] ?? (meant.size === 1 ? only : undefined);
  if (name === undefined || typed === "") throw unknown(tool, `--${typed}`);
  const takes = valued.includes(name);
  if (!takes && inline !== undefined) throw new UsageError(`${tool}: --${typed} takes no value`);
  return [name, takes ? needed(tool, `--${typed}`, inline ?? left.shift()) : ""];
}

function shortOptions(word: string, left: string[], options: Options): (readonly [string, string])[] {
  const { tool, short, valued } = options;
  const found: (readonly [string, string])[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const letter = word[at] ?? "";
    const name = short[letter];
    if (name === undefined) throw unknown(tool, `-${letter}`);
    if (!valued.includes(name)) found.push([name, ""]);
    else {
      const inline = word.slice(at + 1);
      found.push([name, needed(tool, `-${letter}`, inline === "" ? left.shift() : inline)]);
      break;
    }
  }
  return found;
}

function unknown(tool: string, option: string): UsageError {
  return new UsageError(`${tool}: ${quoted(option)} is none of its options`);
}

function needed(tool: string, option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${tool}: ${option} needs a value, none is given`);
  return value;
}
