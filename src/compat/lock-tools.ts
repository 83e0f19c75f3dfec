import { createHash } from "node:crypto";
import { findCommandName, removeReleaseNames } from "../cli/syntax/command-name.ts";
import { type OptionSyntax, type ParsedWord, parseToolWords } from "../cli/syntax/getopt.ts";
import { CHPST_VALUED, type LockToolName } from "../cli/syntax/lock-tools.ts";
import { UsageError } from "../core/base/errors.ts";
import { collectTexts, quoteText } from "../core/base/text.ts";
import { SETTINGS } from "../core/config/settings.ts";
import { computeSmallestTtl } from "../core/config/ttl.ts";
import { translateCronlock, translateGolock } from "./cronlock/options.ts";
import type { LineTranslator, ToolContext, TranslatedRun } from "./front-end.ts";
import { translateSwitchman } from "./switchman/options.ts";
import { translateZooLocked } from "./zoo-locked/options.ts";

interface LockTool extends OptionSyntax {
  /** Options that signalbox cannot replace, each with the reason. */
  refuses?: Readonly<Record<string, string>>;
  translate: (line: ToolLine) => TranslatedRun;
}

/** The words of a tool, parsed. */
interface ToolLine extends ToolContext {
  words: readonly string[];
  /** In the order of the line. */
  options: readonly ParsedWord[];
  args: readonly string[];
}

/** A tool that locks a file while a command runs. Its options differ from those of the others, its effect does not. */
interface FileLockTool extends Omit<LockTool, "translate"> {
  /** Finds the file and the command; by default, the command follows the file. */
  locate?: (line: ToolLine) => FileLockLine;
  /** What is wrong if the file or the command is missing. */
  missing: string | ((found: FileLockLine) => string);
  /** Exit code if the lock is taken. */
  busy: (line: ToolLine) => string;
  /** How long the tool waits for the lock: `0s`, `90s`, or `forever`. */
  wait: (line: ToolLine) => string;
  isShared?: (line: ToolLine) => boolean;
  notes?: (line: ToolLine) => readonly (string | false)[];
  coversChildren?: (line: ToolLine) => boolean;
}

interface FileLockLine {
  file: string | undefined;
  command: readonly string[];
}

const EX_TEMPFAIL = "75";
const NO_FILE_NEEDED = "-n: no file is needed";
const WITH_COMMAND = "a file and a command are needed";
const WITH_MODE = "one of -w, -f and -q, a file and a command are needed";
const WITHOUT_COMMAND =
  "without a command, it takes or frees a lock for other commands; put those commands into a script: signalbox run" +
  " --lock NAME -- SCRIPT";

