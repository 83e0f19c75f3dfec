import type { DueState, LastOccurrence } from "./due.ts";
import { isFailure, type OutcomeHistory } from "./outcome.ts";

// The states of a schedule that runs on every host, as listings show them. Instants in ms since the epoch.

/** The state of a schedule; if it runs on every host, what the states of its hosts have in common. */
export interface ShownDue extends DueState {
  readonly hosts?: ReadonlyMap<string, DueState>;
}

/**
 * Returns the states of all hosts as one. Its next occurrence is that of the host that is furthest: others have been away. Its last
 * result is a failure if a host has failed last. It has succeeded when the last of its hosts has. It is paused if it has
 * paused itself on each.
 * @param base  the state of the schedule itself, as operators wrote it
 */
export function mergeHostStates(base: DueState | undefined, hosts: ReadonlyMap<string, DueState>): ShownDue {
  const states = [...hosts.values()];
  const [head] = states.filter(({ next }) => next !== undefined).sort((a, b) => b.runAt - a.runAt);
  const last = findShownLast(states);
  const ended = states.filter((state) => state.last !== undefined);
  const successes = ended.flatMap(({ succeededAt }) => succeededAt ?? []);
  const pauses = states.flatMap(({ pause }) => pause ?? []);
  const dead = states.reduce((sum, state) => sum + (state.dead ?? 0), 0);
  const backfill = states.find((state) => state.backfill !== undefined)?.backfill;
  const merged: ShownDue = {
    runAt: head?.runAt ?? 0,
    open: states.flatMap(({ open }) => open),
    hosts,
    ...(head?.next !== undefined && { next: head.next }),
    ...(last !== undefined && { last }),
    ...(successes.length > 0 && successes.length === ended.length && { succeededAt: Math.min(...successes) }),
    ...(dead > 0 && { dead }),
    ...(backfill !== undefined && { backfill }),
    ...(base?.successors !== undefined && { successors: base.successors }),
  };
  const [pause] = pauses.length === states.length ? pauses : [];
  return pause === undefined ? merged : { ...merged, pause };
}

function findShownLast(states: readonly DueState[]): LastOccurrence | undefined {
  const ended = states.flatMap(({ last }) => last ?? []).sort((a, b) => b.endedAt - a.endedAt);
  return ended.find(({ result }) => isFailure(result)) ?? ended[0];
}

/** Lists the states of the hosts; the state itself, if the schedule does not run on every host. */
export function listStates(
  due: ShownDue | undefined,
): (readonly [host: string | undefined, state: DueState])[] {
  if (due === undefined) return [];
  return due.hosts === undefined ? [[undefined, due]] : [...due.hosts];
}

/** Merges the outcomes of hosts, newest first. A single history keeps its order, that of the commits. */
export function mergeOutcomes(parts: readonly OutcomeHistory[]): OutcomeHistory {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const merge = (field: "runs" | "dead") =>
    parts.flatMap((part) => part[field]).sort((a, b) => b.endedAt - a.endedAt);
  return { runs: merge("runs"), dead: merge("dead") };
}
