import { createHash } from "node:crypto";
import { quotePosixWord } from "../../base/shell.ts";
import { findCommandName } from "../../syntax/command-name.ts";
import type { CronJob } from "../../syntax/crontab.ts";
import { findHostMaintenance } from "../../syntax/host-maintenance.ts";
import { removeReleaseNames } from "../../syntax/lock-tools.ts";
import { parseShellCommands, type ShellCommand } from "../../syntax/shell-parser.ts";
import { findBackgroundInText } from "../background-process.ts";
import {
  applyEdits,
  type DecodedCommand,
  type LineReport,
  type MigrationOptions,
  type TextEdit,
  UntranslatableError,
} from "./migration.ts";

/** A line without a lock, and a name for its lock. */
export interface PlainLine {
  text: string;
  commands: readonly ShellCommand[];
  name: string;
}

/** Shell builtins and keywords, which only the shell itself can run. */
const BUILTINS =
  /^(?:\[\[?|\.|:|cd|test|source|export|exec|eval|set|unset|umask|ulimit|trap|wait|exit|return|read|alias|shopt|for|case|function|local|command|time)$/;

/** Parses a plain line for its lock name. @throws UntranslatableError if it cannot be put behind a lock */
export function parsePlainLine(text: string, variables: ReadonlyMap<string, string>): PlainLine | undefined {
  const commands = parseShellCommands(text, variables);
  if ("fault" in commands) throw new UntranslatableError(`the shell would refuse it: ${commands.fault}`);
  const { value } = commands;
  if (value.length === 0) return undefined;
  const left = findBackgroundInText(text);
  if (left !== undefined)
    throw new UntranslatableError(
      `it leaves ${left.what} running in the background, which the lock would not cover`,
    );
  return {
    text: text.trimEnd(),
    commands: value,
    name: findLockName(value) ?? `cron-${computeDigest(text)}`,
  };
}

/**
 * Assigns lock names. Equal commands get the same lock; different commands with the same name get the line's digest
 * as suffix.
 */
export function assignLockNames(lines: readonly PlainLine[]): ReadonlyMap<string, string> {
  const texts = new Map<string, Set<string>>();
  for (const { name, text } of lines)
    texts.set(name, (texts.get(name) ?? new Set()).add(removeReleaseNames(text.trim())));
  return new Map(
    lines.map(({ name, text }) => [
      text,
      (texts.get(name)?.size ?? 1) > 1 ? `${name}-${computeDigest(text)}` : name,
    ]),
  );
}

/** Puts a line behind a lock: its only command, or the whole line in a shell. */
function buildPlainEdit(
  { text, commands }: PlainLine,
  lock: string,
  program: string,
  { variables }: Pick<CronJob, "variables">,
): TextEdit {
  const run = `${program} run --lock ${quotePosixWord(lock)} --`;
  const at = findOnlyCommand(text, commands);
  if (at !== undefined) return { start: at, end: at, text: `${run} ` };
  const shell = variables.get("SHELL") || "/bin/sh";
  return {
    start: 0,
    end: text.length,
    text: `${run} ${quotePosixWord(shell)} -c ${quotePosixWord(text)}`,
  };
}

/**
 * Returns the start of the line's only command, after `cd x &&` and its own variables, or undefined if the line has
 * more commands.
 */
function findOnlyCommand(text: string, commands: readonly ShellCommand[]): number | undefined {
  const job = commands.at(-1);
  const before = commands.slice(0, -1);
  if (job === undefined || job.next !== "") return undefined;
  if (!before.every(({ words, next }) => words[0] === "cd" && next === "&&")) return undefined;
  const first = job.words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const start = job.spans[first]?.start;
  const end = before.at(-1)?.spans.at(-1)?.end ?? 0;
  if (first < 0 || start === undefined || BUILTINS.test(job.words[first] ?? "")) return undefined;
  const between = text.slice(end, job.spans[0]?.start);
  return /^[ \t]*(&&)?[ \t]*$/.test(between) ? start : undefined;
}

function findLockName(commands: readonly ShellCommand[]): string | undefined {
  const name = findCommandName(commands);
  return name !== undefined && /^[\p{L}\p{N} ._+@-]+$/u.test(name) ? name : undefined;
}

function computeDigest(text: string): string {
  return createHash("sha256").update(removeReleaseNames(text.trim())).digest("hex").slice(0, 8);
}

/** Reports on a line without a lock. @throws UntranslatableError if it cannot have one */
export function buildPlainReport(
  kept: LineReport,
  job: CronJob,
  command: DecodedCommand,
  options: MigrationOptions,
  names: ReadonlyMap<string, string>,
): LineReport | undefined {
  if (/\bsignalbox\b/.test(command.text)) return undefined;
  const ofHost = findHostNote(job, command.text);
  if (ofHost !== undefined) return { ...kept, notes: [ofHost] };
  if (kept.before.endsWith("\r")) throw new UntranslatableError("it ends in a carriage return");
  const plain = parsePlainLine(command.text, job.variables);
  if (plain === undefined) return undefined;
  const lock = names.get(plain.text) ?? plain.name;
  const after = applyEdits(kept.before, command, [buildPlainEdit(plain, lock, options.program, job)]);
  const note =
    `${findOwnLockNote(command.text) ?? "it had no lock; now"} hosts that have this line run it one at a time, and those that` +
    ` find lock ${lock} taken skip it; a short job also needs --grace 50s, or a host whose clock is late runs it again`;
  return { ...kept, after, notes: [note] };
}

/** Returns a note for a line that every host must run itself. */
function findHostNote({ schedule, variables }: CronJob, text: string): string | undefined {
  if (schedule.toLowerCase() === "@reboot")
    return "it runs at the boot of each host, and stays without a lock";
  const work = findHostMaintenance(text, variables);
  return work && `it seems to maintain the host itself (${work}), and stays without a lock`;
}

/** Returns a note about a hand-made lock in the line, which stays as it is. */
function findOwnLockNote(text: string): string | undefined {
  const [found] = /\b(?:pgrep|pidof)\b|\S+\.(?:lock|lck|pid)\b/.exec(text) ?? [];
  return found && `its use of ${found} stays, and counts for each host alone; now also`;
}