const FILE_LOCKS = {
  /** @see flock(1) of util-linux */
  flock: defineFileLock({
    tool: "flock",
    options: [
      "-s --shared",
      "-x -e --exclusive",
      "-u --unlock",
      "-n --nonblock --nonblocking --nb",
      "-w --timeout --wait SECONDS",
      "-E --conflict-exit-code CODE",
      "-o --close",
      "-F --no-fork",
      "--verbose",
      "-h --help",
      "-V --version",
    ],
    refuses: {
      help: "the line takes no lock",
      version: "the line takes no lock",
      unlock: "-u releases a lock that the shell holds; signalbox cannot do that",
    },
    missing: ({ file }) =>
      file === undefined
        ? "no file is given"
        : /^\d+$/.test(file)
          ? `${file} is a file that the shell has opened; put the commands that need the lock into a script: signalbox run --lock NAME -- SCRIPT`
          : "no command is given",
    locate: ({ args: [file, ...words], variables }) => ({
      file,
      command: buildFlockCommand(words, variables),
    }),
    busy: (line) => parseFlockCode(getValue(line, "conflict-exit-code") ?? "1"),
    wait: (line) => {
      const time = parseSeconds("flock: -w:", getValue(line, "timeout"));
      return has(line, "nonblock") ? "0s" : (time ?? "forever");
    },
    isShared: (line) => getLast(line, "shared", "exclusive") === "shared",
    notes: (line) => [has(line, "verbose") && "--verbose is left out: -v logs what a run waits for"],
    coversChildren: (line) => !has(line, "close"),
  }),
  /** @see https://cr.yp.to/daemontools/setlock.html */
  setlock: defineFileLock({
    tool: "setlock",
    options: ["-n", "-N", "-x", "-X"],
    missing: WITH_COMMAND,
    busy: (line) => (getLast(line, "x", "X") === "x" ? "0" : "111"),
    wait: (line) => (getLast(line, "n", "N") === "n" ? "0s" : "forever"),
    coversChildren: () => true,
  }),
  /** @see lckdo(1) of moreutils */
  lckdo: defineFileLock({
    tool: "lckdo",
    options: ["-w", "-W SECONDS", "-e", "-E DESCRIPTOR", "-n", "-q", "-s", "-x", "-t"],
    refuses: { t: "-t takes no lock; signalbox why lock NAME shows who holds it" },
    missing: WITH_COMMAND,
    busy: () => EX_TEMPFAIL,
    wait: (line) => {
      const seconds = parseWholeSeconds("lckdo: -W", getValue(line, "W"));
      if (seconds === undefined) return has(line, "w") ? "forever" : "0s";
      return seconds === 0 ? "forever" : `${seconds}s`;
    },
    isShared: (line) => getLast(line, "s", "x") === "s",
    notes: (line) => [has(line, "n") && NO_FILE_NEEDED],
  }),
  /** @see lockf(1) of FreeBSD */
  lockf: defineFileLock({
    tool: "lockf",
    options: ["-k", "-n", "-s", "-w", "-p", "-t SECONDS"],
    missing: ({ file }) =>
      file === undefined
        ? "no file is given"
        : "the line locks a file that the shell has opened; put the commands that need the lock into a script",
    busy: () => EX_TEMPFAIL,
    wait: (line) => parseSeconds("lockf: -t:", getValue(line, "t")) ?? "forever",
    notes: (line) => [has(line, "n") && NO_FILE_NEEDED],
  }),
  /** @see dotlockfile(1) of liblockfile */
  dotlockfile: defineFileLock({
    tool: "dotlockfile",
    options: ["-l", "-r RETRIES", "-i INTERVAL", "-p", "-q", "-m", "-u", "-t", "-P"],
    refuses: {
      m: "-m locks the mailbox of this host; keep the line as it is",
      u: WITHOUT_COMMAND,
      t: WITHOUT_COMMAND,
    },
    missing: WITHOUT_COMMAND,
    busy: () => "4", // too many attempts
    wait: computeDotlockfileWait,
    notes: (line) => [
      !has(line, "P") && "the exit code is the command's own; without -P, dotlockfile ends with 0",
    ],
  }),
  /** @see http://unixwiz.net/tools/lockrun.html; later versions have a quiet mode, under different names */
  lockrun: defineFileLock({
    tool: "lockrun",
    options: [
      "-L --lockfile FILE",
      "-W --wait",
      "-S --sleep SECONDS",
      "-T --maxtime SECONDS",
      "-V --verbose",
      "-I -Q --quiet --idempotent",
    ],
    locate: ({ words, options, args }) => ({
      file: options.findLast(({ name }) => name === "lockfile")?.value.replace(/^=/, ""),
      command: words.at(-1 - args.length) === "--" ? args : [],
    }),
    missing: ({ command }) =>
      command.length === 0 ? "-- and a command are needed" : "--lockfile is missing",
    busy: (line) => (has(line, "quiet") ? "0" : "1"),
    wait: (line) => (has(line, "wait") ? "forever" : "0s"),
    notes: (line) => {
      const left = ["sleep", "maxtime", "verbose"]
        .filter((name) => has(line, name))
        .map((name) => `--${name}`);
      return [
        "the exit code is the command's own; some versions of lockrun always end with 0",
        left.length > 0 && `${left.join(", ")}: left out`,
      ];
    },
  }),
  /** @see with-lock-ex(1) of chiark-utils */
  "with-lock-ex": defineFileLock({
    tool: "with-lock-ex",
    options: ["-w", "-f", "-q"],
    locate: ({ options, args: [file, ...command] }) => ({
      file: options.length === 0 ? undefined : file,
      command,
    }),
    missing: WITH_MODE,
    createError: () => new UsageError(`with-lock-ex: ${WITH_MODE}`),
    busy: (line) => (has(line, "q") ? "0" : "255"),
    wait: (line) => (has(line, "w") ? "forever" : "0s"),
  }),
  /** @see chpst(8) of runit: -l and -L take a lock, its other effects stay inside it */
  chpst: defineFileLock({
    tool: "chpst",
    options: [..."vVP012"]
      .map((letter) => `-${letter}`)
      .concat([...CHPST_VALUED].map((letter) => `-${letter} VALUE`)),
    locate: (line) => ({
      file: line.options.findLast(({ name }) => name === "l" || name === "L")?.value,
      command: keepChpst(line),
    }),
    missing: "-l or -L, and a program are needed",
    busy: () => "111",
    wait: (line) => (getLast(line, "l", "L") === "l" ? "forever" : "0s"),
    coversChildren: () => true,
  }),
};

