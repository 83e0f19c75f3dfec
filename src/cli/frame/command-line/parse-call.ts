import { UsageError } from "../../../core/base/errors.ts";
import { quoteShellWord, quoteShellWords } from "../../../core/base/shell.ts";
import { findNearest, quoteText, suggestNearest } from "../../../core/base/text.ts";
import { type Call, type Command, type Flag, listFlags, listSpellings } from "../command.ts";
import { VALUE_PARSERS, type ValueParser } from "./values.ts";

/** What was given for flags: a list for a repeatable one, true for one without a value. */
type FlagTexts = Record<string, string | true | string[]>;

/** A command line is wrong in a way that the help of its command explains. */
export class CommandLineError extends UsageError {
  /** The message without the reference to the help. */
  readonly fault: string;

  constructor({ id }: Command, fault: string) {
    super(`${fault}; see: signalbox ${id} --help`);
    this.fault = fault;
  }
}

/**
 * Parses a command line by the declaration of its command: `--flag VALUE`, `--flag=VALUE`, `-f VALUE`, `-fVALUE`,
 * `-abc`. Words after `--` are never flags: they are the command to run, or arguments. Flags may be before and after
 * arguments.
 * @throws UsageError with the received value and a suggestion
 */
export function parseCall(spec: Command, argv: readonly string[]): Call {
  if (spec.takesWords) return parseRawCall(argv);
  const table = buildFlagTable(spec);
  const flags: FlagTexts = {};
  const settings: FlagTexts = {};
  const args: string[] = [];
  let fromFirstArg: readonly string[] = [];
  /** Options of signalbox behind the first argument. They may be meant for the command. */
  const lateOptions: string[] = [];
  /** What is wrong with a command without `--`. */
  let fault: string | undefined;
  let verbosity = 0;
  const end = argv.indexOf("--");
  const words = [...(end < 0 ? argv : argv.slice(0, end))];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!word.startsWith("-") || word === "-") {
      refuseDash(word);
      if (args.length === 0) fromFirstArg = [word, ...words];
      args.push(word);
      continue;
    }
    if (spec.takesCommand === true && end < 0 && args.length > 0 && !table.has(readFlagName(word))) {
      fault ??= `unknown option ${quoteText(word)}`;
      args.push(word);
      continue;
    }
    const before = [word, ...words];
    const [known, inline] = identifyFlag(spec, table, word, words);
    const value = takeFlagText(table, known, inline, words);
    const taken = before.slice(0, before.length - words.length);
    if (args.length > 0) lateOptions.push(...(taken.length > 0 ? taken : [word.slice(0, 2)]));
    if (known.name === "verbose") verbosity += 1;
    else if (known.name === "quiet")
      verbosity = Number.NEGATIVE_INFINITY; // -q takes precedence over every -v
    else if (known.setting !== undefined)
      // `--no-history` turns its setting off; other switches turn theirs on.
      storeFlagText(settings, known.setting, isNegated(known) ? "false" : value, known);
    else storeFlagText(flags, known.name, value, known);
  }
  const behind = end < 0 ? [] : argv.slice(end + 1);
  const command = spec.takesCommand ? behind : [];
  if (!spec.takesCommand) args.push(...behind); // names may begin with a dash
  const rest = { settings: settings as Call["settings"], args, command, verbosity: Math.max(-1, verbosity) };
  if (flags.help !== undefined) return { flags, ...rest };
  if (spec.takesCommand === true)
    checkCommand(spec, args[0], command, () => {
      return `${fault ?? `unexpected argument ${quoteText(args[0] ?? "")}`}${suggestDashes(fromFirstArg, lateOptions, args)}`;
    });
  checkArguments(spec, args);
  return { flags: convertFlags(table, flags), ...rest };
}

/** Programs that set texts replace hyphens. @throws UsageError for a word that begins with such a dash */
function refuseDash(word: string): void {
  const [dashes = ""] = /^[-\u2010-\u2015\u2212]+/.exec(word) ?? [];
  if (dashes !== "" && dashes !== "-")
    throw new UsageError(
      `${quoteText(word)} begins with another character than the hyphen; write --${word.slice(dashes.length)}`,
    );
}

