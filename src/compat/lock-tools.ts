import { createHash } from "node:crypto";
import { UsageError } from "../base/errors.ts";
import { collectTexts, quoteText } from "../base/text.ts";
import { findCommandName } from "../syntax/command-name.ts";
import { removeReleaseNames } from "../syntax/lock-tools.ts";
import type { LineTranslator } from "./translated-run.ts";

/** The lock for a locked file. Lines with the same file share one lock, even with different tools. */
interface FileLock {
  lock: string;
  notes: readonly string[];
}

/** Matches a relative path. A path that starts with an expansion may be absolute. */
const RELATIVE = /^[^/~\ue000-\uf8ff]/;

/** Builds the lock for a file. @param tool  its name, for the notes */
export function buildFileLock(tool: string, path: string): FileLock {
  const file = normalizePath(path);
  const lock = removeReleaseNames(file);
  return {
    lock,
    notes: collectTexts([
      formatOneHostNote(tool),
      RELATIVE.test(path) &&
        `${quoteText(path)} is a different file in each folder, but one lock here: give the lines of each folder a lock name of their own`,
      lock !== file &&
        "the lock name leaves out the release, so that it stays the same with the next release",
    ]),
  };
}

/** Returns the note that a lock on one host becomes a lock on all hosts. */
export function formatOneHostNote(tool: string): string {
  return `${tool} locks on one host, signalbox run on all hosts: while one host has the lock, the others do not run the command (for a lock per host: --lock "$(hostname):NAME")`;
}

