import type { Known } from "./flags.ts";

/** What stands on the line before the word at the cursor. */
export interface Line {
  /** Words that are neither flags nor their values. */
  given: readonly string[];
  /** Flags with the values they were given; true for those that take none. */
  flags: readonly (readonly [Known, string | true])[];
  /** The flag whose value comes next. */
  open: Known | undefined;
  /** Whether `--` was typed: what follows is no flag. */
  isBehind: boolean;
}

/** Reads a line as `parseCall` does, but of one that is not finished, and without complaints. */
export function readLine(known: readonly Known[], words: readonly string[]): Line {
  const given: string[] = [];
  const flags: [Known, string | true][] = [];
  const end = words.indexOf("--");
  const left = [...(end < 0 ? words : words.slice(0, end))];
  let open: Known | undefined;
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!word.startsWith("-") || word === "-") given.push(word);
    for (const [flag, inline] of flagsIn(known, word)) {
      const value = inline ?? (flag.takesValue ? left.shift() : true);
      if (value === undefined) open = flag;
      else flags.push([flag, value]);
    }
  }
  if (end >= 0) given.push(...words.slice(end + 1));
  return { given, flags, open: end < 0 ? open : undefined, isBehind: end >= 0 };
}

/** `--flag`, `--flag=VALUE`, `-f`, `-fVALUE`, `-abc`; a word that is no flag has none. */
function flagsIn(known: readonly Known[], word: string): [Known, string | undefined][] {
  const named = (name: string) => known.find(({ names }) => names.includes(name));
  if (word.startsWith("--")) {
    const [name = "", ...rest] = word.split("=");
    const flag = named(name);
    return flag === undefined ? [] : [[flag, rest.length === 0 ? undefined : rest.join("=")]];
  }
  if (!word.startsWith("-") || word === "-") return [];
  const flag = named(word.slice(0, 2));
  const rest = word.slice(2);
  if (flag === undefined) return [];
  if (flag.takesValue || rest === "") return [[flag, rest === "" ? undefined : rest]];
  return [[flag, undefined], ...flagsIn(known, `-${rest}`)];
}
