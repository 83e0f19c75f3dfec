import { parseDuration } from "../../base/duration.ts";
import { resolveConfig } from "../../config/config.ts";
import type { Flags } from "../../config/layers.ts";
import { openStore } from "../../etcd/open.ts";
import { storeOptions } from "../../etcd/store-options.ts";
import { realClock } from "../../process/clock.ts";
import { realRandom } from "../../process/random.ts";
import { keysUnder } from "../../protocol/keys.ts";
import { CONNECTION, type Command, type Surroundings } from "../spec.ts";
import { bashWord, readBashLine } from "./bash-line.ts";
import { type Ask, candidates, type Offer } from "./candidates.ts";
import type { Line } from "./line.ts";
import { namesFrom } from "./names.ts";

/** Who types waits no longer, from the key to the answer; the variable SIGNALBOX_COMPLETION_TIMEOUT sets another time. */
const PATIENCE_MS = 300;
/** What the shell needs of it, and the end of the process. */
const SHELL_MS = 40;
/** Where the start of the process took all of it, etcd gets this; a machine so slow is slow in everything. */
const LEAST_MS = 40;
/** A member that says nothing so long is left for another. */
const HEDGE_MS = 60;
/** Candidates that are offered; a shell does nothing good with more. */
const MOST = 1_000;

/**
 * Prints what may stand at the cursor: a line that says what is meant (`:words`, `:open` for words that more is added to,
 * `:files`, `:command`), then a candidate a line. Whatever goes wrong is passed over in silence: somebody is typing.
 * @param argv  `-- WORD…`, the words behind `signalbox`, the last one begun or empty; or `bash LINE BREAKS`, bash's line
 * up to the cursor and its COMP_WORDBREAKS, which is answered with words as they are to be put into that line
 */
export async function complete(
  commands: readonly Command[],
  argv: readonly string[],
  world: Surroundings,
): Promise<number> {
  try {
    world.out(lines(await offered(commands, argv, world.env)));
  } catch {
    // nobody wants to read about it now
  }
  return 0;
}

async function offered(
  commands: readonly Command[],
  [shell, ...rest]: readonly string[],
  env: Surroundings["env"],
): Promise<Offer> {
  const lookup = async (ask: Ask) => await names(ask, env);
  if (shell === "--") return await candidates(commands, rest, lookup);
  const [text = "", breaks = ""] = rest;
  const line = readBashLine(text, breaks);
  if (line.isForBash) return { kind: "files" };
  const offer = await candidates(commands, line.words.slice(1), lookup);
  return offer.kind === "words"
    ? { ...offer, words: few(offer.words).map((word) => bashWord(word, line)) }
    : offer;
}

function lines(offer: Offer): string {
  if (offer.kind !== "words") return `:${offer.kind}\n`;
  return [offer.isOpen ? ":open" : ":words", ...few(offer.words), ""].join("\n");
}

/** Of very many the last one stays: what all have in common is what the first has with the last. */
function few(words: readonly string[]): readonly string[] {
  return words.length > MOST ? [...words.slice(0, MOST - 1), ...words.slice(-1)] : words;
}

/** Names in etcd, or none: it may be away, mute or closed to us. */
async function names(ask: Ask, env: Surroundings["env"]): Promise<readonly string[]> {
  try {
    const { values } = resolveConfig({ flags: settingsIn(ask.line, env), env });
    const left = timeLeft(env);
    const signal = AbortSignal.timeout(left);
    const ports = { clock: realClock(), unit: realRandom.unit };
    // The other transport takes longer to load than there is time.
    const transport = { transport: "http", timeouts: { hedge: HEDGE_MS, total: left } } as const;
    const store = await openStore({ ...storeOptions(values), ...transport }, ports);
    const asked = namesFrom(store, keysUnder(values.prefix), ask, signal);
    return await Promise.race([asked, late(signal)]).finally(() => store.close());
  } catch {
    return [];
  }
}

/** For etcd, ms. `performance.now()` counts from the start of the process. */
function timeLeft({ SIGNALBOX_COMPLETION_TIMEOUT: given }: Surroundings["env"]): number {
  const parsed = parseDuration(given ?? "");
  const patience = "value" in parsed ? parsed.value : PATIENCE_MS;
  return Math.ceil(Math.max(LEAST_MS, patience - SHELL_MS - performance.now()));
}

/** How the line being typed says that etcd is reached. */
function settingsIn({ flags }: Line, { HOME = "" }: Surroundings["env"]): Flags {
  const given: Record<string, string | boolean | string[]> = {};
  for (const [{ setting, values, isRepeatable }, value] of flags) {
    if (setting === undefined || !(setting === "config" || CONNECTION.includes(setting))) continue;
    const typed = values.isFile && value !== true ? value.replace(/^~(?=\/)/, HOME) : value;
    given[setting] =
      isRepeatable && typed !== true ? [...[given[setting] ?? []].flat(), typed].map(String) : typed;
  }
  return given;
}

/** Whatever a call is waiting for, who types does not. */
function late(signal: AbortSignal): Promise<never> {
  return new Promise((_, fail) =>
    signal.addEventListener("abort", () => fail(signal.reason), { once: true }),
  );
}
