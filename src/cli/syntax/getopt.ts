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
  const parser = new OptionParser(words, syntax);
  for (let word = parser.left.shift(); word !== undefined; word = parser.left.shift()) {
    const [prefix] = (word === "-" ? undefined : PREFIXES[style].exec(word)) ?? [];
    const isEnd = word === "--" || (prefix === undefined && !isInterspersed);
    if (prefix === undefined) yield { name: undefined, value: word, source: word };
    else if (!isEnd && style === "getopt" && prefix === "-") yield* parser.parseLetters(word);
    else if (!isEnd) yield parser.parseName(word, prefix);
    if (isEnd) yield* parser.left.splice(0).map((value) => ({ name: undefined, value, source: value }));
  }
}

class OptionParser {
  readonly left: string[];
  readonly #syntax: OptionSyntax;
  /** By spelling; without dashes, unless their number matters. */
  readonly #known: ReadonlyMap<string, KnownOption>;

  constructor(words: readonly string[], syntax: OptionSyntax) {
    this.left = [...words];
    this.#syntax = syntax;
    this.#known = new Map(syntax.options.flatMap((text) => this.#listSpellings(text)));
  }

  #listSpellings(text: string): [string, KnownOption][] {
    const spellings = text.split(" ").filter((word) => word.startsWith("-"));
    const main = spellings.find((one) => one.startsWith("--")) ?? spellings[0] ?? "";
    const option = { name: main.replace(/^--?/, ""), hasValue: / [A-Z]+$/.test(text) };
    return spellings.map((one) => [this.#normalize(one), option]);
  }

  #normalize(typed: string): string {
    const { style = "getopt" } = this.#syntax;
    const name = style === "getopt" ? typed : typed.replace(PREFIXES[style], "");
    return style === "perl" ? name.toLowerCase() : name;
  }

  /** Parses the letters behind one dash, up to one with a value: `-nw5`. */
  *parseLetters(word: string): Generator<ParsedWord> {
    for (let at = 1; at < word.length; at += 1) {
      const typed = `-${word[at]}`;
      const option = this.#known.get(typed);
      const inline = option?.hasValue ? word.slice(at + 1) || undefined : undefined;
      yield this.#build(option, { word, typed, inline });
      if (option?.hasValue) return;
    }
  }

  /** Parses a name, and its value if it has one: `--timeout=5`. */
  parseName(word: string, prefix: string): ParsedWord {
    const [name = "", inline] = /^([^=]*)(?:=(.*))?$/s.exec(word.slice(prefix.length))?.slice(1) ?? [];
    const option = { word, typed: prefix + name, inline };
    const spellings = this.#findSpellings(option.typed);
    const [meant, ...others] = new Set(spellings.map((one) => this.#known.get(one)));
    if (others.length > 0) throw this.#createError("ambiguous", option, spellings);
    return this.#build(meant, option);
  }

  /** Finds the spellings that a word may stand for. */
  #findSpellings(typed: string): string[] {
    const name = this.#normalize(typed);
    if (this.#known.has(name)) return [name];
    return this.#syntax.style === "go" ? [] : [...this.#known.keys()].filter((one) => one.startsWith(name));
  }

  #build(known: KnownOption | undefined, option: TypedOption): ParsedWord {
    const { word, inline } = option;
    if (known === undefined) throw this.#createError("unknown", option);
    const { name, hasValue } = known;
    if (!hasValue && inline !== undefined && this.#syntax.style !== "go")
      throw this.#createError("unwanted value", option, [name]);
    const value = inline ?? (hasValue ? this.left.shift() : "");
    if (value === undefined) throw this.#createError("no value", option, [name]);
    return { name, value, source: hasValue && inline === undefined ? `${word} ${value}` : word };
  }

  #createError(kind: OptionFault["kind"], option: TypedOption, names: readonly string[] = []): Error {
    const { tool, style, createError } = this.#syntax;
    if (createError !== undefined) return createError({ kind, names, ...option });
    const { word, typed } = option;
    if (kind === "no value")
      return new UsageError(`${tool}: ${style === "go" ? typed.replace(/^--/, "-") : typed} needs a value`);
    if (kind === "unwanted value") return new UsageError(`${tool}: ${typed} takes no value`);
    return new UsageError(`${tool}: unknown option ${quoteText(style === "go" ? word : typed)}`);
  }
}
