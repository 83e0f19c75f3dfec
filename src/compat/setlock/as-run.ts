import { UsageError } from "../../base/errors.ts";
import type { Translate } from "../as-run.ts";
import { getopt, type Options } from "../getopt.ts";

/** @see https://cr.yp.to/daemontools/setlock.html */
const OPTIONS: Options = {
  tool: "setlock",
  short: { n: "no-delay", N: "delay", x: "silent", X: "loud" },
  long: {},
  valued: [],
};

/** A line of daemontools' setlock: its lock is the file's path, and it is held on all hosts together. */
export const setlockAsRun: Translate = (words) => {
  const { options, rest } = getopt(words, OPTIONS);
  const [file, ...command] = rest;
  if (file === undefined || command.length === 0)
    throw new UsageError("setlock: a file and a command are needed");
  const last = (names: readonly string[]) => options.findLast(([name]) => names.includes(name))?.[0];
  const waits = last(["no-delay", "delay"]) !== "no-delay";
  return {
    options: [
      ...["--lock", file],
      ...(waits ? ["--wait"] : []),
      ...["-E", last(["silent", "loud"]) === "silent" ? "0" : "111"],
    ],
    command,
    notes: [
      'setlock locks on one host, signalbox run on all of them: while one has the lock the others do not run it (a lock a host: --lock "$(hostname):NAME")',
    ],
  };
};
