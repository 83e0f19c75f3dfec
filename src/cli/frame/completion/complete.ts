import { parseDuration } from "../../../core/base/clock.ts";
import { clean } from "../../../core/base/text.ts";
import { listNamedContexts, resolveConfig } from "../../../core/config/config.ts";
import type { Flags } from "../../../core/config/layers.ts";
import { openStore } from "../../../core/etcd/open.ts";
import type { Store } from "../../../core/etcd/store.ts";
import { buildStoreOptions } from "../../../core/etcd/store-options.ts";
import { createRealClock } from "../../../core/process/clock.ts";
import { realRandom } from "../../../core/process/random.ts";
import { createKeys, DRAIN_SCOPES, type DrainScope, type Keys } from "../../../core/protocol/keys.ts";
import { encodeName } from "../../../core/protocol/names.ts";
import { buildPrefixRange, computePrefixEnd } from "../../../core/protocol/txn.ts";
import {
  type Argument,
  CONNECTION_SETTINGS,
  type Command,
  type CommandIo,
  type Flag,
  listFlags,
  listSpellings,
  type NameKind,
} from "../command.ts";
import {
  type CompletionValues,
  formatBashWord,
  getArgumentValues,
  getFlagValues,
  type PartialLine,
  parseBashLine,
  parsePartialLine,
} from "./partial-line.ts";

/** Longest time from the key press to the answer. The variable SIGNALBOX_COMPLETION_TIMEOUT sets another value. */
const TIMEOUT_MS = 300;
/** The part of it for the shell and for the end of the process. */
const SHELL_MS = 40;
/** Shortest time for etcd, even if the start of the process took all of the time. */
const LEAST_MS = 40;
/** If a member does not answer within this time, another one is asked too. */
const HEDGE_MS = 60;
/** Largest number of candidates; shells handle more badly. */
const MAX_CANDIDATES = 1_000;

/**
 * Prints the candidates at the cursor: first a line with the kind (`:words`, `:open` for words that are continued,
 * `:files`, `:command`), then one candidate per line. Ignores all errors, because a message would disturb the typed
 * line.
 * @param argv  `-- WORD…`, the words after `signalbox`, the last one incomplete or empty; or `bash LINE BREAKS`, bash's
 * line up to the cursor and its COMP_WORDBREAKS, for which the words are formatted for insertion into that line
 */
export async function complete(
  commands: readonly Command[],
  argv: readonly string[],
  io: CommandIo,
): Promise<number> {
  try {
    io.writeOutput(formatOffer(await findOffer(commands, argv, io.env)));
  } catch {
    // an error message would disturb the typed line
  }
  return 0;
}

async function findOffer(
  commands: readonly Command[],
  [shell, ...rest]: readonly string[],
  env: CommandIo["env"],
): Promise<CompletionOffer> {
  const lookup = async (ask: NameQuery) => await readNames(ask, env);
  if (shell === "--") return await findCandidates(commands, rest, lookup);
  const [text = "", breaks = ""] = rest;
  const line = parseBashLine(text, breaks);
  if (line.isForBash) return { kind: "files" };
  const offer = await findCandidates(commands, line.words.slice(1), lookup);
  return offer.kind === "words"
    ? { ...offer, words: limitWords(offer.words).map((word) => formatBashWord(word, line)) }
    : offer;
}

function formatOffer(offer: CompletionOffer): string {
  if (offer.kind !== "words") return `:${offer.kind}\n`;
  return [offer.isOpen ? ":open" : ":words", ...limitWords(offer.words), ""].join("\n");
}

/** Limits the number of words. The last word stays, so that the common prefix of all words does not change. */
function limitWords(words: readonly string[]): readonly string[] {
  return words.length > MAX_CANDIDATES ? [...words.slice(0, MAX_CANDIDATES - 1), ...words.slice(-1)] : words;
}

/** Reads names from etcd, or those of contexts from the configuration files. Returns an empty list on every error: etcd may be unavailable, slow, or refuse access. */
async function readNames(ask: NameQuery, env: CommandIo["env"]): Promise<readonly string[]> {
  try {
    const flags = extractSettings(ask.line, env);
    if (ask.kinds.includes("context"))
      return listNamedContexts(flags, env)
        .map(({ name }) => name)
        .sort();
    const { values } = resolveConfig({ flags, env });
    const left = computeTimeLeft(env);
    const signal = AbortSignal.timeout(left);
    const ports = { clock: createRealClock(), random: realRandom };
    // The other transport takes longer to load than the time limit allows.
    const transport = { transport: "http", timeouts: { hedge: HEDGE_MS, total: left } } as const;
    const store = await openStore({ ...buildStoreOptions(values), ...transport }, ports);
    const asked = readCompletionNames(store, createKeys(values.prefix), ask, signal);
    return await Promise.race([asked, rejectOnAbort(signal)]).finally(() => store.close());
  } catch {
    return [];
  }
}

/** Returns the time left for etcd, in ms. `performance.now()` counts from the start of the process. */
function computeTimeLeft({ SIGNALBOX_COMPLETION_TIMEOUT: given }: CommandIo["env"]): number {
  const parsed = parseDuration(given ?? "");
  const patience = "value" in parsed ? parsed.value : TIMEOUT_MS;
  return Math.ceil(Math.max(LEAST_MS, patience - SHELL_MS - performance.now()));
}

