import type { SettingKey } from "../../config/settings.ts";
import { listSpellings } from "../command-line/list-flags.ts";
import type { Argument, Flag, NameKind } from "../spec.ts";

/** The part of the line before the word at the cursor. */
export interface PartialLine {
  /** Words that are neither flags nor their values. */
  given: readonly string[];
  /** Flags and their values; true for switches. */
  flags: readonly (readonly [Flag, string | true])[];
  /** The flag whose value comes next. */
  open: Flag | undefined;
  /** Whether `--` was typed: no flags follow. */
  isBehind: boolean;
}

/** Parses an incomplete line as `parseCall` parses a complete one, but reports no errors. */
export function parsePartialLine(known: readonly Flag[], words: readonly string[]): PartialLine {
  const given: string[] = [];
  const flags: [Flag, string | true][] = [];
  const end = words.indexOf("--");
  const left = [...(end < 0 ? words : words.slice(0, end))];
  let open: Flag | undefined;
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!word.startsWith("-") || word === "-") given.push(word);
    for (const [flag, inline] of parseFlags(known, word)) {
      const value = inline ?? (takesNextWord(flag) ? left.shift() : true);
      if (value === undefined) open = flag;
      else flags.push([flag, value]);
    }
  }
  if (end >= 0) given.push(...words.slice(end + 1));
  return { given, flags, open: end < 0 ? open : undefined, isBehind: end >= 0 };
}

/** Parses `--flag`, `--flag=VALUE`, `-f`, `-fVALUE` and `-abc`. Returns an empty list for other words. */
function parseFlags(known: readonly Flag[], word: string): [Flag, string | undefined][] {
  const findFlag = (name: string) => known.find((flag) => listSpellings(flag).includes(name));
  if (word.startsWith("--")) {
    const [name = "", ...rest] = word.split("=");
    const flag = findFlag(name);
    return flag === undefined ? [] : [[flag, rest.length === 0 ? undefined : rest.join("=")]];
  }
  if (!word.startsWith("-") || word === "-") return [];
  const flag = findFlag(word.slice(0, 2));
  const rest = word.slice(2);
  if (flag === undefined) return [];
  if (takesNextWord(flag) || rest === "") return [[flag, rest === "" ? undefined : rest]];
  return [[flag, undefined], ...parseFlags(known, `-${rest}`)];
}

/** The possible values of a flag or an argument. */
export interface CompletionValues {
  choices?: readonly string[] | undefined;
  /** Kinds of names in etcd. */
  names?: readonly NameKind[] | undefined;
  isFile?: boolean;
  /** Text that follows the name, as in `--lease db=2`. */
  suffix?: "=";
}

/** Settings whose values are names in etcd. */
const NAMING: Partial<Record<SettingKey, NameKind>> = { group: "group", host: "host" };

export function getArgumentValues({ name, choices, names }: Argument): CompletionValues {
  const isFile = choices === undefined && ["FILE", "COMMAND", "ARG"].includes(name);
  return { choices, names: toList(names), isFile };
}

export function getFlagValues({ value = "", setting, choices, names }: Flag): CompletionValues {
  const isChoice = setting !== undefined && /^[a-z]+(\|[a-z]+)+$/.test(value);
  return {
    choices: isChoice ? value.split("|") : choices,
    names: toList(names ?? NAMING[setting as SettingKey]),
    isFile: value === "FILE",
    ...(setting === undefined && value.includes("=") && { suffix: "=" }),
  };
}

/** Whether the value of a flag may be the next word. */
function takesNextWord({ value, isOptional }: Flag): boolean {
  return value !== undefined && !isOptional;
}

function toList(names: NameKind | readonly NameKind[] | undefined): readonly NameKind[] | undefined {
  return typeof names === "string" ? [names] : names;
}
