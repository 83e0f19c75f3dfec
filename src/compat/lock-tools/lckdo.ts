import { UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { type GetoptSpec, parseGetopt } from "../getopt.ts";
import { buildFileLock } from "../lock-tools.ts";
import type { LineTranslator } from "../translated-run.ts";

/** @see lckdo(1) of moreutils */
const OPTIONS: GetoptSpec = {
  tool: "lckdo",
  short: {
    w: "wait",
    W: "timeout",
    e: "exec",
    E: "descriptor",
    n: "no-create",
    q: "quiet",
    s: "shared",
    x: "exclusive",
    t: "test",
  },
  long: {},
  valued: ["timeout", "descriptor"],
};
const TEMPORARY_FAILURE = "75";

/** Translates a line of lckdo. */
export const translateLckdo: LineTranslator = (words) => {
  const { options, rest } = parseGetopt(words, OPTIONS);
  const given = new Map(options);
  const [file, ...command] = rest;
  if (given.has("test"))
    throw new UsageError("lckdo: -t takes no lock; signalbox why lock NAME shows who holds it");
  if (given.has("shared"))
    throw new UsageError(
      "lckdo: a shared lock (-s) has several holders; use a lease instead: --no-lock --lease NAME=1:N",
    );
  if (file === undefined || command.length === 0)
    throw new UsageError("lckdo: a file and a command are needed");
  const { lock, notes } = buildFileLock("lckdo", file);
  return {
    options: ["--lock", lock, ...buildWaitFlag(given), "-E", TEMPORARY_FAILURE],
    command,
    notes: [...notes, ...(given.has("no-create") ? ["-n: no file is needed"] : [])],
  };
};

function buildWaitFlag(given: ReadonlyMap<string, string>): string[] {
  const timeout = given.get("timeout");
  if (timeout === undefined) return given.has("wait") ? ["--wait"] : [];
  if (!/^\d{1,9}$/.test(timeout))
    throw new UsageError(`lckdo: -W ${quoteText(timeout)} is not a number of seconds`);
  return Number(timeout) === 0 ? ["--wait"] : [`--wait=${Number(timeout)}s`];
}
