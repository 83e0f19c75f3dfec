import { UsageError } from "../base/errors.ts";
import { type GetoptSpec, parseGetopt } from "./getopt.ts";
import { buildFileLock } from "./lock-tools.ts";
import type { LineTranslator } from "./translated-run.ts";

/** @see https://cr.yp.to/daemontools/setlock.html */
const OPTIONS: GetoptSpec = {
  tool: "setlock",
  short: { n: "no-delay", N: "delay", x: "silent", X: "loud" },
  long: {},
  valued: [],
};

/**
 * Translates a line of daemontools' setlock. The lock name is the file's path, and the lock is shared by all hosts.
 */
export const translateSetlock: LineTranslator = (words) => {
  const { options, rest } = parseGetopt(words, OPTIONS);
  const [file, ...command] = rest;
  if (file === undefined || command.length === 0)
    throw new UsageError("setlock: a file and a command are needed");
  const findLastOption = (names: readonly string[]) =>
    options.findLast(([name]) => names.includes(name))?.[0];
  const waits = findLastOption(["no-delay", "delay"]) !== "no-delay";
  const { lock, notes } = buildFileLock("setlock", file);
  return {
    options: [
      "--lock",
      lock,
      ...(waits ? ["--wait"] : []),
      "-E",
      findLastOption(["silent", "loud"]) === "silent" ? "0" : "111",
    ],
    command,
    notes,
    coversChildren: true,
  };
};
