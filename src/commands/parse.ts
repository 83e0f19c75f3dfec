import { UsageError } from "../base/errors.ts";
import { nearest, quoted } from "../base/text.ts";
import { flagOf, type SettingKey, settingOf } from "../config/settings.ts";
import { type Call, COMMON, type Command, type Flag } from "./spec.ts";

/** A flag as the parser sees it, whether it is a command's own or a setting's. */
interface Known {
  name: string;
  setting?: SettingKey;
  takesValue: boolean;
  isOptional: boolean;
  isRepeatable: boolean;
  choices?: readonly string[] | undefined;
}

type Values = Record<string, string | true | string[]>;

/**
 * A command line by its command's declaration. `--flag VALUE`, `--flag=VALUE`, `-f VALUE`, `-fVALUE`, `-abc`; what
 * stands after `--` is no flag: the command to run, or arguments. Flags may stand before and after arguments.
 * @throws UsageError that names what was received and what was probably meant
 */
export function parseCall(spec: Command, argv: readonly string[]): Call {
  if (spec.takesWords) return wordsCall(argv);
  const table = flagTable(spec);
  const flags: Values = {};
  const settings: Values = {};
  const args: string[] = [];
  let verbosity = 0;
  const end = argv.indexOf("--");
  const words = [...(end < 0 ? argv : argv.slice(0, end))];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!word.startsWith("-") || word === "-") {
      args.push(word);
      continue;
    }
    const [known, inline] = recognised(spec, table, word, words);
    const value = flagValue(known, inline, words);
    if (known.name === "verbose") verbosity += 1;
    else if (known.name === "quiet")
      verbosity = Number.NEGATIVE_INFINITY; // whatever else is said
    else if (known.setting !== undefined) keep(settings, known.setting, settingValue(known, value), known);
    else keep(known.name === "config" ? settings : flags, known.name, value, known);
  }
  const behind = end < 0 ? [] : argv.slice(end + 1);
  const command = spec.takesCommand ? behind : [];
  if (!spec.takesCommand) args.push(...behind); // names may begin with a dash
  const isHelp = flags.help !== undefined;
  if (!isHelp) checkArguments(spec, args, command);
  return { flags, settings: settings as Call["settings"], args, command, verbosity: Math.max(-1, verbosity) };
}

/** `--help` alone is ours; anything else belongs to the tool whose words these are. */
function wordsCall(argv: readonly string[]): Call {
  const isHelp = argv.length === 1 && argv[0] === "--help";
  return { flags: isHelp ? { help: true } : {}, settings: {}, args: argv, command: [], verbosity: 0 };
}

function flagTable(spec: Command): Map<string, Known> {
  const table = new Map<string, Known>();
  for (const flag of [...(spec.flags ?? []), ...COMMON]) {
    for (const name of [`--${flag.name}`, ...(flag.aliases ?? []).map((alias) => `--${alias}`)])
      table.set(name, ownFlag(flag));
    if (flag.short !== undefined) table.set(`-${flag.short}`, ownFlag(flag));
  }
  for (const key of spec.settings ?? []) {
    const known = settingFlag(key);
    table.set(`--${known.name}`, known);
    const { short } = settingOf(key);
    if (short !== undefined) table.set(`-${short}`, known);
  }
  return table;
}

function ownFlag({ name, value, isOptional, isRepeatable, choices }: Flag): Known {
  return {
    name,
    choices,
    takesValue: value !== undefined,
    isOptional: isOptional === true,
    isRepeatable: isRepeatable === true,
  };
}

function settingFlag(setting: SettingKey): Known {
  const name = (flagOf(setting) ?? "--").slice(2);
  const isSwitch = typeof settingOf(setting).default === "boolean";
  return { name, setting, takesValue: !isSwitch, isOptional: false, isRepeatable: setting === "endpoints" };
}

/** `--no-history` turns its setting off, other switches turn theirs on. */
function settingValue(known: Known, value: string | true): string | true {
  return turnsOff(known) ? "false" : value;
}

