import { UsageError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";

/** The options of a program written in Go. */
export interface GoFlagSpec {
  tool: string;
  /** By name without dashes; true: a value follows. */
  options: Readonly<Record<string, boolean>>;
  /** Options may follow other words, up to `--`. */
  isInterspersed?: true;
}

export interface GoFlagResult {
  options: ReadonlyMap<string, string>;
  rest: readonly string[];
}

/**
 * Parses words like Go's flag packages: `-name value`, `--name=value`; a switch may have `=true` or `=false`.
 * @throws UsageError for an unknown option, and for a missing value
 */
export function parseGoFlags(
  words: readonly string[],
  { tool, options, isInterspersed }: GoFlagSpec,
): GoFlagResult {
  const found = new Map<string, string>();
  const rest: string[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const isOption = word.startsWith("-") && word !== "-";
    if (word === "--" || (!isOption && isInterspersed !== true)) {
      rest.push(...(word === "--" ? [] : [word]), ...left);
      break;
    }
    if (!isOption) rest.push(word);
    else {
      const [, name = "", inline] = /^--?([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
      const takes = Object.hasOwn(options, name) ? options[name] : undefined;
      if (takes === undefined) throw new UsageError(`${tool}: unknown option ${quoteText(word)}`);
      const value = inline ?? (takes ? left.shift() : "true");
      if (value === undefined) throw new UsageError(`${tool}: -${name} needs a value`);
      found.set(name, value);
    }
  }
  return { options: found, rest };
}

/** Whether a switch is on. @throws UsageError if its value is neither true nor false */
export function isGoFlagOn({ options }: GoFlagResult, name: string, standard = false): boolean {
  const value = options.get(name);
  if (value === undefined) return standard;
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  if (/^(0|f|F|false|FALSE|False)$/.test(value)) return false;
  throw new UsageError(`-${name}: ${quoteText(value)} is neither true nor false`);
}
