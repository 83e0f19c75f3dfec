import { formatBriefDuration } from "../../base/duration.ts";
import { formatShortList } from "../views/short-list.ts";
import type { WaitChain, WaitingRun, WaitStep } from "./waits.ts";

/** A line about waits, and the run that it is about. Not cleaned. */
export interface WaitLine {
  text: string;
  /** Undefined for lines without a run of their own. */
  run: string | undefined;
  /** The step of the chain, from 0. */
  depth: number;
  tone: "heading" | "waiting" | "held" | "problem";
}

/** Number of holders that have a line of their own. A resource can have thousands. */
const MOST_BLOCKERS = 5;

/** Formats a chain as indented lines. @param wall  ms since the epoch */
export function formatWaitChain({ steps }: WaitChain, wall: number): WaitLine[] {
  return steps.flatMap((step, depth) => formatStep(step, depth, wall));
}

function formatStep(step: WaitStep, depth: number, wall: number): WaitLine[] {
  const { kind, name, waiters, first, blockers, isHeld } = step;
  const indent = "  ".repeat(2 * depth);
  const runs = waiters === 1 ? "1 run waits" : `${waiters} runs wait`;
  const others = blockers.filter(({ run }) => isHeld || run !== first.run);
  const shown = others.slice(0, MOST_BLOCKERS);
  const more = others.length - shown.length;
  return [
    { text: `${indent}${kind} ${name}: ${runs}`, run: undefined, depth, tone: "heading" },
    {
      text: `${indent}  waits ${formatRun(first, wall)}`,
      run: first.run,
      depth,
      tone: "waiting",
    },
    ...shown.map((one): WaitLine => {
      const what = isHeld ? "held by" : "behind";
      return { text: `${indent}  ${what} ${formatRun(one, wall)}`, run: one.run, depth, tone: "held" };
    }),
    ...(more > 0 ? [createNote(`${indent}  and ${more} more`, depth)] : []),
    ...(isHeld ? [] : [createNote(`${indent}  nobody holds it: see signalbox why ${first.run}`, depth)]),
  ];
}

function createNote(text: string, depth: number): WaitLine {
  return { text, run: undefined, depth, tone: "problem" };
}

function formatRun({ owner, command, since, holds }: WaitingRun, wall: number): string {
  const age = since === undefined ? "" : ` for ${formatBriefDuration(wall - since)}`;
  const also = holds.length === 0 ? "" : `, holds ${formatShortList(holds, 3)} and waits`;
  return `${owner} ${command}${age}${also}`;
}
