import type { WallTime } from "../../core/base/clock.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import type { PastRun } from "../../core/protocol/history.ts";
import type { Queue } from "../../core/protocol/ticket.ts";
import type { OccurrenceOutcome } from "../../schedule/state/outcome.ts";
import type { TimeSpan } from "./forecast.ts";

/** What a run that has ended used of a resource. Instants in ms since the epoch. */
export interface PastUse {
  /** In whose history it is: `lock invoices`, `schedule backup`. */
  subject: string;
  run: string;
  host: string;
  /** Undefined for a task. */
  pid?: number;
  command?: string;
  units: number;
  /** When it began to wait; for a run with a lock too, for both. */
  enqueuedAt: WallTime;
  grantedAt: WallTime;
  endedAt: WallTime;
  /** Exit code or result. */
  result: string;
}

/** The histories of locks and the outcomes of schedules, newest first, by name. */
interface UseHistories {
  histories: ReadonlyMap<string, readonly PastRun[]>;
  outcomes: ReadonlyMap<string, readonly OccurrenceOutcome[]>;
}

/**
 * Lists the uses of each resource, newest first, from what runs and tasks leave in the histories of locks and schedules.
 * @param only  a resource, to list no others
 */
export function listPastUses({ histories, outcomes }: UseHistories, only?: string): Map<string, PastUse[]> {
  const byResource = new Map<string, Map<string, PastUse>>();
  // A run with several locks is in the history of each.
  const add = (leases: Readonly<Record<string, number>>, use: Omit<PastUse, "units">) => {
    for (const [resource, units] of Object.entries(leases)) {
      if (only !== undefined && resource !== only) continue;
      const uses = byResource.get(resource) ?? new Map<string, PastUse>();
      if (!uses.has(use.run)) uses.set(use.run, { ...use, units });
      byResource.set(resource, uses);
    }
  };
  for (const [lock, runs] of histories)
    for (const run of runs) if (run.leases !== undefined) add(run.leases, toUse(`lock ${lock}`, run));
  for (const [id, ended] of outcomes)
    for (const one of ended) if (one.leases !== undefined) add(one.leases, toTaskUse(`schedule ${id}`, one));
  const sort = (uses: Map<string, PastUse>) => [...uses.values()].sort((a, b) => b.endedAt - a.endedAt);
  return new Map([...byResource].map(([resource, uses]) => [resource, sort(uses)]));
}

function toUse(
  subject: string,
  { run, host, pid, command, enqueuedAt, grantedAt, endedAt, exit }: PastRun,
): Omit<PastUse, "units"> {
  return { subject, run, host, pid, command, enqueuedAt, grantedAt, endedAt, result: String(exit) };
}

function toTaskUse(
  subject: string,
  { run = "", host = "", startedAt, endedAt, waited = 0, result }: OccurrenceOutcome,
): Omit<PastUse, "units"> {
  const enqueuedAt = startedAt ?? endedAt;
  return { subject, run, host, enqueuedAt, grantedAt: enqueuedAt + waited, endedAt, result };
}

/** Units of a resource over some time. */
interface ResourceUse {
  /** The most that were held at a time, for each part of the time. */
  steps: number[];
  /** The same for the units that were waited for. */
  waiting: number[];
  peak: number;
  /** Units held, averaged over the time. */
  average: number;
}

/** Units from one instant to another. */
interface UnitSpan extends TimeSpan {
  units: number;
}

/**
 * Computes how many units were held and waited for.
 * @param entries  the current tickets
 * @param count  number of equal parts of the span
 */
export function computeResourceUse(
  uses: readonly PastUse[],
  entries: Queue,
  span: TimeSpan,
  count: number,
): ResourceUse {
  const present = entries.flatMap((entry) => (entry.ticket === undefined ? [] : [toPresentUse(entry, span)]));
  const all = [...uses, ...present];
  const held = all.map(({ units, grantedAt, endedAt }) => ({ units, from: grantedAt, until: endedAt }));
  const waits = all.map(({ units, enqueuedAt, grantedAt }) => ({
    units,
    from: enqueuedAt,
    until: grantedAt,
  }));
  const steps = computeUnitPeaks(held, span, count);
  const unitTime = held.reduce(
    (sum, { units, from, until }) =>
      sum + units * Math.max(0, Math.min(until, span.until) - Math.max(from, span.from)),
    0,
  );
  return {
    steps,
    waiting: computeUnitPeaks(waits, span, count),
    peak: Math.max(0, ...steps),
    average: unitTime / Math.max(1, span.until - span.from),
  };
}

function toPresentUse(
  entry: Queue[number],
  { until }: TimeSpan,
): Pick<PastUse, "units" | "enqueuedAt" | "grantedAt" | "endedAt"> {
  const { count = 1, enqueuedAt = until, grantedAt = enqueuedAt } = entry.ticket ?? {};
  return { units: count, enqueuedAt, grantedAt: isHolding(entry) ? grantedAt : until, endedAt: until };
}

/** Computes the largest sum of units at an instant, for each of some equal parts of a span. */
export function computeUnitPeaks(
  spans: readonly UnitSpan[],
  { from, until }: TimeSpan,
  count: number,
): number[] {
  const maxima = Array.from({ length: count }, () => 0);
  const changes = spans
    .filter((one) => one.until > one.from && one.until > from && one.from < until)
    .flatMap((one) => [
      { at: Math.max(from, one.from), by: one.units },
      { at: Math.min(until, one.until), by: -one.units },
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by); // what is freed can be granted at the same instant
  const step = Math.max(1, until - from) / count;
  let [sum, last] = [0, from];
  for (const { at, by } of changes) {
    raise(maxima, sum, Math.floor((last - from) / step), Math.ceil((at - from) / step));
    sum += by;
    last = at;
  }
  return maxima;
}

/** Raises the parts from `first` on, before `end`, to at least `sum`. */
function raise(maxima: number[], sum: number, first: number, end: number): void {
  for (let at = first; at < Math.min(end, maxima.length); at += 1)
    maxima[at] = Math.max(maxima[at] ?? 0, sum);
}