function getValue({ options }: ToolLine, name: string): string | undefined {
  return options.findLast((option) => option.name === name)?.value;
}

function has(line: ToolLine, name: string): boolean {
  return getValue(line, name) !== undefined;
}

/** Returns which of two opposite options comes last. */
function getLast({ options }: ToolLine, one: string, other: string): string | undefined {
  return options.findLast(({ name }) => name === one || name === other)?.name;
}

/** Parses a tool's words, then translates them. @throws UsageError for what signalbox cannot replace */
function defineTool(tool: LockTool): LineTranslator {
  return (words, context) => {
    const parsed = [...parseToolWords(words, tool)];
    const options = parsed.filter(({ name }) => name !== undefined);
    const args = parsed.filter(({ name }) => name === undefined).map(({ value }) => value);
    const line: ToolLine = { ...context, words, options, args };
    for (const [name, reason] of Object.entries(tool.refuses ?? {}))
      if (has(line, name)) throw new UsageError(`${tool.tool}: ${reason}`);
    return tool.translate(line);
  };
}

function defineFileLock(tool: FileLockTool): LineTranslator {
  return defineTool({ ...tool, translate: (line) => translateFileLock(tool, line) });
}

function translateFileLock(tool: FileLockTool, line: ToolLine): TranslatedRun {
  const found = tool.locate?.(line) ?? { file: line.args[0], command: line.args.slice(1) };
  const { file, command } = found;
  if (file === undefined || command.length === 0) {
    const { missing } = tool;
    throw new UsageError(`${tool.tool}: ${typeof missing === "string" ? missing : missing(found)}`);
  }
  const { lock, notes } = buildFileLock(tool.tool, file);
  const busy = tool.busy(line);
  const isShared = tool.isShared?.(line) === true;
  return {
    options: ["--lock", lock, ...(isShared ? ["--shared"] : []), ...formatWait(tool.wait(line)), "-E", busy],
    command,
    notes: collectTexts([
      ...notes,
      isShared &&
        `${tool.tool} -s passes a line that waits for the lock alone; signalbox run --shared does not: first come, first served`,
      ...(tool.notes?.(line) ?? []),
    ]),
    coversChildren: tool.coversChildren?.(line) ?? false,
  };
}

/** @param time  a duration, or `forever` */
function formatWait(time: string): string[] {
  if (time === "0s") return [];
  return [time === "forever" ? "--wait" : `--wait=${time}`];
}

