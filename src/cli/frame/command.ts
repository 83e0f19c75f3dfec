import type { Finding } from "../../core/base/finding.ts";
import type { Terminal } from "../../core/base/terminal.ts";
import { getFlagHelp, getFlagName, getSetting, type SettingKey } from "../../core/config/settings.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import type { Subject } from "../../site/state/subject.ts";
import type { VALUE_PARSERS, ValueParser } from "./command-line/values.ts";
import type { ActionOutcome } from "./outcome.ts";

/** What a flag or an argument takes. */
interface ValueDeclaration {
  /** The only allowed values. */
  choices?: readonly string[];
  /** The kind of object that its value names. */
  names?: NameKind | readonly NameKind[];
  help: string;
}

/** A flag of a command. */
export interface Flag extends ValueDeclaration {
  /** Without dashes. */
  name: string;
  short?: string;
  /** The name of its value in help; a flag without one is a switch. */
  value?: string;
  /** Whether the value is optional. If given, it is written as `--flag=VALUE`. */
  isOptional?: true;
  isRepeatable?: true;
  /** In a form, separates the values of a repeatable flag. Default: they are words, quoted as in a shell. */
  separator?: ";";
  /** Whether an empty value removes the field: its value is null. */
  canClear?: true;
  /**
   * Converts its value, or each of its values. Without it, the name of the value decides: a `DURATION` is a number of ms
   * (see `VALUE_PARSERS`), and others stay texts.
   */
  parse?: ValueParser<unknown>;
  /** The setting that it sets; `config` for the configuration file. */
  setting?: SettingKey | "config";
}

/** Kinds of names in etcd, for completion. */
export type NameKind =
  | "lock"
  | "resource"
  | "group"
  | "host"
  | "run"
  | "drain"
  | "schedule"
  | "calendar"
  | "context";

/** The topics of commands; help lists the commands by topic, in this order. */
export const TOPICS = ["Run", "See", "Act", "Configure", "Schedule", "Check", "Migrate"] as const;
type Topic = (typeof TOPICS)[number];

/** A positional argument of a command. */
export interface Argument extends ValueDeclaration {
  name: string;
  isOptional?: true;
  /** Takes all remaining words. */
  isRest?: true;
}

/**
 * A command. This declaration is all that parsing, help, completion and docs need; the implementation is loaded when
 * the command runs.
 */
export interface Command {
  /** One or two words after `signalbox`. */
  id: string;
  topic: Topic;
  brief: string;
  /** Paragraphs of help. */
  about?: readonly string[];
  args?: readonly Argument[];
  /** Whether a command to run follows `--`; `optional` if it may be missing or given besides arguments. */
  takesCommand?: true | "optional";
  /**
   * Whether this is a front end: its words are those of another tool and are passed unchanged in `Call.args`. Its flags
   * are only for help.
   */
  takesWords?: true;
  /**
   * The exit code of a front end for words that are not valid UTF-8 and for a Node that is too old, if it has its own.
   */
  failure?: number;
  /** Environment variables that it reads, in addition to those of settings. */
  variables?: readonly (readonly [name: string, what: string])[];
  flags?: readonly Flag[];
  /** Settings that can be given as flags. */
  settings?: readonly SettingKey[];
  examples: readonly (readonly [line: string, what: string])[];
  /**
   * Loads what it does: a function, or an implementation. Undefined for the console, which is a separate bundle that
   * `bin` starts.
   */
  load?: () => Promise<CommandExecutor<never> | CommandImplementation<never>>;
}

/** The kinds of rows that commands act on: all but records of the past. */
type RowKind = Exclude<Subject["kind"], "record">;

/** What a command does to rows of the console's tables. */
interface RowScope<K extends RowKind = RowKind> {
  /** Its key in the console. */
  key: string;
  kinds: readonly K[];
  /** The message for rows of other kinds. */
  refusal: string;
  /**
   * What must be typed to confirm: with `endsRuns`, the name of the row (of a run, the beginning of its id) if a run that may be
   * alive would be ended; with `stopsRuns`, `all` if everything would be stopped.
   */
  danger?: "endsRuns" | "stopsRuns";
}

/** A command that acts on rows of the console's tables. */
export interface RowCommand<Id extends string = string, K extends RowKind = RowKind> extends Command {
  id: Id;
  rows: RowScope<K>;
}

export function isRowCommand(command: Command): command is RowCommand {
  return "rows" in command;
}

/** The implementation of a command. @typeParam F  its flags */
export interface CommandImplementation<F = CommandFlags> {
  execute: CommandExecutor<F>;
  /**
   * If the command acts: does its work, and returns the outcome instead of printing it.
   * @throws InterruptedError if the user ends the command; SignalboxError, StoreError
   */
  perform?: (call: Call<F>, io: CommandIo) => Promise<ActionOutcome>;
}

