import { UsageError } from "../../base/errors.ts";
import { collectTexts, quoteText } from "../../base/text.ts";
import { type GetoptSpec, parseGetopt } from "../getopt.ts";
import { buildFileLock } from "../lock-tools.ts";
import type { LineTranslator } from "../translated-run.ts";

/** @see dotlockfile(1) of liblockfile */
const OPTIONS: GetoptSpec = {
  tool: "dotlockfile",
  short: {
    l: "lock",
    r: "retries",
    i: "interval",
    p: "pid",
    q: "quiet",
    m: "mailbox",
    u: "unlock",
    t: "touch",
    P: "passes",
  },
  long: {},
  valued: ["retries", "interval"],
};
/** Exit code after too many attempts. */
const BUSY = "4";

/** Translates a line of dotlockfile with a command. */
export const translateDotlockfile: LineTranslator = (words) => {
  const { options, rest } = parseGetopt(words, OPTIONS);
  const given = new Map(options);
  if (given.has("mailbox"))
    throw new UsageError("dotlockfile: -m locks the mailbox of this host; keep the line as it is");
  const [file, ...command] = rest;
  if (file === undefined || command.length === 0 || given.has("unlock") || given.has("touch"))
    throw new UsageError(
      "dotlockfile: without a command, it takes or frees a lock for other commands; put those commands into a" +
        " script: signalbox run --lock NAME -- SCRIPT",
    );
  const { lock, notes } = buildFileLock("dotlockfile", file);
  return {
    options: ["--lock", lock, ...buildWaitFlag(given), "-E", BUSY],
    command,
    notes: collectTexts([
      ...notes,
      !given.has("passes") && "the exit code is the command's own; without -P, dotlockfile ends with 0",
    ]),
  };
};

/** Computes the wait. dotlockfile sleeps 5, 10, 15 … 60 seconds between attempts, or always as long as `-i` says. */
function buildWaitFlag(given: ReadonlyMap<string, string>): string[] {
  const retries = parseWholeNumber(given, "retries") ?? 5;
  const interval = parseWholeNumber(given, "interval");
  if (retries < 0) return ["--wait"];
  const sleeps = Array.from({ length: Math.min(retries, 100_000) }, (_, index) =>
    interval === undefined ? Math.min(60, 5 * (index + 1)) : interval,
  );
  const sum = sleeps.reduce((all, one) => all + one, 0);
  return sum === 0 ? [] : [`--wait=${sum}s`];
}

function parseWholeNumber(given: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = given.get(name);
  if (text === undefined) return undefined;
  if (!/^-?\d{1,5}$/.test(text))
    throw new UsageError(`dotlockfile: ${quoteText(text)} is not a whole number of ${name}`);
  return Number(text);
}