/** Matches a relative path. A path that starts with an expansion may be absolute. */
const RELATIVE_PATH = /^[^/~\ue000-\uf8ff]/;

/** Builds the lock for a file. Lines with the same file share one lock, even with different tools. */
function buildFileLock(tool: string, path: string): { lock: string; notes: readonly string[] } {
  const file = normalizePath(path);
  const lock = removeReleaseNames(file);
  return {
    lock,
    notes: collectTexts([
      formatOneHostNote(tool),
      /^\/(?:run\/lock|var\/run)\//.test(path) &&
        "the lock has the usual name of the same file: /var/lock for /run/lock, /run for /var/run",
      RELATIVE_PATH.test(path) &&
        `${quoteText(path)} is a different file in each folder, but one lock here: give the lines of each folder a lock name of their own`,
      lock !== file &&
        "the lock name leaves out the release, so that it stays the same with the next release",
    ]),
  };
}

/** What a job needs whose lock becomes one of all hosts. */
export const SHORT_JOB = "a short job also needs --grace 50s, or a host whose clock is late runs it again";

/** Returns the note that a lock on one host becomes a lock on all hosts. */
function formatOneHostNote(tool: string): string {
  return `${tool} locks on one host, signalbox run on all hosts: while one host has the lock, the others do not run the command (for a lock per host: --lock "$(hostname):NAME"); ${SHORT_JOB}`;
}