export type ActionImplementation<F = CommandFlags> = Required<CommandImplementation<F>>;

/** Runs a command. @returns the exit code */
export type CommandExecutor<F = CommandFlags> = (call: Call<F>, io: CommandIo) => Promise<number>;

/** Values by flag name, as declared: a list for a repeatable flag, null for a cleared one, true for a switch. */
type CommandFlags = Readonly<Record<string, unknown>>;

/** A parsed command line. @typeParam F  the flags of its command */
export interface Call<F = CommandFlags> {
  flags: F;
  /** Values of the flags of settings, and `config`. */
  settings: Readonly<Partial<Record<SettingKey | "config", string | boolean | readonly string[]>>>;
  args: readonly string[];
  /** The words after `--`. */
  command: readonly string[];
  /** -1 for quiet, 0 by default, 1 with `-v`, 2 with `-vv`. */
  verbosity: number;
}

/** The input and output of a command, and its environment. */
export interface CommandIo {
  env: Readonly<Record<string, string | undefined>>;
  /**
   * Writes to standard output.
   * @returns false once the reader has closed it
   * @throws SignalboxError 74
   */
  writeOutput(text: string): boolean;
  /** The same for bytes, where the caller has a stream for them. */
  writeBytes?(bytes: Uint8Array, descriptor: 1 | 2): boolean;
  /** Writes to standard error. */
  writeError(text: string): void;
  /** Writes one line for the user to standard error, with the name of the program. The text may be of others. */
  writeMessage(line: string): void;
  onSignal(listener: (name: NodeJS.Signals) => void): () => void;
  /** Reads standard input to its end. */
  readInput(): Promise<string>;
  terminal: Terminal;
  /** Returns an up-to-date snapshot of everything, if the caller has one. Previews use it. */
  getSnapshot?: () => Snapshot | undefined;
  /** Receives the findings of a check as they come, if the caller shows them. */
  reportFindings?: (findings: readonly Finding[]) => void;
}

/** Settings of the connection to etcd, for every command that uses etcd. */
export const CONNECTION_SETTINGS: readonly SettingKey[] = [
  "endpoints",
  "prefix",
  "transport",
  "connectTimeout",
  "user",
  "passwordFile",
  "allowPlaintextPassword",
  "cacert",
  "cert",
  "key",
  "serverName",
  "insecureSkipTlsVerify",
  "clusterId",
];

export const LOGGING_SETTINGS: readonly SettingKey[] = ["logFile", "logLevel", "logFormat"];

/** What is declared of a flag besides its spelling. */
type FlagDetails = Omit<Flag, "name" | "short" | "value" | "isOptional">;

/**
 * CommandFlags by their spelling, as help shows it: `-w, --wait`, `--timeout DURATION`, `--wait[=DURATION]`. A text alone is the
 * help of the flag.
 */
type FlagTable = Readonly<Record<string, string | FlagDetails>>;

type FlagName<Spelling> = Spelling extends `${string}--${infer Rest}`
  ? Rest extends `${infer Name}[=${string}` | `${infer Name} ${string}`
    ? Name
    : Rest
  : never;

type ValueName<Spelling> = Spelling extends `${string}[=${infer Name}]`
  ? Name
  : Spelling extends `${string}--${string} ${infer Name}`
    ? Name
    : never;

type SingleValue<Spelling, Details> = Details extends { parse: ValueParser<infer Value> }
  ? Exclude<Value, undefined>
  : Details extends { choices: readonly (infer Choice)[] }
    ? Choice
    : ValueName<Spelling> extends infer Name extends keyof typeof VALUE_PARSERS
      ? ReturnType<(typeof VALUE_PARSERS)[Name]>
      : string;

type FlagValue<Spelling, Details> =
  | (Details extends { canClear: true } ? null : never)
  | (Details extends { isRepeatable: true }
      ? readonly SingleValue<Spelling, Details>[]
      : Spelling extends `${string}[=${string}`
        ? SingleValue<Spelling, Details> | true
        : Spelling extends `${string}--${string} ${string}`
          ? SingleValue<Spelling, Details>
          : true);

export type FlagsOf<Table extends FlagTable> = {
  readonly [Spelling in keyof Table as FlagName<Spelling>]?: FlagValue<Spelling, Table[Spelling]>;
};

/** Declares flags. Keeps the types of their values. */
export function declareFlags<const F extends FlagTable>(flags: F): F {
  return flags;
}