/** Extracts the connection settings from the line. */
function extractSettings({ flags }: PartialLine, { HOME = "" }: CommandIo["env"]): Flags {
  const given: Record<string, string | boolean | string[]> = {};
  for (const [flag, value] of flags) {
    const { setting, isRepeatable } = flag;
    if (
      setting === undefined ||
      !(setting === "config" || setting === "context" || CONNECTION_SETTINGS.includes(setting))
    )
      continue;
    const typed = getFlagValues(flag).isFile && value !== true ? value.replace(/^~(?=\/)/, HOME) : value;
    given[setting] =
      isRepeatable && typed !== true ? [given[setting] ?? [], typed].flat().map(String) : typed;
  }
  return given;
}

/** Rejects when the signal aborts, so that no call exceeds the time limit. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, fail) =>
    signal.addEventListener("abort", () => fail(signal.reason), { once: true }),
  );
}

const KEYS_PER_PAGE = 1_000;
/** Largest number of pages to read of a collection or a queue. */
const MOST_PAGES = 4;

type RangeReader = Pick<Store, "readRange">;

/** What is read, and how. */
interface NameReading {
  store: RangeReader;
  keys: Keys;
  ask: Omit<NameQuery, "line">;
  signal: AbortSignal;
}

/**
 * Reads the names in etcd with a prefix, sorted. Names that a terminal would not show unchanged are left out. If there
 * are very many, some are left out, but the remaining names never share a longer prefix than all names do: a shell
 * inserts the common prefix without asking.
 * @throws StoreError, the signal's reason
 */
export async function readCompletionNames(
  store: RangeReader,
  keys: Keys,
  ask: Omit<NameQuery, "line">,
  signal: AbortSignal,
): Promise<string[]> {
  const found = await Promise.all(ask.kinds.map((kind) => readKindNames(kind, { store, keys, ask, signal })));
  const fit = found.flat().filter((name) => name.startsWith(ask.prefix) && clean(name) === name);
  return [...new Set(fit)].sort();
}

async function readKindNames(kind: NameKind, reading: NameReading): Promise<string[]> {
  if (kind === "run") return await readRunIds(reading);
  if (kind === "context") return []; // these are in configuration files
  const { keys, ask } = reading;
  const read = listPrefixes(keys, kind, ask).map((keyPrefix) => readKeys(keyPrefix, reading));
  return (await Promise.all(read)).flat().flatMap((key) => {
    const parsed = keys.parse(key);
    return parsed.kind === "unknown" ? [] : [parsed.name];
  });
}

/** Lists the key prefixes under which the names of a kind are stored. */
function listPrefixes(
  keys: Keys,
  kind: Exclude<NameKind, "run" | "context">,
  { scope }: Pick<NameQuery, "scope">,
): string[] {
  const own = keys[`${kind}s`]().key;
  if (kind === "lock") return [own, keys.histories().key];
  if (kind === "resource") return [own, keys.resourceConfigs().key];
  return [kind === "drain" && scope !== undefined ? keys.drain(scope, "") : own];
}

/**
 * Reads the keys of a collection whose names begin with a prefix. Names are encoded byte by byte, so a prefix of a name
 * encodes to a prefix of its key. Further tickets of a queue are skipped.
 */
async function readKeys(keyPrefix: string, { store, ask, signal }: NameReading): Promise<string[]> {
  const found: string[] = [];
  const { key, rangeEnd } = buildPrefixRange(keyPrefix + encodeName(ask.prefix));
  let from = key;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { kvs, more } = await store.readRange(
      { key: from, rangeEnd, keysOnly: true, limit: KEYS_PER_PAGE },
      signal,
    );
    found.push(...kvs.map((one) => one.key));
    const last = found.at(-1);
    if (!more || last === undefined) return found;
    from = computeNextKey(keyPrefix, last);
  }
  return [...found, ...(await readDistantKeys(store, key, rangeEnd, found, signal))];
}

/** Returns the first key that can belong to another name. */
function computeNextKey(keyPrefix: string, key: string): string {
  const slash = key.indexOf("/", keyPrefix.length);
  return slash < 0 ? `${key}\0` : computePrefixEnd(key.slice(0, slash + 1));
}

/** Reads later keys that share a shorter prefix with the first ones than those share among themselves. */
async function readDistantKeys(
  store: RangeReader,
  begun: string,
  rangeEnd: string,
  found: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const others: string[] = [];
  let shared = findCommonPrefix(found[0] ?? "", found.at(-1) ?? ""); // keys are sorted
  while (shared.length > begun.length) {
    const range = { key: computePrefixEnd(shared), rangeEnd, keysOnly: true, limit: 1 };
    const [next] = (await store.readRange(range, signal)).kvs;
    if (next === undefined) break;
    others.push(next.key);
    shared = findCommonPrefix(shared, next.key);
  }
  return others;
}

function findCommonPrefix(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

/**
 * Reads the ids of runs in one queue or in all. Keys do not begin with ids, so all tickets are read. If there are too
 * many, the result is empty, because the only match among some of them could be the wrong run.
 */
async function readRunIds({ store, keys, ask: { queue }, signal }: NameReading): Promise<string[]> {
  const ranges =
    queue === undefined ? [keys.locks(), keys.resources()] : [keys.getQueueRange(queue.kind, queue.name)];
  const limit = KEYS_PER_PAGE * MOST_PAGES;
  const read = ranges.map((range) => store.readRange({ ...range, keysOnly: true, limit }, signal));
  const answers = await Promise.all(read);
  if (answers.some(({ more }) => more)) return [];
  return answers.flatMap(({ kvs }) =>
    kvs.flatMap(({ key }) => {
      const parsed = keys.parse(key);
      return "run" in parsed ? [parsed.run] : [];
    }),
  );
}

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

const NO_WORDS: CompletionOffer = { kind: "words", words: [] };

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
  if (wanted === undefined) return NO_WORDS;
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
  if (names.length === 0) return NO_WORDS;
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
