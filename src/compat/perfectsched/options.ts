import { quoted } from "../../base/text.ts";

/** An option with a value, as Ruby's OptionParser takes them: every one of this tool has one. */
export interface Option {
  short: string;
  long: string;
  isInteger?: true;
  isRepeatable?: true;
}

/** What stood on the line. */
export interface Parsed {
  /** By long name, in the order given. */
  values: ReadonlyMap<string, readonly string[]>;
  /** What is no option. */
  words: readonly string[];
  /** `--help` or `--version`: the last thing that counts. */
  shows?: "help" | "version";
}

/** A line that cannot be read, in OptionParser's words. */
export class LineError extends Error {}

/**
 * Reads a line as OptionParser does: options stand anywhere, `--` ends them, a value may be joined to its option, and a long
 * name may be shortened.
 * @throws LineError
 */
export function parseOptions(argv: readonly string[], options: readonly Option[]): Parsed {
  const values = new Map<string, string[]>();
  const words: string[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") return { values, words: [...words, ...rest] };
    if (word === "-" || !word.startsWith("-")) {
      words.push(word);
      continue;
    }
    const { name, inline } = word.startsWith("--") ? long(word, options) : short(word, options);
    if (name === "help" || name === "version") return { values, words, shows: name };
    const option = options.find((one) => one.long === name);
    if (option === undefined) throw new LineError(`invalid option: ${word}`);
    const value = inline ?? rest.shift();
    if (value === undefined) throw new LineError(`missing argument: ${word}`);
    const shown = inline === undefined ? `${word} ${value}` : word;
    const text = option.isInteger ? String(integerOf(value, shown)) : value;
    values.set(option.long, [...(values.get(option.long) ?? []), text]);
  }
  return { values, words };
}

/** The long name of what a word means, if anything, and the value that is joined to it. */
interface Found {
  name: string | undefined;
  inline: string | undefined;
}

function short(word: string, options: readonly Option[]): Found {
  const [letter, inline] = [word.slice(1, 2), word.length > 2 ? word.slice(2) : undefined];
  const own = letter === "h" ? "help" : letter === "v" ? "version" : undefined;
  return { name: own ?? options.find((one) => one.short === letter)?.long, inline };
}

/** @throws LineError */
function long(word: string, options: readonly Option[]): Found {
  const at = word.indexOf("=");
  const given = word.slice(2, at < 0 ? undefined : at);
  const names = ["help", "version", ...options.map((one) => one.long)];
  const meant = names.includes(given) ? [given] : names.filter((name) => name.startsWith(given));
  if (meant.length > 1) throw new LineError(`ambiguous option: ${word}`);
  return { name: meant[0], inline: at < 0 ? undefined : word.slice(at + 1) };
}

const INTEGER =
  /^[-+]?(?:0x[\da-f]+(?:_[\da-f]+)*|0b[01]+(?:_[01]+)*|0o?[0-7]+(?:_[0-7]+)*|0|[1-9]\d*(?:_\d+)*)$/i;

/** As Ruby reads whole numbers: also `0x1e`, `0b11`, `017`, `1_000`. @throws LineError */
function integerOf(text: string, shown: string): number {
  if (!INTEGER.test(text)) throw new LineError(`invalid argument: ${shown}`);
  const digits = text.replace(/^[-+]/, "").replaceAll("_", "");
  const value = Number(digits.replace(/^0o?(?=[0-7])/i, "0o"));
  if (!Number.isSafeInteger(value)) throw new LineError(`invalid argument: ${quoted(shown)} is too large`);
  return text.startsWith("-") ? -value : value;
}
