import { keysUnder } from "../../protocol/keys.ts";
import { connect } from "../connect.ts";
import { parseCall } from "../parse.ts";
import { type Call, CONNECTION, type Command, type NameKind, type Surroundings } from "../spec.ts";
import { candidates, type Lookup } from "./candidates.ts";
import { namesFrom } from "./names.ts";

/** Who types does not wait longer for names, ms: with the start of the process, it is below 300. */
const PATIENCE = 200;
/** Candidates that are offered; a shell does nothing good with more. */
const MOST = 1_000;

/**
 * Prints what may stand at the cursor, a line each. Whatever goes wrong is passed over in silence: somebody is typing.
 * @param words  behind `signalbox`, the last one begun or empty
 */
export async function complete(
  commands: readonly Command[],
  words: readonly string[],
  world: Surroundings,
): Promise<number> {
  try {
    const found = await candidates(commands, words, lookupWith(words, world));
    world.out(
      found
        .slice(0, MOST)
        .map((line) => `${line}\n`)
        .join(""),
    );
  } catch {
    // nobody wants to read about it now
  }
  return 0;
}

function lookupWith(words: readonly string[], world: Surroundings): Lookup {
  return async (kind: NameKind, prefix: string) => {
    const signal = AbortSignal.timeout(PATIENCE);
    try {
      const connection = await connect({ ...NOTHING, settings: settingsIn(words) }, world);
      try {
        const asked = namesFrom(
          connection.store,
          keysUnder(connection.settings.prefix),
          kind,
          prefix,
          signal,
        );
        return await Promise.race([asked, late(signal)]);
      } finally {
        connection.store.close();
      }
    } catch {
      return [];
    }
  };
}

const NOTHING: Call = { flags: {}, settings: {}, args: [], command: [], verbosity: -1 };

/** How the line being typed says etcd is reached. */
function settingsIn(words: readonly string[]): Call["settings"] {
  const lenient: Command = {
    ...{ id: "", topic: "Run", brief: "", examples: [], settings: CONNECTION },
    args: [{ name: "", help: "", isOptional: true, isRest: true }],
    load: () => Promise.reject(new Error("never run")),
  };
  const flags = words.slice(0, -1).flatMap((word, index, all) => {
    if (word === "-c" || word === "--config") return [word, all[index + 1] ?? ""];
    const [name = ""] = word.split("=");
    const key = CONNECTION.find(
      (setting) => name === `--${setting.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`,
    );
    if (key === undefined) return [];
    return word.includes("=") || all[index + 1] === undefined ? [word] : [word, all[index + 1] ?? ""];
  });
  return parseCall(lenient, flags).settings;
}

/** A member that never answers does not hold up who types. */
function late(signal: AbortSignal): Promise<never> {
  return new Promise((_, fail) =>
    signal.addEventListener("abort", () => fail(signal.reason), { once: true }),
  );
}
