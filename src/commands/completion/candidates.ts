import { describeSettings } from "../../config/config.ts";
import { COMMON, type Command, type Flag, type NameKind } from "../spec.ts";

/** Hints to the shell, in place of candidates. */
export const FILES = ":files";
export const COMMAND_NAMES = ":commands";

/** Asks etcd for names that begin so. */
export type Lookup = (kind: NameKind, prefix: string) => Promise<readonly string[]>;

/** A flag as completion sees it. */
interface Known {
  names: readonly string[];
  takesValue: boolean;
  isRepeatable: boolean;
  complete(prefix: string, lookup: Lookup): Promise<readonly string[]>;
}

/**
 * What may stand at the cursor.
 * @param words  what was typed behind `signalbox`, up to the cursor; the last one may be begun or empty
 */
export async function candidates(
  commands: readonly Command[],
  words: readonly string[],
  lookup: Lookup,
): Promise<readonly string[]> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const command = commandOf(commands, before);
  if (command === undefined) return commandWords(commands, before).filter((word) => word.startsWith(current));
  const typed = before.slice(command.id.split(" ").length);
  if (typed.includes("--") && command.takesCommand) return [typed.at(-1) === "--" ? COMMAND_NAMES : FILES];
  const flags = flagsOf(command);
  const open = openFlag(flags, typed);
  if (open !== undefined) return fitting(await open.complete(current, lookup), current);
  if (current.startsWith("-")) return await flagCandidates(flags, typed, current, lookup);
  return fitting(await argument(command, flags, typed, current, lookup), current);
}

/** The command that is typed; `group` alone is none yet. */
function commandOf(
  commands: readonly Command[],
  [first = "", second]: readonly string[],
): Command | undefined {
  const two = commands.find(({ id }) => id === `${first} ${second ?? ""}`);
  return two ?? commands.find(({ id }) => id === first);
}

function commandWords(commands: readonly Command[], before: readonly string[]): string[] {
  const ids = commands.map(({ id }) => id.split(" "));
  const [first] = before;
  if (before.length === 0) return [...new Set(ids.map(([word = ""]) => word)), "help", "version"];
  if (first === "help")
    return [...new Set(ids.map((words) => words[before.length - 1] ?? ""))].filter(Boolean);
  return before.length === 1 ? ids.flatMap(([one, two]) => (one === first && two ? [two] : [])) : [];
}

function flagsOf({ flags = [], settings = [] }: Command): Known[] {
  const own = [...flags, ...COMMON].map(ownFlag);
  const ofSettings = describeSettings()
    .filter(({ key, flag }) => settings.includes(key) && flag !== undefined)
    .map(({ flag = "", short, kind, standard }) => ({
      names: [flag, ...(short === undefined ? [] : [`-${short}`])],
      takesValue: standard !== "true" && standard !== "false",
      isRepeatable: flag === "--endpoints",
      complete: async () => (/file|path/i.test(kind) ? [FILES] : []),
    }));
  return [...own, ...ofSettings];
}

function ownFlag({
  name,
  short,
  aliases = [],
  value,
  isOptional,
  isRepeatable,
  choices,
  names,
}: Flag): Known {
  return {
    names: [
      `--${name}`,
      ...(short === undefined ? [] : [`-${short}`]),
      ...aliases.map((alias) => `--${alias}`),
    ],
    takesValue: value !== undefined && !isOptional,
    isRepeatable: isRepeatable === true,
    complete: async (prefix, lookup) => {
      if (choices !== undefined) return choices;
      if (names !== undefined) return await lookup(names, prefix);
      return value === "FILE" ? [FILES] : [];
    },
  };
}

/** The flag whose value is being typed. */
function openFlag(flags: readonly Known[], typed: readonly string[]): Known | undefined {
  const last = typed.at(-1);
  return flags.find(({ names, takesValue }) => takesValue && last !== undefined && names.includes(last));
}

async function flagCandidates(
  flags: readonly Known[],
  typed: readonly string[],
  current: string,
  lookup: Lookup,
): Promise<readonly string[]> {
  const equals = current.indexOf("=");
  if (equals > 0) {
    const [name, prefix] = [current.slice(0, equals), current.slice(equals + 1)];
    const flag = flags.find(({ names }) => names.includes(name));
    const values = fitting((await flag?.complete(prefix, lookup)) ?? [], prefix);
    return values.map((value) => (value.startsWith(":") ? value : `${name}=${value}`));
  }
  const unused = flags.filter(
    ({ names, isRepeatable }) => isRepeatable || !names.some((name) => typed.includes(name)),
  );
  return fitting(
    unused.map(({ names: [name = ""] }) => name),
    current,
  );
}

async function argument(
  { args = [] }: Command,
  flags: readonly Known[],
  typed: readonly string[],
  current: string,
  lookup: Lookup,
): Promise<readonly string[]> {
  const given = positional(flags, typed);
  const wanted = args[given.length] ?? (args.at(-1)?.isRest ? args.at(-1) : undefined);
  if (wanted?.choices !== undefined) return wanted.choices;
  const kind = namedKind(args[0]?.choices, given[0]) ?? wanted?.names;
  if (kind !== undefined && wanted?.names !== undefined) return await lookup(kind, current);
  return wanted?.name === "FILE" ? [FILES] : [];
}

/** Where the first argument says what kind of thing is meant, the second is the name of one. */
function namedKind(choices: readonly string[] | undefined, first: string | undefined): NameKind | undefined {
  const kinds: readonly NameKind[] = ["lock", "resource", "group", "host", "run"];
  return choices === undefined ? undefined : kinds.find((kind) => kind === first);
}

/** What was typed that is neither a flag nor the value of one. */
function positional(flags: readonly Known[], typed: readonly string[]): string[] {
  return typed.filter((word, index) => {
    const before = typed[index - 1];
    const isValue = flags.some(
      ({ names, takesValue }) => takesValue && before !== undefined && names.includes(before),
    );
    return !isValue && !word.startsWith("-");
  });
}

function fitting(words: readonly string[], prefix: string): string[] {
  return words.filter((word) => word.startsWith(prefix) || word === FILES);
}
