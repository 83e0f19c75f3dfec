import type { ParseResult } from "../../../base/text.ts";
import type { PatternNode } from "./parse-pattern.ts";

/** A step of a nondeterministic automaton. Numbers are indexes of steps. */
export type PatternStep =
  | { op: "set"; has: (codePoint: number) => boolean; next: number }
  | { op: "assertion"; at: Extract<PatternNode, { kind: "assertion" }>["at"]; next: number }
  | { op: "fork"; next: readonly number[] }
  | { op: "match" };

/** Maximum number of steps: `(a{100}){100}` would have ten thousand. */
const MAX_STEPS = 400;

/** Compiles a pattern to steps. The first step is the one that is returned as `start`. */
export function compilePattern(
  node: PatternNode,
): ParseResult<{ steps: readonly PatternStep[]; start: number }> {
  const steps: PatternStep[] = [{ op: "match" }];
  const start = addSteps(steps, node, 0);
  return start === undefined
    ? { fault: "the pattern is too large; use fewer repetitions" }
    : { value: { steps, start } };
}

/** Adds the steps of a node before a step. @returns the index of its first step; undefined if there are too many */
function addSteps(steps: PatternStep[], node: PatternNode, next: number): number | undefined {
  if (steps.length >= MAX_STEPS) return undefined;
  switch (node.kind) {
    case "set":
      return steps.push({ op: "set", has: node.has, next }) - 1;
    case "assertion":
      return steps.push({ op: "assertion", at: node.at, next }) - 1;
    case "sequence":
      return node.items.reduceRight<number | undefined>(
        (after, item) => (after === undefined ? undefined : addSteps(steps, item, after)),
        next,
      );
    case "choice": {
      const starts = node.items.map((item) => addSteps(steps, item, next));
      return starts.every((one) => one !== undefined)
        ? steps.push({ op: "fork", next: starts }) - 1
        : undefined;
    }
    case "repeat":
      return addRepeat(steps, node, next);
  }
}

function addRepeat(
  steps: PatternStep[],
  { item, least, most }: Extract<PatternNode, { kind: "repeat" }>,
  next: number,
): number | undefined {
  let start: number | undefined = Number.isFinite(most) ? next : addLoop(steps, item, next);
  for (let left = Number.isFinite(most) ? most - least : 0; left > 0 && start !== undefined; left--) {
    const inner = addSteps(steps, item, start);
    start = inner === undefined ? undefined : steps.push({ op: "fork", next: [inner, next] }) - 1;
  }
  for (let left = least; left > 0 && start !== undefined; left--) start = addSteps(steps, item, start);
  return start;
}

/** Adds a fork that leads to the item and on; the item leads back to the fork. */
function addLoop(steps: PatternStep[], item: PatternNode, next: number): number | undefined {
  const fork = steps.push({ op: "fork", next: [] }) - 1;
  const inner = addSteps(steps, item, fork);
  if (inner === undefined) return undefined;
  steps[fork] = { op: "fork", next: [inner, next] };
  return fork;
}