/** Normalizes paths of the same file on Linux: /var/lock leads to /run/lock, and /var/run to /run. */
function normalizePath(path: string): string {
  return path
    .replace(/\/{2,}/g, "/")
    .replace(/\/(?:\.\/)+/g, "/")
    .replace(/^\/(?:var\/)?run\/lock\//, "/var/lock/")
    .replace(/^\/var\/run\//, "/run/");
}

/** `-c TEXT` after the file goes to $SHELL, as with flock. */
function buildFlockCommand(words: readonly string[], variables: ToolContext["variables"]): readonly string[] {
  const [first = "", text] = words;
  if (first !== "-c" && first !== "--command") return words;
  if (text === undefined || words.length > 2)
    throw new UsageError(`flock: ${first} takes one argument and nothing after it`);
  return buildShellCommand(text, variables);
}

function buildShellCommand(text: string, variables: ToolContext["variables"]): readonly string[] {
  return [variables.get("SHELL") || "/bin/sh", "-c", text];
}

function parseFlockCode(code: string): string {
  if (/^\d{1,3}$/.test(code) && Number(code) <= 255) return String(Number(code));
  throw new UsageError(`flock: -E ${quoteText(code)} is not a number from 0 to 255`);
}

/** Computes the wait. dotlockfile sleeps 5, 10, 15 … 60 seconds between attempts, or always as long as `-i` says. */
function computeDotlockfileWait(line: ToolLine): string {
  const retries = parseWholeNumber("retries", getValue(line, "r")) ?? 5;
  const interval = parseWholeNumber("interval", getValue(line, "i"));
  if (retries < 0) return "forever";
  const sleeps = Array.from(
    { length: Math.min(retries, 100_000) },
    (_, index) => interval ?? Math.min(60, 5 * (index + 1)),
  );
  return `${sleeps.reduce((all, one) => all + one, 0)}s`;
}

function parseWholeNumber(what: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^-?\d{1,5}$/.test(text)) return Number(text);
  throw new UsageError(`dotlockfile: ${quoteText(text)} is not a whole number of ${what}`);
}

/** Returns the command with the other options of chpst, which stay with it. */
function keepChpst({ options, args, program }: ToolLine): readonly string[] {
  const others = options
    .filter(({ name }) => name !== "l" && name !== "L")
    .flatMap(({ name, value }) => (value === "" ? [`-${name}`] : [`-${name}`, value]));
  return others.length === 0 || args.length === 0 ? args : [program, ...others, ...args];
}

/** Parses seconds, with or without a fraction. @param subject  what the value belongs to, for the message */
function parseSeconds(subject: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const value = /^(?:\d{1,9}(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw new UsageError(`${subject} ${quoteText(text)} is not a number of seconds`);
  return Number.isInteger(value) ? `${value}s` : `${Math.max(1, Math.round(value * 1000))}ms`;
}

function parseWholeSeconds(subject: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${subject} ${quoteText(text)} is not a number of seconds`);
}

/** Claims a lock, or one unit of a resource if several may hold it. @param wait  undefined: forever */
function buildClaim(name: string, holders: number, wait: string | undefined): string[] {
  if (holders === 1) return ["--lock", name, ...formatWait(wait ?? "forever")];
  const lease = ["--no-lock", "--lease", `${name}=1:${holders}`];
  return wait === undefined ? lease : [...lease, "--lease-timeout", wait];
}

/** `sem` or `parallel --semaphore`. @see sem(1) of GNU parallel */
const translateSem = defineTool({
  tool: "sem",
  options: [
    "--semaphore",
    "--fg",
    "--bg",
    "-j -P --jobs --max-procs N",
    "--wait",
    "--id --semaphorename NAME",
    "--st --semaphoretimeout SECONDS",
    "--pipe",
  ],
  translate: (line) => {
    const { args, variables } = line;
    if (has(line, "wait") || args.length === 0)
      throw new UsageError(
        "sem: without a command, it waits for the commands of other lines; signalbox cannot do that",
      );
    return {
      options: [...buildSemClaim(line), "-E", "1"],
      command: buildShellCommand(args.join(" "), variables),
      notes: collectTexts([
        formatOneHostNote("sem"),
        !has(line, "fg") &&
          "sem ends at once and leaves the command in the background; signalbox run waits for it",
        !has(line, "id") &&
          "sem without --id has one semaphore for all such lines of a user: they share the lock sem",
      ]),
    };
  },
});

function buildSemClaim(line: ToolLine): string[] {
  const name = `sem.${getValue(line, "id") ?? ""}`.replace(/\.$/, "");
  const jobs = getValue(line, "jobs") ?? "1";
  if (!/^0*[1-9]\d{0,5}$/.test(jobs))
    throw new UsageError(
      `sem: -j ${quoteText(jobs)} depends on the host; write a lease by hand: --no-lock --lease ${name}=1:N`,
    );
  return buildClaim(name, Number(jobs), parseSemTimeout(getValue(line, "st")));
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

/** EADDRINUSE, the exit code of Perl's `die` in that case. */
const SOLO_BUSY = "98";

/** The lock of solo is a port of the loopback interface. A switch without a value is 1. @see https://timkay.com/solo/ */
const translateSolo = defineTool({
  tool: "solo",
  style: "go",
  options: ["-port", "-noport", "-silent", "-verbose", "-timeout", "-sleep"],
  translate: (line) => {
    const port = getValue(line, "port") || "1";
    if (!has(line, "port") || has(line, "noport") || !/^\d+$/.test(port))
      throw new UsageError("solo: -port=PORT is missing, so the line takes no lock");
    if (line.args.length === 0) throw new UsageError("solo: no command is given");
    return {
      options: [
        "--lock",
        `solo.${Number(port)}`,
        "-E",
        has(line, "silent") ? "0" : SOLO_BUSY,
        ...buildSoloDuration(line, "timeout", "--timeout"),
        ...buildSoloDuration(line, "sleep", "--grace"),
      ],
      command: line.args,
      notes: collectTexts([
        formatOneHostNote("solo"),
        "solo has a lock for each user's port; this lock is for all users",
        has(line, "sleep") &&
          "-sleep: the command starts at once, and the lock is kept for that time instead",
      ]),
      coversChildren: true,
    };
  },
});

function buildSoloDuration(line: ToolLine, name: string, flag: string): string[] {
  const seconds = has(line, name) ? parseWholeSeconds("solo:", getValue(line, name) || "1") : 0;
  return seconds === 0 ? [] : [flag, `${seconds}s`];
}

/** Matches characters that stand for expansions. */
const EXPANSIONS = /[\ue000-\uf8ff]/g;

/** The lock of run-one is that of the command with its arguments. @see run-one(1) of Ubuntu */
const translateRunOne: LineTranslator = (words) => {
  const [file] = words;
  if (file === undefined) throw new UsageError("run-one: no command is given");
  const text = words.join(" ");
  const digest = createHash("sha512")
    .update(removeReleaseNames(text.replace(EXPANSIONS, "?")))
    .digest("hex");
  const name = findCommandName([{ words }])?.replace(EXPANSIONS, "").replace(/\s+/g, "-") || "job";
  return {
    options: ["--lock", `run-one.${name.slice(0, 60)}-${digest.slice(0, 8)}`, "-E", "1"],
    command: words,
    notes: collectTexts([
      formatOneHostNote("run-one"),
      "run-one has a lock for each user; this lock is for all users",
      text.search(EXPANSIONS) >= 0 && "the lock name leaves out what only the shell knows",
    ]),
    coversChildren: true,
  };
};

/** Options of etcdctl without a meaning for a lock. */
const ETCDCTL_IDLE = [
  "command-timeout",
  "keepalive-time",
  "keepalive-timeout",
  "write-out",
  "w",
  "debug",
  "hex",
];
const ETCDCTL_OURS = ["endpoints", "cacert", "cert", "key"];
const NO_COUNTERPART = "has no counterpart; name etcd's members with --endpoints";

/** signalbox reads etcdctl's own variables (ETCDCTL_ENDPOINTS, …) unchanged. @see etcdctl's README, "LOCK" */
const translateEtcdctl = defineTool({
  tool: "etcdctl",
  style: "go",
  isInterspersed: true,
  options: [
    "-ttl SECONDS",
    "-endpoints URLS",
    "-user NAME",
    "-password TEXT",
    "-cacert FILE",
    "-cert FILE",
    "-key FILE",
    "-dial-timeout DURATION",
    "-command-timeout DURATION",
    "-keepalive-time DURATION",
    "-keepalive-timeout DURATION",
    "-discovery-srv DOMAIN",
    "-discovery-srv-name NAME",
    "-auth-jwt-token TEXT",
    "-write-out FORMAT",
    "-w FORMAT",
    "-insecure-transport",
    "-insecure-discovery",
    "-insecure-skip-tls-verify",
    "-debug",
    "-hex",
    "-help",
    "-h",
    "-max-request-bytes N",
    "-max-recv-bytes N",
  ],
  refuses: {
    "discovery-srv": `--discovery-srv ${NO_COUNTERPART}`,
    "discovery-srv-name": `--discovery-srv-name ${NO_COUNTERPART}`,
    "insecure-discovery": `--insecure-discovery ${NO_COUNTERPART}`,
    "auth-jwt-token": `--auth-jwt-token ${NO_COUNTERPART}`,
    help: "the line takes no lock",
    h: "the line takes no lock",
  },
  translate: (line) => {
    const [verb, name, ...command] = line.args;
    if (verb !== "lock") throw new UsageError("etcdctl: only etcdctl lock can be translated");
    if (name === undefined) throw new UsageError("etcdctl: no lock name is given");
    if (command.length === 0)
      throw new UsageError(
        "etcdctl: without a command, etcdctl holds the lock until it is ended; put the commands that need the lock after signalbox run",
      );
    const user = parseUser(getValue(line, "user"), getValue(line, "password"));
    return {
      options: [
        "--lock",
        name,
        "--wait",
        ...buildTtlFlag(parseWholeSeconds("etcdctl: --ttl", getValue(line, "ttl"))),
        ...ETCDCTL_OURS.flatMap((key) => buildFlag(`--${key}`, getValue(line, key))),
        ...buildFlag("--connect-timeout", getValue(line, "dial-timeout")),
        ...buildFlag("--user", user.name),
        ...(isOn(line, "insecure-skip-tls-verify") ? ["--insecure-skip-tls-verify"] : []),
      ],
      ...(user.password !== undefined && { env: { SIGNALBOX_PASSWORD: user.password } }),
      command,
      notes: collectTexts([
        `the lock differs from etcdctl's: its keys begin with ${quoteText(name)}, those of signalbox with its prefix; old and new lines do not wait for each other`,
        "the command gets SIGNALBOX_LOCK_KEY and SIGNALBOX_TOKEN instead of ETCD_LOCK_KEY and ETCD_LOCK_REV, and it is ended when the lock is lost",
        formatLeftOut(line, ETCDCTL_IDLE, "--", "signalbox run has no equivalent"),
      ]),
    };
  },
});

