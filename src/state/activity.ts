import { isHolding } from "../protocol/admission.ts";
import type { QueueEntry } from "../protocol/ticket.ts";
import { listStates } from "../schedule/state/host-states.ts";
import { isFailure } from "../schedule/state/outcome.ts";
import { getHeldSince } from "./claims.ts";
import type { TimeSpan } from "./forecast.ts";
import { listEntriesByRun } from "./run-index.ts";
import type { Snapshot } from "./snapshot.ts";

/** How many runs held and waited, on average, in each of some equal parts of a span of time, and how many failed. */
export interface Activity extends TimeSpan {
  holders: readonly number[];
  waiters: readonly number[];
  /** How many runs ended in each part and had failed. */
  failures: readonly number[];
}

type ActivitySnapshot = Pick<Snapshot, "queues" | "histories" | "executions" | "dues">;

/**
 * Counts the runs that held or waited, from what is stored: all tickets, the last runs of each lock, the running
 * occurrences of schedules, and the last one that ended. Not recorded, and so not counted: runs that only leased
 * resources and have ended, runs that gave up waiting, and what the history of a busy lock or of a schedule does not
 * keep. A run counts once, whatever it claims.
 */
export function countActivity(snapshot: ActivitySnapshot, span: TimeSpan, buckets: number): Activity {
  const [holders, waiters] = [createLoadCounter(span, buckets), createLoadCounter(span, buckets)];
  const failures = Array.from({ length: buckets }, () => 0);
  const addFailure = (at: number) => {
    const bucket = Math.ceil(((at - span.from) * buckets) / Math.max(1, span.until - span.from)) - 1;
    if (failures[bucket] !== undefined) failures[bucket] += 1;
  };
  const tasks = listTasks(snapshot);
  for (const entries of listEntriesByRun(snapshot)) {
    const isOne = "key" in entries;
    const run = isOne ? entries.run : entries[0]?.run;
    if (tasks.size > 0 && run !== undefined) tasks.delete(run);
    const { enqueuedAt, grantedAt } = isOne ? readTimes(entries) : readClaimTimes(entries);
    if (enqueuedAt === undefined) continue;
    waiters.add(enqueuedAt, grantedAt ?? span.until);
    if (grantedAt !== undefined) holders.add(grantedAt, span.until);
  }
  for (const runs of snapshot.histories.values())
    for (const { run, enqueuedAt, grantedAt, endedAt, exit } of runs) {
      if (endedAt < span.from) continue;
      if (tasks.size > 0) tasks.delete(run);
      waiters.add(enqueuedAt, grantedAt);
      holders.add(grantedAt, endedAt);
      if (exit !== 0) addFailure(endedAt);
    }
  for (const { from, until, hasFailed } of tasks.values()) {
    holders.add(from, until ?? span.until);
    if (hasFailed && until !== undefined) addFailure(until);
  }
  return { ...span, failures, holders: holders.computeAverages(), waiters: waiters.computeAverages() };
}

/** When a run was enqueued and granted, ms since the epoch; undefined if it was not, or its ticket cannot be read. */
interface ClaimTimes {
  enqueuedAt: number | undefined;
  grantedAt: number | undefined;
}

function readTimes(entry: QueueEntry): ClaimTimes {
  const { ticket } = entry;
  const grantedAt = isHolding(entry) ? getHeldSince(ticket) : undefined;
  return { enqueuedAt: ticket?.enqueuedAt, grantedAt };
}

/** A run waits from its first ticket until it is granted in its last queue. */
function readClaimTimes(entries: readonly QueueEntry[]): ClaimTimes {
  const times = entries.map(readTimes);
  const begins = times.flatMap(({ enqueuedAt }) => enqueuedAt ?? []);
  const grants = times.flatMap(({ grantedAt }) => grantedAt ?? []);
  return {
    enqueuedAt: begins.length === 0 ? undefined : Math.min(...begins),
    grantedAt: grants.length < entries.length ? undefined : Math.max(...grants),
  };
}

/** When an occurrence began and ended, ms since the epoch. */
interface TaskTimes {
  from: number;
  until?: number;
  hasFailed?: boolean;
}

/** Lists the occurrences of schedules that run, and the last ones that ended, by run. `until` is undefined while it runs. */
function listTasks({ executions, dues }: ActivitySnapshot): Map<string, TaskTimes> {
  const tasks = new Map<string, TaskTimes>();
  for (const { value } of dues.values())
    for (const [, { last }] of listStates(value))
      if (last !== undefined && last.endedAt > last.startedAt) {
        const { run, startedAt: from, endedAt: until, result } = last;
        tasks.set(run, { from, until, hasFailed: isFailure(result) });
      }
  for (const { value } of [...executions.values()].flat())
    if (value !== undefined) tasks.set(value.run, { from: value.since });
  return tasks;
}

/** Creates what adds up intervals in equal parts of a span. The work for an interval does not depend on its length. */
function createLoadCounter(span: TimeSpan, buckets: number) {
  const perMs = buckets / Math.max(1, span.until - span.from);
  /** What intervals that begin or end in a bucket fill of it. */
  const parts = new Float64Array(buckets + 1);
  /** By how many the intervals that fill whole buckets change at each. */
  const changes = new Float64Array(buckets + 2);
  const add = (values: Float64Array, at: number, by: number) => {
    values[at] = (values[at] ?? 0) + by;
  };
  return {
    /** @param from  as `until`, ms since the epoch. What is outside of the span is cut */
    add(from: number, until: number): void {
      const start = Math.max(0, (from - span.from) * perMs);
      const end = Math.min(buckets, (until - span.from) * perMs);
      if (!(end > start)) return;
      const [first, last] = [Math.floor(start), Math.floor(end)];
      if (first === last) return add(parts, first, end - start);
      add(parts, first, first + 1 - start);
      add(parts, last, end - last);
      add(changes, first + 1, 1);
      add(changes, last, -1);
    },

    /** Rounded to hundredths: sums of parts are not exact. */
    computeAverages(): number[] {
      let whole = 0;
      return Array.from({ length: buckets }, (_, at) => {
        whole += changes[at] ?? 0;
        return Math.round((whole + (parts[at] ?? 0)) * 100) / 100;
      });
    },
  };
}
