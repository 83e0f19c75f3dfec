import { UsageError } from "../../core/base/errors.ts";
import { quoteText } from "../../core/base/text.ts";

/** How a tool reads its words. */
export interface OptionSyntax {
  /** Its name, for messages. */
  tool: string;
  /**
   * Its options, each as in a manual: `-w --timeout --wait SECONDS`. An option has a value if a word in capitals ends
   * it. Its name is its first long spelling without the dashes, or else its letter.
   */
  options: readonly string[];
  /**
   * - `getopt` (default): letters may share a dash; long names follow two dashes and may be abbreviated.
   * - `go`: names follow one dash or two, and a switch may have a value, as in `-shell=false`.
   * - `perl`: names follow one dash, two, or a plus, may be abbreviated, and are case-insensitive.
   */
  style?: "getopt" | "go" | "perl";
  /** Options may also follow arguments, up to `--`. */
  isInterspersed?: true;
  /** Creates the error for a fault, in the tool's words. */
  createError?: (fault: OptionFault) => Error;
}

interface TypedOption {
  /** The whole word: `--time=5`. */
  word: string;
  /** The option in it: `--time`. */
  typed: string;
  /** The value in it, if any. */
  inline: string | undefined;
}

/** An option that the tool would refuse. */
export interface OptionFault extends TypedOption {
  kind: "unknown" | "ambiguous" | "no value" | "unwanted value";
  /** What it may stand for: the name of the option, or several spellings. */
  names: readonly string[];
}

/** An option with its value, which is empty for a switch; or an argument, which has no name. */
export interface ParsedWord {
  name: string | undefined;
  value: string;
  /** The option and its value, as written. */
  source: string;
}

interface KnownOption {
  name: string;
  hasValue: boolean;
}

const PREFIXES = { getopt: /^--?/, go: /^--?/, perl: /^(?:--|[-+])/ };

/** Parses the words of a tool one by one, so that the caller can stop at any. @throws the error of the first fault */
export function* parseToolWords(words: readonly string[], syntax: OptionSyntax): Generator<ParsedWord> {
  const { style = "getopt", isInterspersed } = syntax;
  const left = [...words];
  /** By spelling; without dashes, unless their number matters. */
  const known: ReadonlyMap<string, KnownOption> = new Map(syntax.options.flatMap(listOptionSpellings));
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const [prefix] = (word === "-" ? undefined : PREFIXES[style].exec(word)) ?? [];
    const isEnd = word === "--" || (prefix === undefined && !isInterspersed);
    if (prefix === undefined) yield { name: undefined, value: word, source: word };
    else if (!isEnd && style === "getopt" && prefix === "-") yield* parseLetters(word);
    else if (!isEnd) yield parseName(word, prefix);
    if (isEnd) yield* left.splice(0).map((value) => ({ name: undefined, value, source: value }));
  }

  function listOptionSpellings(text: string): [string, KnownOption][] {
    const spellings = text.split(" ").filter((word) => word.startsWith("-"));
    const main = spellings.find((one) => one.startsWith("--")) ?? spellings[0] ?? "";
    const option = { name: main.replace(/^--?/, ""), hasValue: / [A-Z]+$/.test(text) };
    return spellings.map((one) => [normalize(one), option]);
  }

  function normalize(typed: string): string {
    const name = style === "getopt" ? typed : typed.replace(PREFIXES[style], "");
    return style === "perl" ? name.toLowerCase() : name;
  }

  /** Parses the letters behind one dash, up to one with a value: `-nw5`. */
  function* parseLetters(word: string): Generator<ParsedWord> {
    for (let at = 1; at < word.length; at += 1) {
      const typed = `-${word[at]}`;
      const option = known.get(typed);
      const inline = option?.hasValue ? word.slice(at + 1) || undefined : undefined;
      yield build(option, { word, typed, inline });
      if (option?.hasValue) return;
    }
  }

  /** Parses a name, and its value if it has one: `--timeout=5`. */
  function parseName(word: string, prefix: string): ParsedWord {
    const [name = "", inline] = /^([^=]*)(?:=(.*))?$/s.exec(word.slice(prefix.length))?.slice(1) ?? [];
    const option = { word, typed: prefix + name, inline };
    const spellings = findSpellings(option.typed);
    const [meant, ...others] = new Set(spellings.map((one) => known.get(one)));
    if (others.length > 0) throw createError("ambiguous", option, spellings);
    return build(meant, option);
  }

  /** Finds the spellings that a word may stand for. */
  function findSpellings(typed: string): string[] {
    const name = normalize(typed);
    if (known.has(name)) return [name];
    return style === "go" ? [] : [...known.keys()].filter((one) => one.startsWith(name));
  }

  function build(one: KnownOption | undefined, option: TypedOption): ParsedWord {
    const { word, inline } = option;
    if (one === undefined) throw createError("unknown", option);
    const { name, hasValue } = one;
    if (!hasValue && inline !== undefined && style !== "go")
      throw createError("unwanted value", option, [name]);
    const value = inline ?? (hasValue ? left.shift() : "");
    if (value === undefined) throw createError("no value", option, [name]);
    return { name, value, source: hasValue && inline === undefined ? `${word} ${value}` : word };
  }

  function createError(kind: OptionFault["kind"], option: TypedOption, names: readonly string[] = []): Error {
    const { tool } = syntax;
    if (syntax.createError !== undefined) return syntax.createError({ kind, names, ...option });
    const { word, typed } = option;
    if (kind === "no value")
      return new UsageError(`${tool}: ${style === "go" ? typed.replace(/^--/, "-") : typed} needs a value`);
    if (kind === "unwanted value") return new UsageError(`${tool}: ${typed} takes no value`);
    return new UsageError(`${tool}: unknown option ${quoteText(style === "go" ? word : typed)}`);
  }
}
