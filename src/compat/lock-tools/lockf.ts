import { UsageError } from "../../base/errors.ts";
import { type GetoptSpec, parseGetopt } from "../getopt.ts";
import { buildFileLock } from "../lock-tools.ts";
import { parseSecondsAsDuration } from "../seconds.ts";
import type { LineTranslator } from "../translated-run.ts";

/** @see lockf(1) of FreeBSD */
const OPTIONS: GetoptSpec = {
  tool: "lockf",
  short: { k: "keep", n: "no-create", s: "silent", w: "write", p: "pid", t: "timeout" },
  long: {},
  valued: ["timeout"],
};
/** EX_TEMPFAIL, also the default of signalbox. */
const BUSY = "75";

/** Translates a line of BSD's lockf. */
export const translateLockf: LineTranslator = (words) => {
  const { options, rest } = parseGetopt(words, OPTIONS);
  const given = new Map(options);
  const [file, ...command] = rest;
  if (file === undefined) throw new UsageError("lockf: no file is given");
  if (command.length === 0)
    throw new UsageError(
      "lockf: the line locks a file that the shell has opened; put the commands that need the lock into a script",
    );
  const { lock, notes } = buildFileLock("lockf", file);
  const timeout = given.get("timeout");
  const wait = timeout === undefined ? undefined : parseSecondsAsDuration(timeout, "lockf: -t");
  return {
    options: [
      "--lock",
      lock,
      ...(wait === undefined ? ["--wait"] : wait === "0s" ? [] : [`--wait=${wait}`]),
      "-E",
      BUSY,
    ],
    command,
    notes: [...notes, ...(given.has("no-create") ? ["-n: no file is needed"] : [])],
  };
};