/** Formats the note about options that the new line does not have. */
function formatLeftOut(
  line: ToolLine,
  names: readonly string[],
  dashes: string,
  why: string,
): string | false {
  const left = names.filter((name) => has(line, name)).map((name) => `${dashes}${name}`);
  return left.length > 0 && `${left.join(", ")}: left out, since ${why}`;
}

function buildFlag(flag: string, value: string | undefined): string[] {
  return value === undefined ? [] : [flag, value];
}

/**
 * Builds the ttl flag. The ttl must be longer than the termination timeout, so a smaller value, such as etcdctl's
 * default of 10, is raised to the minimum. Without `--ttl`, the default of signalbox applies.
 */
function buildTtlFlag(seconds: number | undefined): string[] {
  if (seconds === undefined) return [];
  const least = computeSmallestTtl(SETTINGS.terminationTimeout.default) / 1000;
  return ["--ttl", `${Math.max(least, seconds)}s`];
}

/** Parses `NAME:PASSWORD`, or a name and the password of its own option. */
function parseUser(user: string | undefined, password: string | undefined) {
  const at = user?.indexOf(":") ?? -1;
  if (user === undefined) return {};
  return password !== undefined || at < 0
    ? { name: user, password }
    : { name: user.slice(0, at), password: user.slice(at + 1) };
}

