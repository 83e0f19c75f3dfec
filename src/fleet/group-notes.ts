import { quoteText } from "../base/text.ts";
import type { Groups } from "./groups.ts";

/** Maximum number of cycles to report. */
const MAX_CYCLES = 5;

/**
 * Lists properties of groups that may be unintended, one sentence each. None of them is an error: a group may be empty,
 * may contain itself through other groups, and a member that is not a group may be a host that was never seen.
 */
export function listGroupNotes(groups: Groups): string[] {
  return [
    ...noteEmptyGroups(groups),
    ...noteShadowedHosts(groups),
    ...findGroupCycles(groups).map(formatCycleNote),
  ];
}

function noteEmptyGroups(groups: Groups): string[] {
  const empty = [...groups].filter(([, members]) => members.length === 0);
  return empty.map(([name]) => `group ${quoteText(name)} is empty: no run that is limited to it can start`);
}

/** Reports groups named like a full host name: the group takes precedence. */
function noteShadowedHosts(groups: Groups): string[] {
  const dotted = [...groups.keys()].filter((name) => name.includes("."));
  return dotted.map(
    (name) => `group ${quoteText(name)} is named like a host: a member ${quoteText(name)} means the group`,
  );
}

function formatCycleNote(cycle: readonly string[]): string {
  const path = cycle.map((name) => quoteText(name)).join(" > ");
  return `groups contain each other in a circle (${path}): all of them have the same hosts`;
}

/**
 * Finds group cycles, at most `MAX_CYCLES`. Each result begins and ends with the same group. The depth-first search
 * uses its own stack, because groups can be nested to any depth.
 */
export function findGroupCycles(groups: Groups): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  for (const start of groups.keys()) {
    if (!done.has(start)) descend(groups, start, done, found);
  }
  return found;
}

function descend(groups: Groups, start: string, done: Set<string>, found: string[][]): void {
  const path: { name: string; rest: Iterator<string> }[] = [];
  const place = new Map<string, number>(); // index in `path`
  const enter = (name: string) => {
    place.set(name, path.push({ name, rest: (groups.get(name) ?? [])[Symbol.iterator]() }) - 1);
  };
  enter(start);
  for (let top = path.at(-1); top !== undefined && found.length < MAX_CYCLES; top = path.at(-1)) {
    const step = top.rest.next();
    if (step.done === true) {
      path.pop();
      place.delete(top.name);
      done.add(top.name);
      continue;
    }
    const from = place.get(step.value);
    if (from !== undefined) found.push([...path.slice(from).map(({ name }) => name), step.value]);
    else if (groups.has(step.value) && !done.has(step.value)) enter(step.value);
  }
}
