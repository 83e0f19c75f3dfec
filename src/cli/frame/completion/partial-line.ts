import type { SettingKey } from "../../../core/config/settings.ts";
import { type Argument, type Flag, listSpellings, type NameKind } from "../command.ts";

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
const NAMING_SETTINGS: Partial<Record<SettingKey, NameKind>> = { group: "group", host: "host" };

export function getArgumentValues({ name, choices, names }: Argument): CompletionValues {
  const isFile = choices === undefined && ["FILE", "COMMAND", "ARG"].includes(name);
  return { choices, names: names && [names].flat(), isFile };
}

export function getFlagValues({ value = "", setting, choices, names }: Flag): CompletionValues {
  const named = names ?? NAMING_SETTINGS[setting as SettingKey];
  return {
    choices,
    names: named && [named].flat(),
    isFile: value === "FILE",
    ...(setting === undefined && value.includes("=") && { suffix: "=" }),
  };
}

/** Whether the value of a flag may be the next word. */
function takesNextWord({ value, isOptional }: Flag): boolean {
  return value !== undefined && !isOptional;
}

/**
 * A command line as bash passes it to a completion: with quotes, and split at colons, equals signs and `@` too, which
 * names and flags may contain. It is parsed as bash parses it, but nothing is expanded or executed.
 */
interface BashLine {
  /** Words up to the cursor, without quotes. The last one may be incomplete or empty. */
  words: readonly string[];
  /** The quote that is open at the cursor. */
  quote: "" | "'" | '"';
  /** The start of the last word that bash keeps. Bash replaces only the part after it. */
  kept: string;
  /** Whether bash completes the last word itself: a redirection target, or a word that bash will expand. */
  isForBash: boolean;
}

/**
 * Parses a line of bash.
 * @param line  the line up to the cursor
 * @param breaks  bash's COMP_WORDBREAKS
 */
export function parseBashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  let current: string | undefined;
  let quote: BashLine["quote"] = "";
  let isEscaped = false;
  let isTarget = false;
  let isExpanded = false;
  /** Length of the part of the word that bash keeps. */
  let kept = 0;
  /** The same, before the open quote. It is restored when the quote closes. */
  let keptBefore = 0;

  for (const char of line) take(char);
  const word = current ?? "";
  const keptText = [...word].slice(0, kept).join("");
  const isForBash = isTarget || isExpanded;
  return { words: [...words, word], quote, kept: keptText, isForBash };

  function take(char: string): void {
    if (isEscaped) addEscaped(char);
    else if (quote === "'") addQuoted(char);
    else if (char === "\\") isEscaped = true;
    else if (quote === '"') addQuoted(char);
    else if (char === "'" || char === '"') open(char);
    else if (/[\s<>|&;]/.test(char)) endWord(char);
    else addPlain(char);
  }

  function add(char: string): void {
    if (/[$`]/.test(char) && quote !== "'" && !isEscaped) isExpanded = true;
    current = (current ?? "") + char;
  }

  function getLength(): number {
    return [...(current ?? "")].length;
  }

  function addEscaped(char: string): void {
    if (quote === '"' && !/["\\$`\n]/.test(char)) add("\\");
    if (char !== "\n") add(char); // otherwise the line continues
    isEscaped = false;
  }

  function addQuoted(char: string): void {
    if (char !== quote) add(char);
    else {
      quote = "";
      kept = keptBefore;
    }
  }

  function open(mark: "'" | '"'): void {
    add("");
    quote = mark;
    keptBefore = kept;
    kept = getLength();
  }

  function addPlain(char: string): void {
    if (char === "@" && breaks.includes(char)) kept = getLength(); // bash replaces the `@` too
    add(char);
    if (char !== "@" && breaks.includes(char)) kept = getLength();
  }

  function endWord(char: string): void {
    const isDescriptor = /[<>]/.test(char) && /^\d+$/.test(current ?? ""); // as in `2>`
    if (current !== undefined && !isTarget && !isDescriptor) words.push(current);
    if (/[<>]/.test(char)) isTarget = true;
    else if (current !== undefined || /[|;]/.test(char)) isTarget = false;
    current = undefined;
    isExpanded = false;
    kept = 0;
  }
}

/** Formats a word as the text after the part that bash keeps, in the open quotes. Bash closes the quotes itself. */
export function formatBashWord(word: string, { quote, kept }: Pick<BashLine, "quote" | "kept">): string {
  const rest = word.slice(kept.length);
  if (quote === "'") return rest.replaceAll("'", "'\\''");
  // In double quotes, `!` recalls an older line unless the quotes are closed around it.
  if (quote === '"') return rest.replace(/["\\$`]/g, "\\$&").replaceAll("!", '"\\!"');
  return rest.replace(/[^\w./:=@%+,\u0080-\u{10ffff}-]/gu, "\\$&");
}
