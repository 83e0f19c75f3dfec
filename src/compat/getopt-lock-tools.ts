import { UsageError } from "../base/errors.ts";
import { collectTexts, quoteText } from "../base/text.ts";
import { buildFileLock, formatOneHostNote } from "./lock-tools.ts";
import type { LineTranslator } from "./translated-run.ts";

/** @see flock(1) of util-linux */
const FLOCK_OPTIONS: GetoptSpec = {
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
  const { options, rest } = parseGetopt(words, FLOCK_OPTIONS);
  const given = new Map(options);
  const [file, ...args] = rest;
  refuseFlockOptions(given, file, args);
  const code = given.get("code") ?? "1";
  if (!/^\d{1,3}$/.test(code) || Number(code) > 255)
    throw new UsageError(`flock: -E ${quoteText(code)} is not a number from 0 to 255`);
  const { lock, notes } = buildFileLock("flock", file ?? "");
  return {
    options: ["--lock", lock, ...buildFlockWait(given), "-E", String(Number(code))],
    command: buildCommand(args, variables),
    notes: [
      ...notes,
      ...(given.has("verbose") ? ["--verbose is left out: -v logs what a run waits for"] : []),
    ],
    coversChildren: !given.has("close"),
  };
};

function refuseFlockOptions(
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

function buildFlockWait(given: ReadonlyMap<string, string>): string[] {
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

/** The options of a tool: its short and long names, each mapped to one name. */
interface GetoptSpec {
  tool: string;
  short: Readonly<Record<string, string>>;
  long: Readonly<Record<string, string>>;
  /** Names of options with a value. */
  valued: readonly string[];
}

interface GetoptResult {
  /** Each option with its value, in order. */
  options: readonly (readonly [name: string, value: string])[];
  /** The words from the first one that is not an option. */
  rest: readonly string[];
}

/**
 * Parses words like getopt_long, and stops at the first word that is not an option: `-nw5`, `--timeout=5`,
 * abbreviated long names.
 * @throws UsageError for an unknown option, and for a missing value
 */
function parseGetopt(words: readonly string[], options: GetoptSpec): GetoptResult {
  const found: (readonly [string, string])[] = [];
  const left = [...words];
  for (let word = left[0]; word?.startsWith("-") && word !== "-"; word = left[0]) {
    left.shift();
    if (word === "--") break;
    if (word.startsWith("--")) found.push(parseLongOption(word, left, options));
    else found.push(...parseShortOptions(word, left, options));
  }
  return { options: found, rest: left };
}

function parseLongOption(word: string, left: string[], options: GetoptSpec): readonly [string, string] {
  const { tool, long, valued } = options;
  const [, typed = "", inline] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const meant = new Set(
    Object.keys(long)
      .filter((name) => name.startsWith(typed))
      .map((name) => long[name] ?? name),
  );
  const [only] = meant;
  const name = long[typed] ?? (meant.size === 1 ? only : undefined);
  if (name === undefined || typed === "") throw createUnknownOptionError(tool, `--${typed}`);
  const takes = valued.includes(name);
  if (!takes && inline !== undefined) throw new UsageError(`${tool}: --${typed} takes no value`);
  return [name, takes ? requireValue(tool, `--${typed}`, inline ?? left.shift()) : ""];
}

function parseShortOptions(word: string, left: string[], options: GetoptSpec): (readonly [string, string])[] {
  const { tool, short, valued } = options;
  const found: (readonly [string, string])[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const letter = word[at] ?? "";
    const name = short[letter];
    if (name === undefined) throw createUnknownOptionError(tool, `-${letter}`);
    if (!valued.includes(name)) found.push([name, ""]);
    else {
      const inline = word.slice(at + 1);
      found.push([name, requireValue(tool, `-${letter}`, inline === "" ? left.shift() : inline)]);
      break;
    }
  }
  return found;
}

function createUnknownOptionError(tool: string, option: string): UsageError {
  return new UsageError(`${tool}: unknown option ${quoteText(option)}`);
}

function requireValue(tool: string, option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${tool}: ${option} needs a value`);
  return value;
}

/** @see https://cr.yp.to/daemontools/setlock.html */
const SETLOCK_OPTIONS: GetoptSpec = {
  tool: "setlock",
  short: { n: "no-delay", N: "delay", x: "silent", X: "loud" },
  long: {},
  valued: [],
};

/**
 * Translates a line of daemontools' setlock. The lock name is the file's path, and the lock is shared by all hosts.
 */
export const translateSetlock: LineTranslator = (words) => {
  const { options, rest } = parseGetopt(words, SETLOCK_OPTIONS);
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

/** @see lckdo(1) of moreutils */
const LCKDO_OPTIONS: GetoptSpec = {
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

/** Translates a line of lckdo. */
export const translateLckdo: LineTranslator = (words) => {
  const { options, rest } = parseGetopt(words, LCKDO_OPTIONS);
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
    options: ["--lock", lock, ...buildLckdoWait(given), "-E", EX_TEMPFAIL],
    command,
    notes: [...notes, ...(given.has("no-create") ? ["-n: no file is needed"] : [])],
  };
};

function buildLckdoWait(given: ReadonlyMap<string, string>): string[] {
  const timeout = given.get("timeout");
  if (timeout === undefined) return given.has("wait") ? ["--wait"] : [];
  if (!/^\d{1,9}$/.test(timeout))
    throw new UsageError(`lckdo: -W ${quoteText(timeout)} is not a number of seconds`);
  return Number(timeout) === 0 ? ["--wait"] : [`--wait=${Number(timeout)}s`];
}

/** @see lockf(1) of FreeBSD */
const LOCKF_OPTIONS: GetoptSpec = {
  tool: "lockf",
  short: { k: "keep", n: "no-create", s: "silent", w: "write", p: "pid", t: "timeout" },
  long: {},
  valued: ["timeout"],
};
/** EX_TEMPFAIL, also the default of signalbox. */
const EX_TEMPFAIL = "75";

/** Translates a line of BSD's lockf. */
export const translateLockf: LineTranslator = (words) => {
  const { options, rest } = parseGetopt(words, LOCKF_OPTIONS);
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
      EX_TEMPFAIL,
    ],
    command,
    notes: [...notes, ...(given.has("no-create") ? ["-n: no file is needed"] : [])],
  };
};

/** @see dotlockfile(1) of liblockfile */
const DOTLOCKFILE_OPTIONS: GetoptSpec = {
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
const MANY_ATTEMPTS = "4";

/** Translates a line of dotlockfile with a command. */
export const translateDotlockfile: LineTranslator = (words) => {
  const { options, rest } = parseGetopt(words, DOTLOCKFILE_OPTIONS);
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
    options: ["--lock", lock, ...buildDotlockfileWait(given), "-E", MANY_ATTEMPTS],
    command,
    notes: collectTexts([
      ...notes,
      !given.has("passes") && "the exit code is the command's own; without -P, dotlockfile ends with 0",
    ]),
  };
};

/** Computes the wait. dotlockfile sleeps 5, 10, 15 … 60 seconds between attempts, or always as long as `-i` says. */
function buildDotlockfileWait(given: ReadonlyMap<string, string>): string[] {
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

/** @see sem(1) of GNU parallel */
const SEM_OPTIONS: GetoptSpec = {
  tool: "sem",
  short: { j: "jobs", P: "jobs" },
  long: {
    semaphore: "semaphore",
    fg: "fg",
    bg: "bg",
    jobs: "jobs",
    "max-procs": "jobs",
    wait: "wait",
    id: "id",
    semaphorename: "id",
    st: "timeout",
    semaphoretimeout: "timeout",
    pipe: "pipe",
  },
  valued: ["jobs", "id", "timeout"],
};

/** Translates a line of `sem` or `parallel --semaphore` to a lock, or to a lease of a resource if several may run. */
export const translateSem: LineTranslator = (words, variables) => {
  const { options, rest } = parseGetopt(words, SEM_OPTIONS);
  const given = new Map(options);
  if (given.has("wait") || rest.length === 0)
    throw new UsageError(
      "sem: without a command, it waits for the commands of other lines; signalbox cannot do that",
    );
  return {
    options: buildSemClaim(given),
    command: [variables.get("SHELL") || "/bin/sh", "-c", rest.join(" ")],
    notes: collectTexts([
      formatOneHostNote("sem"),
      !given.has("fg") &&
        "sem ends at once and leaves the command in the background; signalbox run waits for it",
      !given.has("id") &&
        "sem without --id has one semaphore for all such lines of a user: they share the lock sem",
    ]),
  };
};

function buildSemClaim(given: ReadonlyMap<string, string>): string[] {
  const name = `sem.${given.get("id") ?? ""}`.replace(/\.$/, "");
  const jobs = given.get("jobs") ?? "1";
  if (!/^0*[1-9]\d{0,5}$/.test(jobs))
    throw new UsageError(
      `sem: -j ${quoteText(jobs)} depends on the host; write a lease by hand: --no-lock --lease ${name}=1:N`,
    );
  const time = parseSemTimeout(given.get("timeout"));
  if (Number(jobs) === 1)
    return ["--lock", name, time === undefined ? "--wait" : `--wait=${time}`, "-E", "1"];
  const lease = ["--no-lock", "--lease", `${name}=1:${Number(jobs)}`];
  return [...lease, ...(time === undefined ? [] : ["--lease-timeout", time]), "-E", "1"];
}

/**
 * Parses `--st`. A negative value gives up after the timeout. A positive one would then run without the semaphore,
 * which is refused.
 */
function parseSemTimeout(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, seconds] = /^-(\d{1,9})$/.exec(text) ?? [];
  if (seconds === undefined)
    throw new UsageError(
      `sem: --st ${quoteText(text)} takes the semaphore although another command holds it; signalbox never does that: remove it, or write --st -SECONDS`,
    );
  return `${Number(seconds)}s`;
}

/**
 * Parses seconds as other tools accept them, with or without a fraction, and returns a duration for signalbox: `90s`,
 * `1500ms`.
 * @param subject  what the value belongs to, for the message
 * @throws UsageError for anything else
 */
function parseSecondsAsDuration(text: string, subject: string): string {
  const value = /^(?:\d{1,9}(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw new UsageError(`${subject}: ${quoteText(text)} is not a number of seconds`);
  return Number.isInteger(value) ? `${value}s` : `${Math.max(1, Math.round(value * 1000))}ms`;
}
