import { UsageError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import { type GetoptSpec, parseGetopt } from "./getopt.ts";
import { buildFileLock } from "./lock-tools.ts";
import { parseSecondsAsDuration } from "./seconds.ts";
import type { LineTranslator } from "./translated-run.ts";

/** @see flock(1) of util-linux */
const OPTIONS: GetoptSpec = {
  tool: "flock",
  short: {
    s: "shared",
    x: "exclusive",
    e: "exclusive",
    u: "unlock",
    n: "nonblock",
    w: "timeout",
    E: "code",
    o: "close",
    F: "no-fork",
    h: "help",
    V: "version",
  },
  long: {
    shared: "shared",
    exclusive: "exclusive",
    unlock: "unlock",
    timeout: "timeout",
    wait: "timeout",
    nonblock: "nonblock",
    nonblocking: "nonblock",
    nb: "nonblock",
    "conflict-exit-code": "code",
    close: "close",
    "no-fork": "no-fork",
    verbose: "verbose",
    help: "help",
    version: "version",
  },
  valued: ["timeout", "code"],
};

/** Translates a line of flock. The lock name is the file's path, and the lock is shared by all hosts. */
export const translateFlock: LineTranslator = (words, variables) => {
  const { options, rest } = parseGetopt(words, OPTIONS);
  const given = new Map(options);
  const [file, ...args] = rest;
  refuseUnsupported(given, file, args);
  const code = given.get("code") ?? "1";
  if (!/^\d{1,3}$/.test(code) || Number(code) > 255)
    throw new UsageError(`flock: -E ${quoteText(code)} is not a number from 0 to 255`);
  const { lock, notes } = buildFileLock("flock", file ?? "");
  return {
    options: ["--lock", lock, ...buildWaitFlag(given), "-E", String(Number(code))],
    command: buildCommand(args, variables),
    notes: [
      ...notes,
      ...(given.has("verbose") ? ["--verbose is left out: -v logs what a run waits for"] : []),
    ],
    coversChildren: !given.has("close"),
  };
};

function refuseUnsupported(
  given: ReadonlyMap<string, string>,
  file: string | undefined,
  args: readonly string[],
): void {
  if (given.has("help") || given.has("version")) throw new UsageError("flock: the line takes no lock");
  if (given.has("unlock"))
    throw new UsageError("flock: -u releases a lock that the shell holds; signalbox cannot do that");
  if (given.has("shared"))
    throw new UsageError(
      "flock: a shared lock (-s) has several holders; use a lease instead: --no-lock --lease NAME=1:READERS, and writers" +
        " --lease NAME=READERS:READERS",
    );
  if (file === undefined) throw new UsageError("flock: no file is given");
  if (args.length > 0) return;
  const hint = /^\d+$/.test(file)
    ? `${file} is a file that the shell has opened; put the commands that need the lock into a script: signalbox run --lock NAME -- SCRIPT`
    : "no command is given";
  throw new UsageError(`flock: ${hint}`);
}

function buildWaitFlag(given: ReadonlyMap<string, string>): string[] {
  const timeout = given.get("timeout");
  const time = timeout === undefined ? undefined : parseSecondsAsDuration(timeout, "flock: -w");
  if (given.has("nonblock") || time === "0s") return [];
  return [time === undefined ? "--wait" : `--wait=${time}`];
}

/** Returns the command. `-c TEXT` after the file goes to $SHELL, as with flock. */
function buildCommand(args: readonly string[], variables: ReadonlyMap<string, string>): readonly string[] {
  const [first = "", text] = args;
  if (first !== "-c" && first !== "--command") return args;
  if (text === undefined || args.length > 2)
    throw new UsageError(`flock: ${first} takes one argument and nothing after it`);
  return [variables.get("SHELL") || "/bin/sh", "-c", text];
}
