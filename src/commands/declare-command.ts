import {
  type Argument,
  CONNECTION_SETTINGS,
  type Command,
  type Flag,
  type RowCommand,
  type RowKind,
} from "./spec.ts";

/** What is declared of a flag besides its spelling. */
type FlagDetails = Omit<Flag, "name" | "short" | "value" | "isOptional">;

/**
 * Flags by their spelling, as help shows it: `-w, --wait`, `--timeout DURATION`, `--wait[=DURATION]`. A text alone is the
 * help of the flag.
 */
export type FlagTable = Readonly<Record<string, string | FlagDetails>>;

/** What is declared of an argument besides its spelling. */
export type ArgumentDetails = Omit<Argument, "name" | "isOptional" | "isRest">;

/** Arguments by their spelling, as usage lines show them: `NAME`, `[NAME]`, `FILE...`, `[FILE...]`. */
export type ArgumentTable = Readonly<Record<string, string | ArgumentDetails>>;

/** A command as it is written down. */
interface CommandDeclaration extends Omit<Command, "args" | "flags" | "variables" | "examples"> {
  args?: ArgumentTable;
  flags?: FlagTable;
  /** What each variable is for. */
  variables?: Readonly<Record<string, string>>;
  /** What each line does. */
  examples: Readonly<Record<string, string>>;
}

/**
 * Declares a command. Unless it is a front end, its settings are by default those of the connection to etcd. Flags and
 * arguments are converted when they are read, because a process reads those of few commands.
 */
export function declareCommand(declaration: CommandDeclaration): Command {
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
export function declareRowCommand<const Id extends string, const K extends RowKind>(
  declaration: CommandDeclaration & Pick<RowCommand<Id, K>, "id" | "rows">,
): RowCommand<Id, K> {
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
