import { parseDuration } from "../../base/duration.ts";
import { resolveConfig } from "../../config/config.ts";
import { listFileContexts } from "../../config/contexts.ts";
import { readConfigFiles } from "../../config/files.ts";
import type { Flags } from "../../config/layers.ts";
import { openStore } from "../../etcd/open/open.ts";
import { buildStoreOptions } from "../../etcd/open/store-options.ts";
import { createRealClock } from "../../process/clock.ts";
import { realRandom } from "../../process/random.ts";
import { createKeys } from "../../protocol/keys.ts";
import { CONNECTION_SETTINGS, type Command, type CommandIo } from "../spec.ts";
import { formatBashWord, parseBashLine } from "./bash-line.ts";
import { type CompletionOffer, findCandidates, type NameQuery } from "./candidates.ts";
import { readCompletionNames } from "./names.ts";
import type { PartialLine } from "./partial-line.ts";
import { getFlagValues } from "./partial-line.ts";

/** Longest time from the key press to the answer. The variable SIGNALBOX_COMPLETION_TIMEOUT sets another value. */
const TIMEOUT_MS = 300;
/** The part of it for the shell and for the end of the process. */
const SHELL_MS = 40;
/** Shortest time for etcd, even if the start of the process took all of the time. */
const LEAST_MS = 40;
/** If a member does not answer within this time, another one is asked too. */
const HEDGE_MS = 60;
/** Largest number of candidates; shells handle more badly. */
const MOST = 1_000;

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
  return words.length > MOST ? [...words.slice(0, MOST - 1), ...words.slice(-1)] : words;
}

/** Reads names from etcd, or those of contexts from the configuration files. Returns an empty list on every error: etcd may be unavailable, slow, or refuse access. */
async function readNames(ask: NameQuery, env: CommandIo["env"]): Promise<readonly string[]> {
  try {
    const flags = extractSettings(ask.line, env);
    if (ask.kinds.includes("context")) return listContextNames(flags, env);
    const { values } = resolveConfig({ flags, env });
    const left = computeTimeLeft(env);
    const signal = AbortSignal.timeout(left);
    const ports = { clock: createRealClock(), unit: realRandom.generateFraction };
    // The other transport takes longer to load than the time limit allows.
    const transport = { transport: "http", timeouts: { hedge: HEDGE_MS, total: left } } as const;
    const store = await openStore({ ...buildStoreOptions(values), ...transport }, ports);
    const asked = readCompletionNames(store, createKeys(values.prefix), ask, signal);
    return await Promise.race([asked, rejectOnAbort(signal)]).finally(() => store.close());
  } catch {
    return [];
  }
}

/** Lists the contexts even if the one that is chosen by the line or by a variable does not exist. */
function listContextNames({ config }: Flags, env: CommandIo["env"]): readonly string[] {
  const files = readConfigFiles(typeof config === "string" ? config : env.SIGNALBOX_CONFIG || undefined, env);
  return listFileContexts(files)
    .map(({ name }) => name)
    .sort();
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
      isRepeatable && typed !== true ? [...[given[setting] ?? []].flat(), typed].map(String) : typed;
  }
  return given;
}

/** Rejects when the signal aborts, so that no call exceeds the time limit. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, fail) =>
    signal.addEventListener("abort", () => fail(signal.reason), { once: true }),
  );
}