function turnsOff({ name, takesValue }: Known): boolean {
  return !takesValue && name.startsWith("no-");
}

/** The flag a word names, with the value that stands in the same word. Clustered short flags are taken apart. */
function recognised(
  spec: Command,
  table: ReadonlyMap<string, Known>,
  word: string,
  words: string[],
): [Known, string | undefined] {
  const isLong = word.startsWith("--");
  const equals = isLong ? word.indexOf("=") : -1;
  const name = isLong ? word.slice(0, equals < 0 ? undefined : equals) : word.slice(0, 2);
  const known = table.get(name);
  if (known === undefined) throw unknownFlag(spec, table, name, word);
  if (isLong) return [known, equals < 0 ? undefined : word.slice(equals + 1)];
  const rest = word.slice(2);
  if (rest === "" || known.takesValue) return [known, rest === "" ? undefined : rest];
  words.unshift(`-${rest}`);
  return [known, undefined];
}

function flagValue(known: Known, inline: string | undefined, words: string[]): string | true {
  if (inline !== undefined) {
    if (!known.takesValue && (known.setting === undefined || turnsOff(known)))
      throw new UsageError(`--${known.name} takes no value; ${quoted(inline)} was given`);
    return inline;
  }
  if (!known.takesValue || known.isOptional) return true;
  const next = words.shift();
  if (next === undefined) throw new UsageError(`--${known.name} needs a value, none was given`);
  return next;
}

function keep(values: Values, name: string, value: string | true, known: Known): void {
  const before = values[name];
  if (value !== true) checkChoice(`--${known.name}`, value, known.choices);
  if (known.isRepeatable && value !== true) values[name] = [...(Array.isArray(before) ? before : []), value];
  else if (before !== undefined && before !== value)
    throw new UsageError(`--${known.name} was given twice, with different values`);
  else values[name] = value;
}

function checkArguments(spec: Command, args: readonly string[], command: readonly string[]): void {
  const wanted = spec.args ?? [];
  const required = wanted.filter(({ isOptional }) => !isOptional);
  const missing = required[args.length];
  const see = `see: signalbox ${spec.id} --help`;
  if (spec.takesCommand === true && args.length > 0) {
    const [first = ""] = args;
    const remedy =
      command.length > 0 && /^\d/.test(first)
        ? `an optional value is written with =, as in --wait=${first}`
        : `put -- before the command: -- ${args.join(" ")}`;
    throw new UsageError(`${quoted(first)} was not expected; ${remedy}`);
  }
  if (spec.takesCommand === true && command.length === 0)
    throw new UsageError(`no command was given; put it after --; ${see}`);
  for (const [index, arg] of args.entries()) {
    const { name, choices } = wanted[index] ?? {};
    checkChoice(name ?? "", arg, choices);
  }
  if (args.length < required.length)
    throw new UsageError(`${missing?.name ?? "an argument"} is missing; ${see}`);
  if (!wanted.at(-1)?.isRest && args.length > wanted.length) {
    throw new UsageError(`${quoted(args[wanted.length] ?? "")} was not expected; ${see}`);
  }
}

/** @throws UsageError for a value that is none of the few there are */
function checkChoice(what: string, value: string, choices: readonly string[] | undefined): void {
  if (choices === undefined || choices.includes(value)) return;
  const meant = nearest(value, choices);
  const hint = meant === undefined ? "" : `; did you mean ${quoted(meant)}?`;
  throw new UsageError(`${what}: ${quoted(value)} is none of ${choices.join(", ")}${hint}`);
}

/** One letter is near to every other, so nothing is guessed from it; `-lock` was probably meant as `--lock`. */
function unknownFlag(
  spec: Command,
  table: ReadonlyMap<string, Known>,
  name: string,
  word: string,
): UsageError {
  const long = word.startsWith("--") ? name : `-${word}`;
  const meant = nearest(long, table.keys());
  const hint = meant === undefined ? `see: signalbox ${spec.id} --help` : `did you mean ${meant}?`;
  return new UsageError(`${quoted(name)} is not a flag of signalbox ${spec.id}; ${hint}`);
}
