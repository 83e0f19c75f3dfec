import type { Terminal } from "../base/terminal.ts";
import type { SettingKey } from "../config/settings.ts";
import type { Picture } from "../model/picture.ts";

/** A flag that is no setting: it belongs to one command. */
export interface Flag {
  /** Without dashes. */
  name: string;
  short?: string;
  aliases?: readonly string[];
  /** What its value is called in help; a flag without one is a switch. */
  value?: string;
  /** The only values it may have. */
  choices?: readonly string[];
  /** What its value names. */
  names?: NameKind | readonly NameKind[];
  /** The value may be left out; if it is given, then as `--flag=VALUE`. */
  isOptional?: true;
  isRepeatable?: true;
  /** An empty value takes away what is there. */
  canClear?: true;
  help: string;
}

/** What names there are of, in etcd; completions offer them. */
export type NameKind = "lock" | "resource" | "group" | "host" | "run" | "drain" | "schedule";

/** What commands are for; help lists them under these words, in this order. */
export const TOPICS = ["Run", "See", "Act", "Configure", "Schedule", "Check", "Migrate"] as const;
export type Topic = (typeof TOPICS)[number];

/** An argument of a command, in its order. */
export interface Argument {
  name: string;
  /** The only values it may have. */
  choices?: readonly string[];
  /** What its value names. */
  names?: NameKind | readonly NameKind[];
  isOptional?: true;
  /** Takes all that is left. */
  isRest?: true;
  help: string;
}

/**
 * A command, declared once: parsing, help, completions and docs read this, and nothing of its work is loaded before
 * it is wanted.
 */
export interface Command {
  /** What is typed after `signalbox`: one word or two. */
  id: string;
  topic: Topic;
  brief: string;
  /** Its key in the console, where it acts on rows. */
  key?: string;
  /** Paragraphs of help. */
  about?: readonly string[];
  args?: readonly Argument[];
  /** Whether what stands after `--` is a command to run; `optional`: beside arguments, or not at all. */
  takesCommand?: true | "optional";
  /**
   * A front end: its words are another tool's, and reach it as they were typed, in `Call.args`. Its flags are declared for
   * help only.
   */
  takesWords?: true;
  /** A front end's exit code for words that are not valid UTF-8 and for a Node that is too old, where it has one of its own. */
  failure?: number;
  /** Variables that speak to it, beside those of settings. */
  variables?: readonly (readonly [name: string, what: string])[];
  flags?: readonly Flag[];
  /** Settings that can be given as flags. */
  settings?: readonly SettingKey[];
  examples: readonly (readonly [line: string, what: string])[];
  /** Undefined for the console: a bundle of its own, which `bin` starts. */
  load?: () => Promise<{ execute: Execute }>;
}

/** The work of a command. @returns the exit code */
export type Execute = (call: Call, world: Surroundings) => Promise<number>;

/** A command line, parsed. */
export interface Call {
  /** Values by flag name: a text, a list where it is repeatable, true for a switch. */
  flags: Readonly<Record<string, string | true | readonly string[]>>;
  /** Values of settings' flags, and `config`. */
  settings: Readonly<Partial<Record<SettingKey | "config", string | boolean | readonly string[]>>>;
  args: readonly string[];
  /** What stood after `--`. */
  command: readonly string[];
  /** How talkative: -1 quiet, 0, 1 with `-v`, 2 with `-vv`. */
  verbosity: number;
}

/** What a command sees of its process. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard output. @returns false once nobody reads it any more. @throws SignalboxError 74 */
  out(text: string): boolean;
  /** Writes to standard error. */
  err(text: string): void;
  onSignal(listener: (name: NodeJS.Signals) => void): () => void;
  /** Standard input to its end. */
  input(): Promise<string>;
  terminal: Terminal;
  /** A picture of everything that somebody keeps up to date: a preview needs no other. */
  picture?: () => Picture | undefined;
}

/** Settings that say how to reach etcd; every command that does takes them. */
export const CONNECTION: readonly SettingKey[] = [
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
];

/** Settings that say what is logged where. */
export const LOGGING: readonly SettingKey[] = ["logFile", "logLevel", "logFormat"];

/** Flags that every command has. */
export const COMMON: readonly Flag[] = [
  { name: "config", short: "c", value: "FILE", help: "read this configuration file, and no other" },
  { name: "verbose", short: "v", isRepeatable: true, help: "say more on standard error; -vv says all" },
  { name: "quiet", short: "q", help: "say nothing on standard error, not even errors" },
  { name: "help", short: "h", help: "show this help" },
];