/** What is declared of an argument besides its spelling. */
export type ArgumentDetails = Omit<Argument, "name" | "isOptional" | "isRest">;

/** Arguments by their spelling, as usage lines show them: `NAME`, `[NAME]`, `FILE...`, `[FILE...]`. */
export type ArgumentTable = Readonly<Record<string, string | ArgumentDetails>>;

/** A command as it is written down. @typeParam F  its flags */
interface CommandDeclaration<F extends FlagTable>
  extends Omit<Command, "args" | "flags" | "variables" | "examples" | "load"> {
  args?: ArgumentTable;
  flags?: F;
  /** What each variable is for. */
  variables?: Readonly<Record<string, string>>;
  /** What each line does. */
  examples: Readonly<Record<string, string>>;
  load?: () => Promise<CommandExecutor<FlagsOf<NoInfer<F>>> | CommandImplementation<FlagsOf<NoInfer<F>>>>;
}

/**
 * Declares a command. Unless it is a front end, its settings are by default those of the connection to etcd. CommandFlags and
 * arguments are converted when they are read, because a process reads those of few commands.
 */
export function declareCommand<const F extends FlagTable>(declaration: CommandDeclaration<F>): Command {
  const { args = {}, flags = {}, variables = {}, examples, ...others } = declaration;
  return {
    settings: others.takesWords ? [] : CONNECTION_SETTINGS,
    ...others,
    get args() {
      return toArguments(args);
    },
    get flags() {
      return toFlags(flags);
    },
    variables: Object.entries(variables),
    examples: Object.entries(examples),
  };
}

/** Declares a command that acts on rows. Keeps the types of its id and of its kinds of rows. */
export function declareRowCommand<
  const Id extends string,
  const K extends RowKind,
  const F extends FlagTable,
>(declaration: CommandDeclaration<F> & Pick<RowCommand<Id, K>, "id" | "rows">): RowCommand<Id, K> {
  return declareCommand(declaration) as RowCommand<Id, K>;
}

function toArguments(table: ArgumentTable): Argument[] {
  return Object.entries(table).map(([spelling, details]) => ({
    name: spelling.replace(/^\[|\.\.\.|\]$/g, ""),
    ...(spelling.startsWith("[") && { isOptional: true }),
    ...(/\.\.\.\]?$/.test(spelling) && { isRest: true }),
    ...toDetails(details),
  }));
}

/** Matches the spelling of a flag. */
const SPELLING = /^(?:-(?<short>\w), )?--(?<name>[\w-]+)(?:\[=(?<optional>.+)\]| (?<value>.+))?$/;

export function toFlags(table: FlagTable): Flag[] {
  return Object.entries(table).map(([spelling, details]) => {
    const { short, name = "", optional, value = optional } = SPELLING.exec(spelling)?.groups ?? {};
    return {
      name,
      ...(short !== undefined && { short }),
      ...(value !== undefined && { value }),
      ...(optional !== undefined && { isOptional: true }),
      ...toDetails(details),
    };
  });
}

function toDetails<T extends { help: string }>(details: string | T): T | { help: string } {
  return typeof details === "string" ? { help: details } : details;
}

export const COMMON_FLAGS: readonly Flag[] = toFlags({
  "-c, --config FILE": { setting: "config", help: "read only this configuration file" },
  "--context NAME": {
    setting: "context",
    names: "context",
    help: "use the settings of this context of the configuration file",
  },
  "-v, --verbose": {
    isRepeatable: true,
    help: "print more on standard error; -vv prints everything",
  },
  "-q, --quiet": "print nothing on standard error, not even errors",
  "-h, --help": "show this help",
});

/** Lists the flags of a command: its own, those of every command, and those of its settings. */
export function listFlags({ flags = [], settings = [], takesWords }: Command): Flag[] {
  return [...flags, ...(takesWords ? [] : COMMON_FLAGS), ...settings.flatMap(toSettingFlag)];
}

/** Lists the spellings of a flag: `--lock`, `-l`. */
export function listSpellings({ name, short }: Flag): string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
}

/** Converts a setting to its flag. A setting that is on or off takes no value. */
function toSettingFlag(setting: SettingKey): Flag[] {
  const { kind, default: standard, short } = getSetting(setting);
  const flag = getFlagName(setting);
  if (flag === undefined) return [];
  return [
    {
      name: flag.slice(2),
      setting,
      help: getFlagHelp(setting),
      ...(short !== undefined && { short }),
      ...(typeof standard !== "boolean" && { value: kind.name }),
      ...(setting === "endpoints" && { isRepeatable: true }),
      ...(kind.choices && { choices: kind.choices }),
    },
  ];
}