/** Normalizes paths of the same file on Linux: /var/lock leads to /run/lock, and /var/run to /run. */
function normalizePath(path: string): string {
  return path
    .replace(/\/{2,}/g, "/")
    .replace(/\/(?:\.\/)+/g, "/")
    .replace(/^\/(?:var\/)?run\/lock\//, "/var/lock/")
    .replace(/^\/var\/run\//, "/run/");
}

const LOCKRUN_NAMES: Readonly<Record<string, string>> = {
  "-L": "lockfile",
  "--lockfile": "lockfile",
  "-W": "wait",
  "--wait": "wait",
  "-S": "sleep",
  "--sleep": "sleep",
  "-T": "maxtime",
  "--maxtime": "maxtime",
  "-V": "verbose",
  "--verbose": "verbose",
  // Later versions have a quiet mode, under different names.
  "-I": "quiet",
  "--idempotent": "quiet",
  "-Q": "quiet",
  "--quiet": "quiet",
};
const LOCKRUN_VALUED = ["lockfile", "sleep", "maxtime"];

/** Translates a line of lockrun. @see http://unixwiz.net/tools/lockrun.html */
export const translateLockrun: LineTranslator = (words) => {
  const end = words.indexOf("--");
  const command = end < 0 ? [] : words.slice(end + 1);
  if (command.length === 0) throw new UsageError("lockrun: -- and a command are needed");
  const given = parseLockrunOptions(words.slice(0, end));
  const file = given.get("lockfile");
  if (file === undefined) throw new UsageError("lockrun: --lockfile is missing");
  const { lock, notes } = buildFileLock("lockrun", file);
  const left = ["sleep", "maxtime", "verbose"].filter((name) => given.has(name)).map((name) => `--${name}`);
  return {
    options: ["--lock", lock, ...(given.has("wait") ? ["--wait"] : []), "-E", given.has("quiet") ? "0" : "1"],
    command,
    notes: [
      ...notes,
      "the exit code is the command's own; some versions of lockrun always end with 0",
      ...(left.length === 0 ? [] : [`${left.join(", ")}: left out`]),
    ],
  };
};

function parseLockrunOptions(words: readonly string[]): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const [, typed = "", inline] = /^([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const name = Object.hasOwn(LOCKRUN_NAMES, typed) ? LOCKRUN_NAMES[typed] : undefined;
    if (name === undefined) throw new UsageError(`lockrun: unknown option ${quoteText(typed)}`);
    if (!LOCKRUN_VALUED.includes(name)) given.set(name, "");
    else {
      const value = inline ?? left.shift();
      if (value === undefined) throw new UsageError(`lockrun: ${typed} needs a value`);
      given.set(name, value);
    }
  }
  return given;
}

/** Matches characters that stand for expansions. */
const EXPANSIONS = /[\ue000-\uf8ff]/g;

/** Translates a line of run-one. Its lock is that of the command with its arguments. @see run-one(1) of Ubuntu */
export const translateRunOne: LineTranslator = (words) => {
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
    notes: [
      formatOneHostNote("run-one"),
      "run-one has a lock for each user; this lock is for all users",
      ...(EXPANSIONS.test(text) ? ["the lock name leaves out what only the shell knows"] : []),
    ],
    coversChildren: true,
  };
};

/** Flags of `signalbox run` for each mode. */
const WITH_LOCK_EX_MODES: Readonly<Record<string, readonly string[]>> = {
  "-w": ["--wait", "-E", "255"],
  "-f": ["-E", "255"],
  "-q": ["-E", "0"],
};

/** Translates a line of with-lock-ex. @see with-lock-ex(1) of chiark-utils */
export const translateWithLockEx: LineTranslator = (words) => {
  const [way = "", file, ...command] = words;
  const options = Object.hasOwn(WITH_LOCK_EX_MODES, way) ? WITH_LOCK_EX_MODES[way] : undefined;
  if (options === undefined || file === undefined || command.length === 0)
    throw new UsageError("with-lock-ex: one of -w, -f and -q, a file and a command are needed");
  const { lock, notes } = buildFileLock("with-lock-ex", file);
  return { options: ["--lock", lock, ...options], command, notes };
};

/** Matches letters of options without a value, and one option with its value, if any. @see chpst(8) of runit */
const CHPST_OPTION = /^-([vVP012]*)(?:([uUbe/nlLmdopfct])(.*))?$/s;
const CHPST_FAILURE = "111";

interface ChpstOptions {
  file: string | undefined;
  waits: boolean;
  /** Its other options, which stay with it. */
  others: readonly string[];
  command: readonly string[];
}

/** Translates a line of `chpst -l` or `-L`. The lock goes around its other effects. */
export const translateChpst: LineTranslator = (words, _variables, _files, program = "chpst") => {
  const { file, waits, others, command } = parseChpstOptions(words);
  if (file === undefined || command.length === 0)
    throw new UsageError("chpst: -l or -L, and a program are needed");
  const { lock, notes } = buildFileLock("chpst", file);
  return {
    options: ["--lock", lock, ...(waits ? ["--wait"] : []), "-E", CHPST_FAILURE],
    command: others.length === 0 ? command : [program, ...others, ...command],
    notes,
    coversChildren: true,
  };
};

function parseChpstOptions(words: readonly string[]): ChpstOptions {
  let [file, waits]: [string | undefined, boolean] = [undefined, false];
  const others: string[] = [];
  const left = [...words];
  while (left[0]?.startsWith("-")) {
    const word = left.shift() ?? "";
    if (word === "--") break;
    const [, plain = "", letter, inline = ""] = CHPST_OPTION.exec(word) ?? [];
    if (plain === "" && letter === undefined)
      throw new UsageError(`chpst: unknown option ${quoteText(word)}`);
    if (plain !== "") others.push(`-${plain}`);
    if (letter === undefined) continue;
    const value = inline === "" ? left.shift() : inline;
    if (value === undefined) throw new UsageError(`chpst: -${letter} needs a value`);
    if (letter === "l" || letter === "L") [file, waits] = [value, letter === "l"];
    else others.push(`-${letter}`, value);
  }
  return { file, waits, others, command: left };
}

/** EADDRINUSE, the exit code of Perl's `die` in that case. */
const SOLO_BUSY = "98";
const SOLO_SWITCHES = ["port", "noport", "silent", "verbose", "timeout", "sleep"];

/** Translates a line of solo, whose lock is a port of the loopback interface. @see https://timkay.com/solo/ */
export const translateSolo: LineTranslator = (words) => {
  const end = words.findIndex((word) => !word.startsWith("-") || word === "--");
  const given = new Map((end < 0 ? words : words.slice(0, end)).map(parseSoloSwitch));
  const command = end < 0 ? [] : words.slice(words[end] === "--" ? end + 1 : end);
  const port = given.get("port") ?? "";
  if (given.has("noport") || !/^\d+$/.test(port))
    throw new UsageError("solo: -port=PORT is missing, so the line takes no lock");
  if (command.length === 0) throw new UsageError("solo: no command is given");
  return {
    options: [
      "--lock",
      `solo.${Number(port)}`,
      "-E",
      given.has("silent") ? "0" : SOLO_BUSY,
      ...buildDurationFlag("--timeout", given.get("timeout")),
      ...buildDurationFlag("--grace", given.get("sleep")),
    ],
    command,
    notes: collectTexts([
      formatOneHostNote("solo"),
      "solo has a lock for each user's port; this lock is for all users",
      given.has("sleep") && "-sleep: the command starts at once, and the lock is kept for that time instead",
    ]),
    coversChildren: true,
  };
};

/** Parses a switch like `perl -s`. */
function parseSoloSwitch(word: string): readonly [string, string] {
  const [, name = "", value = "1"] = /^-(\w*)(?:=(.*))?$/s.exec(word) ?? [];
  if (!SOLO_SWITCHES.includes(name)) throw new UsageError(`solo: unknown option ${quoteText(word)}`);
  return [name, value];
}

function buildDurationFlag(flag: string, text: string | undefined): string[] {
  if (text === undefined || text === "0") return [];
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`solo: ${quoteText(text)} is not a number of seconds`);
  return [flag, `${Number(text)}s`];
}

/** Refuses tools that take a lock for the commands after them, until another command removes the file. */
export const refuseTwoStepTool: LineTranslator = (_words, _variables, _files, program = "it") => {
  throw new UsageError(
    `${program} takes a lock for the commands after it; put these commands into a script: signalbox run --lock NAME -- SCRIPT`,
  );
};

/**
 * Refuses run-this-one, which ends the running command and starts it again: several hosts would end each other's
 * commands.
 */
export const refuseRunThisOne: LineTranslator = () => {
  throw new UsageError(
    "run-this-one: it ends the previous run and starts its own; lines on several hosts would end each other's runs. By" +
      " hand, if one host has the line: signalbox reset lock NAME --yes; signalbox run --lock NAME --wait -- COMMAND. Or a" +
      " schedule with --overlap replace",
  );
};

/** Refuses tools that start the command again and again. */
export const refuseKeepRunning: LineTranslator = () => {
  throw new UsageError(
    "run-one: it restarts the command whenever it ends, which is the job of a service manager: systemd with Restart=, and" +
      " ExecStart=signalbox run --lock NAME --wait -- COMMAND",
  );
};
