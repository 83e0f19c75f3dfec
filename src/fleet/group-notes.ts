import { quoted } from "../base/text.ts";
import type { Groups } from "./groups.ts";

/** Cycles that are spelled out; more are only counted as such. */
const MAX_CYCLES = 5;

/**
 * What an operator may not have meant in a set of groups, one sentence each. None of it is an error: a group may be
 * empty, may name itself through others, and a member that is no group may be a host that was never seen.
 */
export function groupNotes(groups: Groups): string[] {
  return [...emptyGroups(groups), ...shadowedHosts(groups), ...cycles(groups).map(cycleNote)];
}

function emptyGroups(groups: Groups): string[] {
  const empty = [...groups].filter(([, members]) => members.length === 0);
  return empty.map(([name]) => `group ${quoted(name)} is empty: nothing asked for in it can run`);
}

/** A full host name that is also the name of a group: the group wins. */
function shadowedHosts(groups: Groups): string[] {
  const dotted = [...groups.keys()].filter((name) => name.includes("."));
  return dotted.map(
    (name) => `group ${quoted(name)} is named like a host: a member ${quoted(name)} means the group`,
  );
}

function cycleNote(cycle: readonly string[]): string {
  const path = cycle.map((name) => quoted(name)).join(" > ");
  return `groups name each other in a circle (${path}): all of them hold the same hosts`;
}

/**
 * Chains of groups that come back to their first one, which stands at both ends; at most `MAX_CYCLES`.
 * Search in depth with a stack of its own, since groups may be nested as deep as they please.
 */
export function cycles(groups: Groups): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  for (const start of groups.keys()) {
    if (!done.has(start)) descend(groups, start, done, found);
  }
  return found;
}

function descend(groups: Groups, start: string, done: Set<string>, found: string[][]): void {
  const path: { name: string; rest: Iterator<string> }[] = [];
  const place = new Map<string, number>(); // in `path`
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
