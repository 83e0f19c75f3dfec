import { UsageError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import type { AsRun, Translate } from "../as-run.ts";
import { getopt, type Options } from "../getopt.ts";
import { seconds } from "../seconds.ts";

/** @see flock(1) of util-linux */
const OPTIONS: Options = {
  tool: "flock",
  short: {
    ...{ s: "shared", x: "exclusive", e: "exclusive", u: "unlock", n: "nonblock", w: "timeout" },
    ...{ E: "code", o: "close", F: "no-fork", h: "help", V: "version" },
  },
  long: {
    ...{ shared: "shared", exclusive: "exclusive", unlock: "unlock", timeout: "timeout", wait: "timeout" },
    ...{ nonblock: "nonblock", nonblocking: "nonblock", nb: "nonblock", "conflict-exit-code": "code" },
    ...{ close: "close", "no-fork": "no-fork", verbose: "verbose", help: "help", version: "version" },
  },
  valued: ["timeout", "code"],
};

/** A line of flock: its lock is the file's path, and it is held on all hosts together. */
export const flockAsRun: Translate = (words, variables) => {
  const { options, rest } = getopt(words, OPTIONS);
  const given = new Map(options);
  const [file, ...args] = rest;
  refuse(given, file, args);
  const code = given.get("code") ?? "1";
  if (!/^\d{1,3}$/.test(code) || Number(code) > 255)
    throw new UsageError(`flock: -E ${quoted(code)} is not a number from 0 to 255`);
  return {
    options: [...["--lock", file ?? ""], ...patience(given), ...["-E", String(Number(code))]],
    command: commandOf(args, variables),
    notes: notesOf(given),
  };
};

function refuse(given: ReadonlyMap<string, string>, file: string | undefined, args: readonly string[]): void {
  if (given.has("help") || given.has("version")) throw new UsageError("flock: it locks nothing");
  if (given.has("unlock"))
    throw new UsageError("flock: -u gives up a lock that the shell holds; nothing of ours does that");
  if (given.has("shared"))
    throw new UsageError(
      "flock: a shared lock (-s) has several holders; a lease has too: --no-lock --lease NAME=1:READERS, and writers" +
        " --lease NAME=READERS:READERS",
    );
  if (file === undefined) throw new UsageError("flock: no file is given");
  if (args.length > 0) return;
  const hint = /^\d+$/.test(file)
    ? `${file} is a file that the shell has opened; put what is done under the lock into a script: signalbox run --lock NAME -- SCRIPT`
    : "no command is given";
  throw new UsageError(`flock: ${hint}`);
}

function patience(given: ReadonlyMap<string, string>): string[] {
  const timeout = given.get("timeout");
  const time = timeout === undefined ? undefined : seconds(timeout, "flock: -w");
  if (given.has("nonblock") || time === "0s") return [];
  return [time === undefined ? "--wait" : `--wait=${time}`];
}

/** `-c TEXT` behind the file goes to $SHELL, as flock has it. */
function commandOf(args: readonly string[], variables: ReadonlyMap<string, string>): readonly string[] {
  const [first = "", text] = args;
  if (first !== "-c" && first !== "--command") return args;
  if (text === undefined || args.length > 2)
    throw new UsageError(`flock: ${first} takes one text and nothing after it`);
  return [variables.get("SHELL") || "/bin/sh", "-c", text];
}

function notesOf(given: ReadonlyMap<string, string>): AsRun["notes"] {
  const notes = [
    'flock locks on one host, signalbox run on all of them: while one has the lock the others do not run it (a lock a host: --lock "$(hostname):NAME")',
  ];
  if (given.has("verbose")) notes.push("--verbose is left out: -v tells what a run waits for");
  return notes;
}
