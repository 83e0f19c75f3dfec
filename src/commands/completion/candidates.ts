import { DRAIN_SCOPES, type DrainScope } from "../../protocol/keys.ts";
import type { Argument, Command, NameKind } from "../spec.ts";
import { flagsOf, type Known, type Values, valuesOf } from "./flags.ts";
import { type Line, readLine } from "./line.ts";

/** What a shell is told to offer: these words, its own files, or whatever completes the command behind `--`. */
export type Offer =
  | { kind: "words"; words: readonly string[]; isOpen?: boolean }
  | { kind: "files" }
  | { kind: "command" };

/** A question to etcd. */
export interface Ask {
  kinds: readonly NameKind[];
  /** What names must begin with. */
  prefix: string;
  /** Of drains: only those in this scope. */
  scope?: DrainScope;
  /** Of runs: only those in this queue. */
  queue?: { kind: "lock" | "resource"; name: string };
  /** What the line says so far, about etcd too. */
  line: Line;
}

export type Lookup = (ask: Ask) => Promise<readonly string[]>;

/** Kinds that a first argument can be. */
const KINDS: readonly NameKind[] = ["lock", "resource", "group", "host", "run", "schedule"];

const NOTHING: Offer = { kind: "words", words: [] };

/** What `signalbox help` knows beside commands. */
const HELP_TOPICS = ["exit-codes"];

/**
 * What may stand at the cursor.
 * @param words  what was typed behind `signalbox`, up to the cursor; the last one may be begun or empty
 */
export async function candidates(
  commands: readonly Command[],
  words: readonly string[],
  lookup: Lookup,
): Promise<Offer> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const command = commandOf(commands, before);
  if (command === undefined) return fitting(commandWords(commands, before), current);
  const known = flagsOf(command);
  const line = readLine(known, before.slice(command.id.split(" ").length));
  if (line.isBehind && (command.takesCommand || command.takesWords)) return { kind: "command" };
  if (line.open !== undefined) return await valued(line.open.values, line, current, lookup);
  if (current.startsWith("-") && !line.isBehind) return await flagOffer(known, line, current, lookup);
  return await argument(command, line, current, lookup);
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
  const isHelp = before[0] === "help";
  const typed = isHelp ? before.slice(1) : before;
  const next = commands.flatMap(({ id }) => {
    const parts = id.split(" ");
    return typed.every((word, index) => word === parts[index]) ? (parts[typed.length] ?? []) : [];
  });
  const others = isHelp ? HELP_TOPICS : ["help", "version", "--help", "--version"];
  return [...new Set(next), ...(typed.length === 0 ? others : [])];
}

async function flagOffer(
  known: readonly Known[],
  line: Line,
  current: string,
  lookup: Lookup,
): Promise<Offer> {
  const equals = current.indexOf("=");
  if (equals > 0) {
    const name = current.slice(0, equals);
    const flag = known.find(({ names }) => names.includes(name));
    const offer = await valued(flag?.values ?? {}, line, current.slice(equals + 1), lookup);
    return offer.kind === "words"
      ? { ...offer, words: offer.words.map((value) => `${name}=${value}`) }
      : offer;
  }
  const used = new Set(line.flags.map(([flag]) => flag));
  const unused = known.filter((flag) => flag.isRepeatable || !used.has(flag));
  return fitting(
    unused.map(({ names: [name = ""] }) => name),
    current,
  );
}

async function argument({ args = [] }: Command, line: Line, current: string, lookup: Lookup): Promise<Offer> {
  const { given, isBehind } = line;
  const wanted = args[given.length] ?? (args.at(-1)?.isRest ? args.at(-1) : undefined);
  if (wanted === undefined) return NOTHING;
  const offer = await valued(meant(wanted, args[0], given[0]), line, current, lookup);
  if (offer.kind !== "words") return offer;
  // A name that begins with a dash would be a flag: whoever put it there could so add one to somebody's command.
  const safe = offer.words.filter((word) => isBehind || !word.startsWith("-"));
  return { kind: "words", words: wanted.isRest ? safe.filter((word) => !given.includes(word)) : safe };
}

/** Where the first argument says what kind of thing is meant, the second is the name of one. */
function meant(wanted: Argument, first: Argument | undefined, kind: string | undefined): Values {
  const values = valuesOf(wanted);
  if (wanted === first || first?.choices === undefined || values.names === undefined) return values;
  const named = KINDS.filter((one) => one === kind); // none in the scope `all`
  return { ...values, names: values.names.includes("drain") && named.length > 0 ? ["drain"] : named };
}

async function valued(values: Values, line: Line, current: string, lookup: Lookup): Promise<Offer> {
  const { choices, names = [], isFile, suffix = "" } = values;
  if (isFile) return { kind: "files" };
  if (choices !== undefined) return fitting(choices, current);
  if (names.length === 0) return NOTHING;
  const found = await lookup({ kinds: names, prefix: current, ...within(line), line });
  const words = found.map((name) => `${name}${suffix}`);
  return { ...fitting(words, current), ...(suffix !== "" && { isOpen: true }) };
}

/** What the first words of a command say about names that follow: `undrain host …`, `reset lock NAME --run …`. */
function within({ given: [kind, name] }: Line): Pick<Ask, "scope" | "queue"> {
  const scope = DRAIN_SCOPES.find((one) => one === kind);
  const isQueue = (kind === "lock" || kind === "resource") && name !== undefined;
  return { ...(scope !== undefined && { scope }), ...(isQueue && { queue: { kind, name } }) };
}

function fitting(words: readonly string[], prefix: string): Extract<Offer, { kind: "words" }> {
  return { kind: "words", words: words.filter((word) => word.startsWith(prefix)) };
}
