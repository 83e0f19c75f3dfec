import { quoteText } from "../../base/text.ts";

/** An option of Ruby's OptionParser. All options of this tool have a value. */
export interface RubyOption {
  short: string;
  long: string;
  isInteger?: true;
  isRepeatable?: true;
}

/** The parsed words of a line. */
interface ParsedRubyOptions {
  /** By long name, in the order given. */
  values: ReadonlyMap<string, readonly string[]>;
  /** Words that are not options. */
  words: readonly string[];
  /** `--help` or `--version`. Later words are ignored. */
  shows?: "help" | "version";
}

/** An invalid line. The message is that of OptionParser. */
export class LineError extends Error {}

/**
 * Parses a line like OptionParser: options may be at any position up to `--`, a value may be joined to its option,
 * and a long name may be abbreviated.
 * @throws LineError
 */
export function parseRubyOptions(argv: readonly string[], options: readonly RubyOption[]): ParsedRubyOptions {
  const values = new Map<string, string[]>();
  const words: string[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") return { values, words: [...words, ...rest] };
    if (word === "-" || !word.startsWith("-")) {
      words.push(word);
      continue;
    }
    const { name, inline } = word.startsWith("--")
      ? matchLongOption(word, options)
      : matchShortOption(word, options);
    if (name === "help" || name === "version") return { values, words, shows: name };
    const option = options.find((one) => one.long === name);
    if (option === undefined) throw new LineError(`invalid option: ${word}`);
    const value = inline ?? rest.shift();
    if (value === undefined) throw new LineError(`missing argument: ${word}`);
    const shown = inline === undefined ? `${word} ${value}` : word;
    const text = option.isInteger ? String(parseRubyInteger(value, shown)) : value;
    values.set(option.long, [...(values.get(option.long) ?? []), text]);
  }
  return { values, words };
}

/** The long name that a word matches, if any, and the value joined to it. */
interface MatchedOption {
  name: string | undefined;
  inline: string | undefined;
}

function matchShortOption(word: string, options: readonly RubyOption[]): MatchedOption {
  const [letter, inline] = [word.slice(1, 2), word.length > 2 ? word.slice(2) : undefined];
  const own = letter === "h" ? "help" : letter === "v" ? "version" : undefined;
  return { name: own ?? options.find((one) => one.short === letter)?.long, inline };
}

/** @throws LineError */
function matchLongOption(word: string, options: readonly RubyOption[]): MatchedOption {
  const at = word.indexOf("=");
  const given = word.slice(2, at < 0 ? undefined : at);
  const names = ["help", "version", ...options.map((one) => one.long)];
  const meant = names.includes(given) ? [given] : names.filter((name) => name.startsWith(given));
  if (meant.length > 1) throw new LineError(`ambiguous option: ${word}`);
  return { name: meant[0], inline: at < 0 ? undefined : word.slice(at + 1) };
}

const INTEGER =
  /^[-+]?(?:0x[\da-f]+(?:_[\da-f]+)*|0b[01]+(?:_[01]+)*|0o?[0-7]+(?:_[0-7]+)*|0|[1-9]\d*(?:_\d+)*)$/i;

/** Parses an integer like Ruby: also `0x1e`, `0b11`, `017`, `1_000`. @throws LineError */
function parseRubyInteger(text: string, shown: string): number {
  if (!INTEGER.test(text)) throw new LineError(`invalid argument: ${shown}`);
  const digits = text.replace(/^[-+]/, "").replaceAll("_", "");
  const value = Number(digits.replace(/^0o?(?=[0-7])/i, "0o"));
  if (!Number.isSafeInteger(value)) throw new LineError(`invalid argument: ${quoteText(shown)} is too large`);
  return text.startsWith("-") ? -value : value;
}