function convertFlags(table: ReadonlyMap<string, Flag>, given: FlagTexts): Call["flags"] {
  const values = Object.entries(given).map(([name, texts]) => [
    name,
    convertFlag(table.get(`--${name}`), texts),
  ]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function convertFlag(known: Flag | undefined, given: FlagTexts[string]): unknown {
  if (known === undefined || given === true) return given;
  const texts = [given].flat();
  if (known.canClear && texts.every((text) => text === "")) return null;
  const parsers: Readonly<Record<string, ValueParser<unknown>>> = VALUE_PARSERS;
  const parse = known.parse ?? parsers[known.value ?? ""];
  const values = parse === undefined ? texts : texts.map((text) => parse(text, `--${known.name}`));
  return known.isRepeatable ? values : values[0];
}

/**
 * Parses the words of a front end: only a single `--help` is handled here, all other words are arguments of the other
 * tool.
 */
function parseRawCall(argv: readonly string[]): Call {
  const isHelp = argv.length === 1 && argv[0] === "--help";
  return { flags: isHelp ? { help: true } : {}, settings: {}, args: argv, command: [], verbosity: 0 };
}

function buildFlagTable(spec: Command): Map<string, Flag> {
  return new Map(
    listFlags(spec).flatMap((flag) => listSpellings(flag).map((spelling) => [spelling, flag] as const)),
  );
}

function isNegated({ name, value }: Flag): boolean {
  return value === undefined && name.startsWith("no-");
}

/** Identifies the flag in a word, and its value if it is in the same word. Splits clustered short flags. */
function identifyFlag(
  spec: Command,
  table: ReadonlyMap<string, Flag>,
  word: string,
  words: string[],
): [Flag, string | undefined] {
  const name = readFlagName(word);
  const known = table.get(name);
  if (known === undefined) throw createUnknownFlagError(spec, table, name, word);
  if (word.startsWith("--")) return [known, word === name ? undefined : word.slice(name.length + 1)];
  const rest = word.slice(2);
  if (rest === "" || known.value !== undefined) return [known, rest === "" ? undefined : rest];
  words.unshift(`-${rest}`);
  return [known, undefined];
}

/** Returns the flag of a word without its value: `--flag` of `--flag=VALUE`, `-f` of `-fVALUE`. */
function readFlagName(word: string): string {
  return word.startsWith("--") ? (word.split("=", 1)[0] ?? word) : word.slice(0, 2);
}

/** Takes the text of a flag. A flag in its place means that the text was forgotten, or that a variable of the shell is empty. */
function takeFlagText(
  table: ReadonlyMap<string, Flag>,
  known: Flag,
  inline: string | undefined,
  words: string[],
): string | true {
  if (inline !== undefined) {
    if (known.value === undefined && (known.setting === undefined || isNegated(known)))
      throw new UsageError(`--${known.name} takes no value; got ${quoteText(inline)}`);
    return inline;
  }
  if (known.value === undefined || known.isOptional) return true;
  const next = words.shift();
  if (next === undefined) throw new UsageError(`--${known.name} needs a value; got none`);
  if (table.has(next.split("=", 1)[0] ?? ""))
    throw new UsageError(
      `--${known.name} needs a value; got the option ${quoteText(next)}; if it is the value: --${known.name}=${quoteShellWord(next)}`,
    );
  return next;
}

function storeFlagText(values: FlagTexts, name: string, value: string | true, known: Flag): void {
  const before = values[name];
  // The parser of a setting checks it too, and knows where it comes from.
  const isCleared = value === "" && known.canClear === true;
  if (value !== true && known.setting === undefined && !isCleared)
    checkChoice(`--${known.name}`, value, known.choices);
  if (known.isRepeatable && value !== true) values[name] = [...(Array.isArray(before) ? before : []), value];
  else if (before !== undefined && before !== value)
    throw new UsageError(`--${known.name} was given twice, with different values`);
  else values[name] = value;
}

/**
 * @param first  what is before the command but is no option
 * @param explain  returns the fault of a command without `--`
 */
function checkCommand(
  spec: Command,
  first: string | undefined,
  command: readonly string[],
  explain: () => string,
): void {
  if (first !== undefined && command.length === 0) throw new UsageError(explain());
  if (first !== undefined)
    throw new UsageError(
      `unexpected argument ${quoteText(first)}; ${
        /^\d/.test(first)
          ? `an optional value is written with =, as in --wait=${first}`
          : `put -- before the command, or write --lock ${quoteShellWord(first)} if it is the name of a lock`
      }`,
    );
  if (command.length === 0) throw new CommandLineError(spec, "COMMAND is missing: put it after --");
}

/**
 * Suggests the line with `--`. Options of signalbox among the words of the command may belong to either: then both lines are named,
 * because they take different locks.
 * @param options  these options
 * @param others  the other words
 */
function suggestDashes(
  words: readonly string[],
  options: readonly string[],
  others: readonly string[],
): string {
  const line = `-- ${quoteShellWords(words)}`;
  return options.length === 0
    ? `; put -- before the command: ${line}`
    : `: if ${options[0]} is for signalbox, write ${quoteShellWords([...options, "--", ...others])}; if it is for the command, write ${line}`;
}

function checkArguments(spec: Command, args: readonly string[]): void {
  const wanted = spec.args ?? [];
  const required = wanted.filter(({ isOptional }) => !isOptional);
  const missing = required[args.length];
  for (const [index, arg] of args.entries()) {
    const { name, choices } = wanted[index] ?? {};
    checkChoice(name ?? "", arg, choices, suggestKind(spec, args));
  }
  if (args.length < required.length)
    throw new CommandLineError(spec, `${missing?.name ?? "an argument"} is missing`);
  if (!wanted.at(-1)?.isRest && args.length > wanted.length) {
    throw new CommandLineError(
      spec,
      `unexpected argument ${quoteText(args[wanted.length] ?? "")}${suggestQuotes(spec, args)}`,
    );
  }
}

/** A shell splits a cron text without quotes, and replaces each `*` in it by the names of files. */
function suggestQuotes({ args: wanted = [] }: Command, args: readonly string[]): string {
  const takesCron = wanted.some(({ name }) => /\bCRON\b/.test(name));
  return takesCron && args.length > 4 ? "; put CRON into quotes: '0 3 * * *'" : "";
}

/** For the only argument of a command that takes a kind and a name, such as `drain web1`: the name is probably meant. */
function suggestKind({ id, args: wanted = [] }: Command, args: readonly string[]): string {
  const [kind, name] = wanted;
  const [word = ""] = args;
  if (args.length !== 1 || name?.name !== "NAME" || !/^[\w.-]{1,60}$/.test(word)) return "";
  const choices = kind?.choices ?? [];
  const example = choices.includes("host") ? "host" : choices[0];
  return `; it comes before NAME, as in: signalbox ${id} ${example} ${word}`;
}

/** @throws UsageError if the value is not one of the choices */
function checkChoice(
  what: string,
  value: string,
  choices: readonly string[] | undefined,
  otherHint = "",
): void {
  if (choices === undefined || choices.includes(value)) return;
  const hint = suggestNearest(value, choices) || otherHint;
  throw new UsageError(`${what} must be one of ${choices.join(", ")}; got ${quoteText(value)}${hint}`);
}

/**
 * Suggests a flag. One letter is close to every other, so there is no suggestion for it; `-lock` probably means
 * `--lock`.
 */
function createUnknownFlagError(
  spec: Command,
  table: ReadonlyMap<string, Flag>,
  name: string,
  word: string,
): UsageError {
  const long = word.startsWith("--") ? name : `-${word}`;
  const meant = /^-.$/u.test(word) ? undefined : findNearest(long, table.keys());
  const fault = `unknown option ${quoteText(name)}`;
  return meant === undefined
    ? new CommandLineError(spec, fault)
    : new UsageError(`${fault}; did you mean ${meant}?`);
}
