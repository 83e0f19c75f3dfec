import { DRAIN_SCOPES, type DrainScope } from "../../protocol/keys.ts";
import {
  type Argument,
  type Command,
  type Flag,
  listFlags,
  listSpellings,
  type NameKind,
} from "../command.ts";
import {
  type CompletionValues,
  getArgumentValues,
  getFlagValues,
  type PartialLine,
  parsePartialLine,
} from "./partial-line.ts";

/** The candidates for a shell: these words, file names, or the completion of the command after `--`. */
export type CompletionOffer =
  | { kind: "words"; words: readonly string[]; isOpen?: boolean }
  | { kind: "files" }
  | { kind: "command" };

/** A request for names in etcd. */
export interface NameQuery {
  kinds: readonly NameKind[];
  /** The prefix of the names. */
  prefix: string;
  /** For drains: only those in this scope. */
  scope?: DrainScope;
  /** For runs: only those in this queue. */
  queue?: { kind: "lock" | "resource"; name: string };
  /** The parsed line, which may also contain the connection settings of etcd. */
  line: PartialLine;
}

type NameLookup = (ask: NameQuery) => Promise<readonly string[]>;

/** Kinds that a first argument can name. */
const KINDS: readonly NameKind[] = ["lock", "resource", "group", "host", "run", "schedule"];

const NOTHING: CompletionOffer = { kind: "words", words: [] };

/** Topics of `signalbox help` that are not commands. */
const HELP_TOPICS = ["all", "connection", "exit-codes"];

/**
 * Finds the candidates at the cursor.
 * @param words  the words after `signalbox`, up to the cursor; the last one may be incomplete or empty
 */
export async function findCandidates(
  commands: readonly Command[],
  words: readonly string[],
  lookup: NameLookup,
): Promise<CompletionOffer> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const command = findCommand(commands, before);
  if (command === undefined) return filterByPrefix(listCommandWords(commands, before), current);
  const known = listFlags(command);
  const line = parsePartialLine(known, before.slice(command.id.split(" ").length));
  if (line.isBehind && (command.takesCommand || command.takesWords)) return { kind: "command" };
  if (line.open !== undefined) return await completeValue(getFlagValues(line.open), line, current, lookup);
  if (current.startsWith("-") && !line.isBehind) return await completeFlag(known, line, current, lookup);
  return await completeArgument(command, line, current, lookup);
}

/** Finds the command on the line. `group` alone is not a command. */
function findCommand(
  commands: readonly Command[],
  [first = "", second]: readonly string[],
): Command | undefined {
  const two = commands.find(({ id }) => id === `${first} ${second ?? ""}`);
  return two ?? commands.find(({ id }) => id === first);
}

function listCommandWords(commands: readonly Command[], before: readonly string[]): string[] {
  const isHelp = before[0] === "help";
  const typed = isHelp ? before.slice(1) : before;
  const next = commands.flatMap(({ id }) => {
    const parts = id.split(" ");
    return typed.every((word, index) => word === parts[index]) ? (parts[typed.length] ?? []) : [];
  });
  const others = isHelp ? HELP_TOPICS : ["help", "version", "--help", "--version"];
  return [...new Set(next), ...(typed.length === 0 ? others : [])];
}

async function completeFlag(
  known: readonly Flag[],
  line: PartialLine,
  current: string,
  lookup: NameLookup,
): Promise<CompletionOffer> {
  const equals = current.indexOf("=");
  if (equals > 0) {
    const name = current.slice(0, equals);
    const flag = known.find((one) => listSpellings(one).includes(name));
    const values = flag === undefined ? {} : getFlagValues(flag);
    const offer = await completeValue(values, line, current.slice(equals + 1), lookup);
    return offer.kind === "words"
      ? { ...offer, words: offer.words.map((value) => `${name}=${value}`) }
      : offer;
  }
  const used = new Set(line.flags.map(([flag]) => flag));
  const unused = known.filter((flag) => flag.isRepeatable || !used.has(flag));
  return filterByPrefix(
    unused.map(({ name }) => `--${name}`),
    current,
  );
}

async function completeArgument(
  { args = [] }: Command,
  line: PartialLine,
  current: string,
  lookup: NameLookup,
): Promise<CompletionOffer> {
  const { given, isBehind } = line;
  const wanted = args[given.length] ?? (args.at(-1)?.isRest ? args.at(-1) : undefined);
  if (wanted === undefined) return NOTHING;
  const offer = await completeValue(narrowValues(wanted, args[0], given[0]), line, current, lookup);
  if (offer.kind !== "words") return offer;
  // A name that begins with a dash would be a flag: its author could add a flag to another user's command.
  const safe = offer.words.filter((word) => isBehind || !word.startsWith("-"));
  return { kind: "words", words: wanted.isRest ? safe.filter((word) => !given.includes(word)) : safe };
}

/** Narrows the names of an argument to the kind in the first argument. */
function narrowValues(
  wanted: Argument,
  first: Argument | undefined,
  kind: string | undefined,
): CompletionValues {
  const values = getArgumentValues(wanted);
  if (wanted === first || first?.choices === undefined || values.names === undefined) return values;
  const named = KINDS.filter((one) => one === kind); // empty for the scope `all`
  return { ...values, names: values.names.includes("drain") && named.length > 0 ? ["drain"] : named };
}

async function completeValue(
  values: CompletionValues,
  line: PartialLine,
  current: string,
  lookup: NameLookup,
): Promise<CompletionOffer> {
  const { choices, names = [], isFile, suffix = "" } = values;
  if (isFile) return { kind: "files" };
  if (choices !== undefined) return filterByPrefix(choices, current);
  if (names.length === 0) return NOTHING;
  const found = await lookup({ kinds: names, prefix: current, ...getNameScope(line), line });
  const words = found.map((name) => `${name}${suffix}`);
  return { ...filterByPrefix(words, current), ...(suffix !== "" && { isOpen: true }) };
}

/** Derives the scope or queue of names from the first arguments: `undrain host …`, `reset lock NAME --run …`. */
function getNameScope({ given: [kind, name] }: PartialLine): Pick<NameQuery, "scope" | "queue"> {
  const scope = DRAIN_SCOPES.find((one) => one === kind);
  const isQueue = (kind === "lock" || kind === "resource") && name !== undefined;
  return { ...(scope !== undefined && { scope }), ...(isQueue && { queue: { kind, name } }) };
}

function filterByPrefix(
  words: readonly string[],
  prefix: string,
): Extract<CompletionOffer, { kind: "words" }> {
  return { kind: "words", words: words.filter((word) => word.startsWith(prefix)) };
}