/** Whether a switch of a Go program is on. @throws UsageError if its value is neither true nor false */
function isOn(line: ToolLine, name: string, standard = false): boolean {
  const value = getValue(line, name);
  if (value === undefined) return standard;
  if (/^(1|t|T|true|TRUE|True|)$/.test(value)) return true;
  if (/^(0|f|F|false|FALSE|False)$/.test(value)) return false;
  throw new UsageError(`-${name}: ${quoteText(value)} is neither true nor false`);
}

/** Options for the connection to Consul, which are dropped because etcd is used instead. */
const CONSUL_CONNECTION = [
  "http-addr",
  "token",
  "token-file",
  "ca-file",
  "ca-path",
  "client-cert",
  "client-key",
  "tls-server-name",
  "datacenter",
  "namespace",
  "partition",
];

/** With `-n` above 1 it becomes a lease of a resource instead of a lock. @see https://developer.hashicorp.com/consul/commands/lock */
const translateConsulLock = defineTool({
  tool: "consul lock",
  style: "go",
  options: [
    "-n HOLDERS",
    "-name NAME",
    "-timeout DURATION",
    "-try DURATION",
    "-monitor-retry N",
    "-child-exit-code",
    "-pass-stdin",
    "-shell",
    "-verbose",
    "-stale",
    ...CONSUL_CONNECTION.map((name) => `-${name} VALUE`),
  ],
  translate: (line) => {
    const [path = "", ...words] = line.args;
    const name = path.replace(/^\//, "");
    if (name === "" || words.length === 0)
      throw new UsageError("consul lock: a prefix and a command are needed");
    const holders = parseHolders(getValue(line, "n") ?? "1");
    const wait = parseGoDuration(getValue(line, "timeout") ?? getValue(line, "try") ?? "0");
    return {
      options: [
        ...buildClaim(name, holders, wait),
        "-E",
        "1",
        ...buildFlag("--label", getValue(line, "name") || undefined),
      ],
      command: isOn(line, "shell", true) ? buildShellCommand(words.join(" "), line.variables) : words,
      notes: collectTexts([
        isOn(line, "child-exit-code")
          ? "the exit code is the command's own instead of 2"
          : "the exit code is the command's own; consul lock always ends with 0",
        "the command gets SIGNALBOX_LOCK_KEY instead of CONSUL_LOCK_HELD",
        holders > 1 &&
          `a semaphore becomes a lease of 1 of ${holders} units of a resource, first come, first served`,
        formatLeftOut(
          line,
          [...CONSUL_CONNECTION, "monitor-retry", "verbose", "stale"],
          "-",
          "the lock is in etcd and not in Consul",
        ),
      ]),
    };
  },
});

function parseHolders(text: string): number {
  if (/^0*[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`consul lock: -n ${quoteText(text)} is not a number of 1 or more`);
}

const GO_UNITS = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

/** Converts a Go duration, such as `1m30s` or `1.5h`, to one of signalbox; undefined for 0, which has no limit. */
function parseGoDuration(text: string): string | undefined {
  if (text === "0") return undefined;
  if (!/^\+?(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/.test(text))
    throw new UsageError(`consul lock: -timeout ${quoteText(text)} is not a duration such as 30s or 1h`);
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  const ms = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * GO_UNITS[unit as keyof typeof GO_UNITS],
    0,
  );
  if (ms === 0) return undefined;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${Math.ceil(ms)}ms`;
}

const translateConsul: LineTranslator = ([verb, ...words], context) => {
  if (verb !== "lock") throw new UsageError("consul: only consul lock can be translated");
  return translateConsulLock(words, context);
};

/** Refuses tools that take a lock for the commands after them, until another command removes the file. */
const refuseTwoSteps: LineTranslator = (_words, { program }) => {
  throw new UsageError(
    `${program} takes a lock for the commands after it; put these commands into a script: signalbox run --lock NAME -- SCRIPT`,
  );
};

/** run-this-one ends the running command and starts it again: several hosts would end each other's commands. */
const refuseRunThisOne: LineTranslator = () => {
  throw new UsageError(
    "run-this-one: it ends the previous run and starts its own; lines on several hosts would end each other's runs. By" +
      " hand, if one host has the line: signalbox reset lock NAME --yes; signalbox run --lock NAME --wait -- COMMAND. Or a" +
      " schedule with --overlap replace",
  );
};

const refuseKeepRunning: LineTranslator = () => {
  throw new UsageError(
    "run-one: it restarts the command whenever it ends, which is the job of a service manager: systemd with Restart=, and" +
      " ExecStart=signalbox run --lock NAME --wait -- COMMAND",
  );
};

/** Translators of the tools' lines to `signalbox run`. */
export const TRANSLATORS: Readonly<Record<LockToolName, LineTranslator>> = {
  cronlock: translateCronlock,
  golock: translateGolock,
  switchman: translateSwitchman,
  "zoo-locked": translateZooLocked,
  ...FILE_LOCKS,
  etcdctl: translateEtcdctl,
  consul: translateConsul,
  solo: translateSolo,
  sem: translateSem,
  parallel: translateSem,
  "run-one": translateRunOne,
  "run-this-one": refuseRunThisOne,
  "keep-one-running": refuseKeepRunning,
  "run-one-constantly": refuseKeepRunning,
  "run-one-until-success": refuseKeepRunning,
  "run-one-until-failure": refuseKeepRunning,
  lockfile: refuseTwoSteps,
  "lockfile-create": refuseTwoSteps,
  shlock: refuseTwoSteps,
};
