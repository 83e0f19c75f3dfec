import { findLockToolAt } from "../../syntax/lock-tools.ts";
import { getBaseName, type UnwrappedCommand, unwrapWords } from "../../syntax/shell-wrappers.ts";
import { translateCronlock, translateGolock } from "../cronlock/translate.ts";
import {
  translateDotlockfile,
  translateFlock,
  translateLckdo,
  translateLockf,
  translateSem,
  translateSetlock,
} from "../getopt-lock-tools.ts";
import { translateConsul, translateEtcdctl } from "../go-lock-tools.ts";
import {
  refuseKeepRunning,
  refuseRunThisOne,
  refuseTwoStepTool,
  translateChpst,
  translateLockrun,
  translateRunOne,
  translateSolo,
  translateWithLockEx,
} from "../lock-tools.ts";
import { translateSwitchman } from "../switchman/translate.ts";
import type { LineTranslator } from "../translated-run.ts";
import { translateZooLocked } from "../zoo-locked/options.ts";

/** Translators of the tools' lines to `signalbox run`, by tool. */
export const TOOLS: Readonly<Record<string, LineTranslator>> = {
  cronlock: translateCronlock,
  golock: translateGolock,
  switchman: translateSwitchman,
  "zoo-locked": translateZooLocked,
  flock: translateFlock,
  setlock: translateSetlock,
  etcdctl: translateEtcdctl,
  consul: translateConsul,
  lockrun: translateLockrun,
  lockf: translateLockf,
  "with-lock-ex": translateWithLockEx,
  lckdo: translateLckdo,
  dotlockfile: translateDotlockfile,
  chpst: translateChpst,
  solo: translateSolo,
  sem: translateSem,
  parallel: translateSem,
  "run-one": translateRunOne,
  "run-this-one": refuseRunThisOne,
  "keep-one-running": refuseKeepRunning,
  "run-one-constantly": refuseKeepRunning,
  "run-one-until-success": refuseKeepRunning,
  "run-one-until-failure": refuseKeepRunning,
  lockfile: refuseTwoStepTool,
  "lockfile-create": refuseTwoStepTool,
  shlock: refuseTwoStepTool,
};

/** The tools that are also front ends of signalbox: `signalbox cronlock …`. */
export const FRONT_END_NAMES: readonly string[] = ["cronlock", "golock", "switchman", "zoo-locked"];
/** Variables that only concern a tool, and are removed with it. */
export const OWN_VARIABLES: Readonly<Record<string, RegExp>> = {
  cronlock: /^CRONLOCK_/,
  golock: /^CRONLOCK_/,
};

/** The start of a tool in the words of a command. */
export interface ToolStart {
  /** `run` is `signalbox run`, which needs no translation. */
  tool: string;
  /** Index of its first word. */
  at: number;
  /** Number of words that name it. */
  length: number;
}

/** Returns the tool that starts at an index, if any. */
export function findToolStart(words: readonly string[], at: number): ToolStart | undefined {
  const tool = getBaseName(words[at] ?? "");
  const next = words[at + 1] ?? "";
  if (tool === "signalbox" && next === "run") return { tool: "run", at, length: 2 };
  if (tool === "signalbox" && FRONT_END_NAMES.includes(next)) return { tool: next, at, length: 2 };
  const isTool = Object.hasOwn(TOOLS, tool) && findLockToolAt(words, at)?.isKnown === true;
  return isTool ? { tool, at, length: 1 } : undefined;
}

/** Whether a text contains the name of a tool. */
export function hasToolName(text: string): boolean {
  return Object.keys(TOOLS).some((tool) => new RegExp(`(?<![\\w.-])${tool}(?![\\w.-])`).test(text));
}

/** The words of a command: those before the program, and the program. */
export interface WrappedCommand extends UnwrappedCommand {
  /** The tool that is started, if any. */
  start: ToolStart | undefined;
}

/** Finds what a command starts, after assignments (`A=b`) and wrappers (`nice -n 10`, `sudo -u x`, `env A=b`). */
export function unwrapCommand(words: readonly string[]): WrappedCommand {
  const found = unwrapWords(words, (at) => findToolStart(words, at) !== undefined);
  return { ...found, start: findToolStart(words, found.program) };
}
