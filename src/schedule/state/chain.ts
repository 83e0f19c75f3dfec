import { type Definition, getCatchup, isPaused } from "../definition.ts";
import { SCHEDULE_DEFAULTS } from "../definition-values.ts";
import { computeLag } from "../timing.ts";
import type { DueState, HandedEnd, OpenOccurrence, PredecessorEnd } from "./due.ts";
import { findFreeTime, MAX_OPEN_OCCURRENCES } from "./due-transitions.ts";

// Chains: schedules that run when others have ended. All instants in ms since the epoch.

/** How an occurrence ended, for the schedules that follow. */
export type OccurrenceEnd = Omit<HandedEnd, "upTo" | "except">;

/**
 * How many schedules get an end in one transaction. Each needs two guards and a write, and etcd accepts 128 operations, together with
 * those of other transactions that are sent with this one.
 */
const HANDED_TOGETHER = 20;

/** A step of giving an end to the schedules that follow: what one transaction writes. */
interface HandOver {
  /** The state of the schedule that has ended. */
  due: DueState;
  end: OccurrenceEnd;
  /** Ids of the schedules that get the end. */
  followers: readonly string[];
}

/**
 * Gives an end to the next of the schedules that follow. The state notes how far it has come until all have it, so that the next
 * transaction, perhaps of another worker, goes on there.
 * @param most  how many of them get it at most
 */
export function handEnd(due: DueState, from: HandedEnd, most = HANDED_TOGETHER): HandOver {
  const { handed = [], ...rest } = due;
  const { upTo: before, except, ...end } = from;
  const left = (due.successors ?? []).filter((id) => id > before && except?.includes(id) !== true).sort();
  const followers = left.slice(0, most);
  const upTo = followers.at(-1);
  const next = upTo === undefined || followers.length === left.length ? [] : [{ ...from, upTo }];
  const at = handed.indexOf(from);
  const kept = at < 0 ? [...handed, ...next] : handed.toSpliced(at, 1, ...next);
  return { due: kept.length === 0 ? rest : { ...rest, handed: kept }, end, followers };
}

/** Notes an end that nobody has yet, for `handEnd`, if schedules follow. */
export function noteEnd(due: DueState, end: HandedEnd): DueState {
  return due.successors === undefined ? due : { ...due, handed: [...(due.handed ?? []), end] };
}

/** The state of a following schedule after an end; `isFull`: too many of its runs wait, and the end was dropped. */
type ChainStep = { kind: "unchanged" } | { kind: "full" } | { kind: "changed"; due: DueState };

/**
 * Returns the state of a schedule after the end of an occurrence of a schedule before it. A run is added when each of
 * those before it has ended as required. Ends during a pause do not count, as occurrences during a pause do not run.
 * @throws CronError, UsageError if the definition is invalid
 */
export function addPredecessorEnd(
  id: string,
  definition: Definition,
  due: DueState,
  { isDead, ...end }: OccurrenceEnd,
): ChainStep {
  const { after = [], on = SCHEDULE_DEFAULTS.on } = definition;
  const counts = after.includes(end.id) && meetsCondition(on, end.result === "ok", isDead);
  if (!counts || isPaused(definition, due, end.endedAt)) return { kind: "unchanged" };
  const arrived = [...(due.arrived ?? []).filter((one) => one.id !== end.id), end];
  const isComplete = after.every((before) => arrived.some((one) => one.id === before));
  return isComplete
    ? addChainedRun(id, definition, due, arrived)
    : { kind: "changed", due: { ...due, arrived } };
}

function meetsCondition(on: Definition["on"], hasSucceeded: boolean, isDead: boolean): boolean {
  if (on === "success") return hasSucceeded;
  return on === "failure" ? isDead : hasSucceeded || isDead;
}

/** @param ends  the ends of all schedules before it, the newest last */
function addChainedRun(
  id: string,
  definition: Definition,
  due: DueState,
  ends: readonly PredecessorEnd[],
): ChainStep {
  const newest = ends.at(-1);
  if (newest === undefined) return { kind: "unchanged" };
  const { arrived: _, ...rest } = due;
  const isKept = ({ kind, attempt }: OpenOccurrence) =>
    kind !== "after" || attempt > 0 || getCatchup(definition) === "all";
  const open = due.open.filter(isKept);
  if (open.length >= MAX_OPEN_OCCURRENCES) return { kind: "full" };
  const handed = ends.length === 1 && definition.data === undefined ? newest.data : undefined;
  const run: OpenOccurrence = {
    scheduled: findFreeTime({ ...rest, open }, newest.scheduled),
    runAt: newest.endedAt + computeLag(id, definition),
    attempt: 0,
    failures: 0,
    kind: "after",
    ...(handed !== undefined && { data: handed }),
    after: [...ends],
  };
  return { kind: "changed", due: { ...rest, open: [...open, run] } };
}

/** The ids of the schedules that each schedule follows, by its id. */
export type ChainGraph = ReadonlyMap<string, readonly string[]>;

/**
 * Finds a cycle of schedules that follow each other.
 * @returns the ids along the cycle, from `start` back to `start`; undefined if there is none
 */
export function findChainCycle(graph: ChainGraph, start: string): string[] | undefined {
  const seen = new Set<string>();
  const paths: string[][] = [[start]];
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    for (const next of graph.get(path.at(-1) ?? "") ?? []) {
      if (next === start) return [...path, next];
      if (!seen.has(next)) paths.push([...path, next]);
      seen.add(next);
    }
  }
  return undefined;
}

/** Returns the ids of the schedules that follow each schedule, by its id. */
export function invertGraph(graph: ChainGraph): Map<string, string[]> {
  const followers = new Map<string, string[]>();
  for (const [id, before] of graph)
    for (const one of before) {
      const list = followers.get(one);
      if (list === undefined) followers.set(one, [id]);
      else list.push(id);
    }
  for (const list of followers.values()) list.sort();
  return followers;
}

/** Lists a schedule and all that come before it or after it, directly or through others. */
export function listConnected(graph: ChainGraph, id: string): Set<string> {
  return new Set([...listReachable(graph, id), ...listReachable(invertGraph(graph), id)]);
}

function listReachable(graph: ChainGraph, id: string): Set<string> {
  const found = new Set([id]);
  for (const one of found) for (const next of graph.get(one) ?? []) found.add(next);
  return found;
}
