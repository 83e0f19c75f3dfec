import { UsageError } from "../base/errors.ts";
import { quoted } from "../base/text.ts";

/** Options of a program in Go. */
export interface GoOptions {
  tool: string;
  /** By name without dashes; true: a value follows. */
  options: Readonly<Record<string, boolean>>;
  /** Options may stand behind other words, up to `--`. */
  isInterspersed?: true;
}

export interface GoGiven {
  options: ReadonlyMap<string, string>;
  rest: readonly string[];
}

/**
 * Words as Go's flag packages take them apart: `-name value`, `--name=value`; a switch may be given `=true` or `=false`.
 * @throws UsageError for an option that is none of the tool's, and for a missing value
 */
export function goFlags(words: readonly string[], { tool, options, isInterspersed }: GoOptions): GoGiven {
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
      if (takes === undefined) throw new UsageError(`${tool}: ${quoted(word)} is none of its options`);
      const value = inline ?? (takes ? left.shift() : "true");
      if (value === undefined) throw new UsageError(`${tool}: -${name} needs a value, none is given`);
      found.set(name, value);
    }
  }
  return { options: found, rest };
}

/** Whether a switch is on. @throws UsageError where its value is neither yes nor no */
export function isOn({ options }: GoGiven, name: string, standard = false): boolean {
  const value = options.get(name);
  if (value === undefined) return standard;
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  if (/^(0|f|F|false|FALSE|False)$/.test(value)) return false;
  throw new UsageError(`-${name}: ${quoted(value)} is neither true nor false`);
}
