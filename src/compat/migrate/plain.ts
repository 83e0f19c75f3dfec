import { createHash } from "node:crypto";
import { basename } from "node:path";
import { shellWord } from "../../base/shell.ts";
import type { CronJob } from "../../fleet/crontab.ts";
import { type ShellCommand, shellCommands } from "../../fleet/shell-words.ts";
import type { Edit } from "./edits.ts";
import { Refusal } from "./refusal.ts";
import { unwrapped } from "./wrappers.ts";

/** A line without any lock, and what could be one's name. */
export interface Plain {
  text: string;
  commands: readonly ShellCommand[];
  name: string;
}

/** Of the shell's own, or known to it only: not to be started by anything else. */
const BUILTINS =
  /^(?:\[\[?|\.|:|cd|test|source|export|exec|eval|set|unset|umask|ulimit|trap|wait|exit|return|read|alias|shopt|for|case|function|local|command|time)$/;
/** Programs that are no job of their own. */
const PREPARING = /^(?:\[\[?|\.|:|cd|test|source|export|set|umask|ulimit|sleep|true|echo|printf|mkdir|exit)$/;
const INTERPRETERS = /^(?:(?:ba|da|k|z)?sh|php[\d.]*|perl|python[\d.]*|ruby|node|java)$/;

/** What a line does, for its lock's name. @throws Refusal where it cannot be put behind a lock */
export function plainLine(text: string, variables: ReadonlyMap<string, string>): Plain | undefined {
  const commands = shellCommands(text, variables);
  if ("fault" in commands) throw new Refusal(`the shell would not take it: ${commands.fault}`);
  const { value } = commands;
  if (value.length === 0) return undefined;
  if (value.some(({ next }) => next === "&"))
    throw new Refusal("it leaves something running in the background, which no lock would cover");
  return { text: text.trimEnd(), commands: value, name: nameOf(value) ?? `cron-${digest(text)}` };
}

/** The same command, the same lock; commands that are only called alike get the line's digest behind the name. */
export function distinctNames(lines: readonly Plain[]): ReadonlyMap<string, string> {
  const texts = new Map<string, Set<string>>();
  for (const { name, text } of lines) texts.set(name, (texts.get(name) ?? new Set()).add(text.trim()));
  return new Map(
    lines.map(({ name, text }) => [
      text,
      (texts.get(name)?.size ?? 1) > 1 ? `${name}-${digest(text)}` : name,
    ]),
  );
}

/** Puts the line behind a lock: its one command, or all of it in a shell. */
export function plainEdit(
  { text, commands }: Plain,
  lock: string,
  program: string,
  { variables }: Pick<CronJob, "variables">,
): Edit {
  const run = `${program} run --lock ${shellWord(lock)} --`;
  const at = onlyCommand(text, commands);
  if (at !== undefined) return { start: at, end: at, text: `${run} ` };
  const shell = variables.get("SHELL") || "/bin/sh";
  return {
    start: 0,
    end: text.length,
    text: `${run} ${shellWord(shell)} -c ${shellWord(text)}`,
  };
}

/** Where the line's one command begins, behind `cd x &&` and variables of its own; undefined where it is more than that. */
function onlyCommand(text: string, commands: readonly ShellCommand[]): number | undefined {
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

function nameOf(commands: readonly ShellCommand[]): string | undefined {
  const programs = commands.map(({ words }) => words.slice(unwrapped(words).program));
  const [program = "", ...args] =
    programs.find(([first]) => first !== undefined && !PREPARING.test(basename(first))) ?? [];
  const script =
    INTERPRETERS.test(basename(program)) && !args.includes("-c")
      ? args.find((word) => !word.startsWith("-"))
      : undefined;
  const name = basename(script ?? program);
  return /^[\p{L}\p{N} ._+@-]+$/u.test(name) ? name : undefined;
}

function digest(text: string): string {
  return createHash("sha256").update(text.trim()).digest("hex").slice(0, 8);
}
