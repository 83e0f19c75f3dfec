import { listOutcomes } from "../../cli/views/history.ts";
import { listKnownHosts } from "../../cli/views/hosts.ts";
import { findProblems } from "../../cli/views/problems.ts";
import { addMs, LONG_AGO, type MonotonicTime, subtractTime, type WallTime } from "../../core/base/clock.ts";
import { countRuns } from "../../site/state/claims.ts";
import type { Problem } from "../../site/state/problem.ts";
import { computeQueueTally } from "../../site/state/shares.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import type { TabId } from "../state/console-state.ts";

/** Number of rows by tab, and of the runs that hold and that wait. */
export type TabCounts = Partial<Record<TabId | "held" | "waiting", number>>;

/**
 * Problems also appear as time passes. Counts are at least `MIN_COUNT_PAUSE_MS` ms apart. If a count takes long, they are `COUNT_PAUSE_FACTOR`
 * times its duration apart, but at most `MAX_COUNT_PAUSE_MS` ms.
 */
const MIN_COUNT_PAUSE_MS = 500;
const COUNT_PAUSE_FACTOR = 100;
const MAX_COUNT_PAUSE_MS = 10_000;

/** Counts before the first read: unknown, not zero. */
const UNREAD_COUNTS: TabCounts = {};
const NO_PROBLEMS: readonly Problem[] = [];

/** Counts the rows of the tabs without building them. */
export class TabCounter {
  #known: { snapshot: Snapshot; counts: TabCounts } | undefined;
  #problems: { list: readonly Problem[]; due: MonotonicTime } = { list: NO_PROBLEMS, due: LONG_AGO };
  readonly #now: () => MonotonicTime;

  constructor(now: () => MonotonicTime) {
    this.#now = now;
  }

  /** The problems counted last. */
  get problems(): readonly Problem[] {
    return this.#problems.list;
  }

  /** @returns the same object as long as no count changes */
  countTabs(snapshot: Snapshot, wall: WallTime): TabCounts {
    if (snapshot.revision === 0n) return UNREAD_COUNTS;
    const problems = this.#countProblems(snapshot, wall);
    const known = this.#known;
    if (known?.snapshot === snapshot && known.counts.problems === problems) return known.counts;
    const rest = known?.snapshot === snapshot ? known.counts : countRows(snapshot);
    const counts = { ...rest, problems };
    this.#known = { snapshot, counts };
    return counts;
  }

  #countProblems(snapshot: Snapshot, wall: WallTime): number {
    const start = this.#now();
    if (start < this.#problems.due) return this.#problems.list.length;
    const found = findProblems(snapshot, wall);
    const list = found.length === 0 ? NO_PROBLEMS : found;
    const end = this.#now();
    const pause = COUNT_PAUSE_FACTOR * subtractTime(end, start);
    this.#problems = {
      list,
      due: addMs(end, Math.min(MAX_COUNT_PAUSE_MS, Math.max(MIN_COUNT_PAUSE_MS, pause))),
    };
    return list.length;
  }
}

function countRows(snapshot: Snapshot): TabCounts {
  const locks = new Set(snapshot.histories.keys());
  const resources = new Set(snapshot.resources.keys());
  let queues = 0;
  for (const queue of snapshot.queues.values()) {
    const { kind, name } = queue;
    if (kind === "lock") locks.add(name);
    else resources.add(name);
    queues += computeQueueTally(queue).waiting;
  }
  return {
    locks: locks.size,
    resources: resources.size,
    queues,
    ...countRuns(snapshot),
    hosts: listKnownHosts(snapshot).size,
    groups: snapshot.groups.size,
    drains: snapshot.drains.size,
    schedules: snapshot.schedules.size,
    ...countHistory(snapshot),
    audit: snapshot.audit.size,
  };
}

/** Counts the rows of the history; not while the outcomes of schedules are not read. */
function countHistory({ histories, outcomes, schedules }: Snapshot): Pick<TabCounts, "history"> {
  if (outcomes.size === 0 && schedules.size > 0) return {};
  let history = 0;
  for (const runs of histories.values()) history += runs.length;
  for (const one of outcomes.values()) history += listOutcomes(one).length;
  return { history };
}
