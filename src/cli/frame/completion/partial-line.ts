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
  const reader = new BashLineParser(breaks);
  for (const char of line) reader.take(char);
  return reader.end();
}

class BashLineParser {
  readonly #breaks: string;
  readonly #words: string[] = [];
  #word: string | undefined;
  #quote: BashLine["quote"] = "";
  #isEscaped = false;
  #isTarget = false;
  #isExpanded = false;
  /** Length of the part of the word that bash keeps. */
  #kept = 0;
  /** The same, before the open quote. It is restored when the quote closes. */
  #keptBefore = 0;

  constructor(breaks: string) {
    this.#breaks = breaks;
  }

  take(char: string): void {
    if (this.#isEscaped) this.#addEscaped(char);
    else if (this.#quote === "'") this.#addQuoted(char);
    else if (char === "\\") this.#isEscaped = true;
    else if (this.#quote === '"') this.#addQuoted(char);
    else if (char === "'" || char === '"') this.#open(char);
    else if (/[\s<>|&;]/.test(char)) this.#endWord(char);
    else this.#addPlain(char);
  }

  end(): BashLine {
    const word = this.#word ?? "";
    const kept = [...word].slice(0, this.#kept).join("");
    const isForBash = this.#isTarget || this.#isExpanded;
    return { words: [...this.#words, word], quote: this.#quote, kept, isForBash };
  }

  #add(char: string): void {
    if (/[$`]/.test(char) && this.#quote !== "'" && !this.#isEscaped) this.#isExpanded = true;
    this.#word = (this.#word ?? "") + char;
  }

  #getLength(): number {
    return [...(this.#word ?? "")].length;
  }

  #addEscaped(char: string): void {
    if (this.#quote === '"' && !/["\\$`\n]/.test(char)) this.#add("\\");
    if (char !== "\n") this.#add(char); // otherwise the line continues
    this.#isEscaped = false;
  }

  #addQuoted(char: string): void {
    if (char !== this.#quote) this.#add(char);
    else {
      this.#quote = "";
      this.#kept = this.#keptBefore;
    }
  }

  #open(quote: "'" | '"'): void {
    this.#add("");
    this.#quote = quote;
    this.#keptBefore = this.#kept;
    this.#kept = this.#getLength();
  }

  #addPlain(char: string): void {
    if (char === "@" && this.#breaks.includes(char)) this.#kept = this.#getLength(); // bash replaces the `@` too
    this.#add(char);
    if (char !== "@" && this.#breaks.includes(char)) this.#kept = this.#getLength();
  }

  #endWord(char: string): void {
    const isDescriptor = /[<>]/.test(char) && /^\d+$/.test(this.#word ?? ""); // as in `2>`
    if (this.#word !== undefined && !this.#isTarget && !isDescriptor) this.#words.push(this.#word);
    if (/[<>]/.test(char)) this.#isTarget = true;
    else if (this.#word !== undefined || /[|;]/.test(char)) this.#isTarget = false;
    this.#word = undefined;
    this.#isExpanded = false;
    this.#kept = 0;
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
