import type { Translate } from "../as-run.ts";
import { consulAsRun } from "../consul/as-run.ts";
import { cronlockAsRun, golockAsRun } from "../cronlock/as-run.ts";
import { etcdctlAsRun } from "../etcdctl/as-run.ts";
import { flockAsRun } from "../flock/as-run.ts";
import { setlockAsRun } from "../setlock/as-run.ts";
import { asRun as switchmanAsRun } from "../switchman/as-run.ts";
import { asRun as zooLockedAsRun } from "../zoo-locked/as-run.ts";

/** What each tool's line means to `signalbox run`, by the tool's name. */
export const TOOLS: Readonly<Record<string, Translate>> = {
  cronlock: cronlockAsRun,
  golock: golockAsRun,
  switchman: switchmanAsRun,
  "zoo-locked": zooLockedAsRun,
  flock: flockAsRun,
  setlock: setlockAsRun,
  etcdctl: etcdctlAsRun,
  consul: consulAsRun,
};

/** The tools that are front ends of signalbox too: `signalbox cronlock …`. */
export const FRONT_ENDS: readonly string[] = ["cronlock", "golock", "switchman", "zoo-locked"];
/** Variables that speak to a tool only, and go with it. */
export const OWN_VARIABLES: Readonly<Record<string, RegExp>> = {
  cronlock: /^CRONLOCK_/,
  golock: /^CRONLOCK_/,
};

/** The start of a tool in a command's words. */
export interface Start {
  /** `run` is `signalbox run`: nothing is to do. */
  tool: string;
  /** Index of its first word. */
  at: number;
  /** How many words name it. */
  length: number;
}

/** The tool that these words start at an index, if any. */
export function startAt(words: readonly string[], at: number): Start | undefined {
  const tool = baseName(words[at] ?? "");
  const next = words[at + 1] ?? "";
  if (tool === "signalbox" && next === "run") return { tool: "run", at, length: 2 };
  if (tool === "signalbox" && FRONT_ENDS.includes(next)) return { tool: next, at, length: 2 };
  if (tool === "etcdctl" && !words.slice(at + 1).includes("lock")) return undefined;
  if (tool === "consul" && next !== "lock") return undefined;
  return Object.hasOwn(TOOLS, tool) ? { tool, at, length: 1 } : undefined;
}

/** Whether a text names a tool at all. */
export function namesTool(text: string): boolean {
  return Object.keys(TOOLS).some((tool) => new RegExp(`(?<![\\w.-])${tool}(?![\\w.-])`).test(text));
}

export function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
