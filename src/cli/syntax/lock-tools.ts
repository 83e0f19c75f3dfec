import { countLeadingOptions } from "./leading-options.ts";
import { getBaseName, type UnwrappedCommand, unwrapWords } from "./shell-wrappers.ts";

/**
 * Programs that run a command while they hold a lock, or that take a lock for the commands after them.
 * compat/lock-tools.ts translates their lines.
 */
export const LOCK_TOOLS = [
  "cronlock",
  "golock",
  "switchman",
  "zoo-locked",
  "flock",
  "setlock",
  "etcdctl",
  "consul",
  "lockrun",
  "lockf",
  "with-lock-ex",
  "lckdo",
  "dotlockfile",
  "chpst",
  "solo",
  "sem",
  "parallel",
  "run-one",
  "run-this-one",
  "keep-one-running",
  "run-one-constantly",
  "run-one-until-success",
  "run-one-until-failure",
  "lockfile",
  "lockfile-create",
  "shlock",
] as const;

export type LockToolName = (typeof LOCK_TOOLS)[number];

/** By tools that have other functions, too: whether they take a lock with these words. */
const TAKES_LOCK: Partial<Record<LockToolName, (words: readonly string[]) => boolean>> = {
  etcdctl: (words) => words.includes("lock"),
  consul: ([verb]) => verb === "lock",
  chpst: hasChpstLock,
  solo: (words) => words.some((word) => word.startsWith("-")),
  parallel: (words) => words.includes("--semaphore"),
};

/** Option letters of chpst that take a value. */
export const CHPST_VALUED = "uUbe/nlLmdopfct";

/** Returns whether chpst is called with a lock: `chpst -u me -L FILE prog`. Options can share a dash. */
function hasChpstLock(words: readonly string[]): boolean {
  for (let at = 0; words[at]?.startsWith("-") && words[at] !== "--"; at += 1) {
    const letters = words[at] ?? "";
    const valued = [...letters].findIndex((letter) => CHPST_VALUED.includes(letter));
    if (/[lL]/.test(letters[valued] ?? "")) return true;
    if (valued === letters.length - 1) at += 1;
  }
  return false;
}

/** The tools that are also front ends of signalbox: `signalbox cronlock …`. */
export const FRONT_END_NAMES = ["cronlock", "golock", "switchman", "zoo-locked"] as const;

const MENTION = new RegExp(`(?<![\\w.-])(?:${LOCK_TOOLS.join("|")})(?![\\w.-])`);

/** Whether a text contains the name of a lock tool. */
export function hasToolName(text: string): boolean {
  return MENTION.test(text);
}

/** The start of a tool in the words of a command. */
export interface ToolStart {
  /** `run` is `signalbox run`. */
  tool: LockToolName | "run";
  /** Index of its first word. */
  at: number;
  /** Number of words that name it. */
  length: number;
}

/** Returns the tool that starts at an index, if any. */
export function findToolStart(words: readonly string[], at: number): ToolStart | undefined {
  const name = getBaseName(words[at] ?? "");
  const rest = words.slice(at + 1);
  if (name === "signalbox") return findSignalboxTool(rest, at);
  const tool = LOCK_TOOLS.find((one) => one === name);
  const takesLock = tool !== undefined && (TAKES_LOCK[tool]?.(rest) ?? true);
  return takesLock ? { tool, at, length: 1 } : undefined;
}

/** Finds `run`, also after options (`signalbox --context prod run`), or a front end. @param rest  words after signalbox */
function findSignalboxTool(rest: readonly string[], at: number): ToolStart | undefined {
  const options = countLeadingOptions(rest);
  if (rest[options] === "run") return { tool: "run", at, length: options + 2 };
  const tool = FRONT_END_NAMES.find((one) => one === rest[0]);
  return tool && { tool, at, length: 2 };
}

/** The words of a command: those before the program, and the program. */
interface StartingCommand extends UnwrappedCommand {
  /** The tool that is started, if any. */
  start: ToolStart | undefined;
}

/** Finds what a command starts, after assignments (`A=b`) and wrappers (`nice -n 10`, `sudo -u x`, `env A=b`). */
export function unwrapCommand(words: readonly string[]): StartingCommand {
  const found = unwrapWords(words, (at) => findToolStart(words, at) !== undefined);
  return { ...found, start: findToolStart(words, found.program) };
}
