import { hasExclusiveRuns, type ScheduleForecast } from "./forecast.ts";

/** Schedules that start in the same minute. */
export interface StartCollision {
  ids: readonly string[];
  /** Number of minutes in which all of them start. */
  minutes: number;
  /** The first of these minutes, ms since the epoch. */
  first: number;
}

/** A resource of which the runs would need more units than there are. */
export interface LeaseCollision {
  resource: string;
  total: number;
  /** Most units that are needed at the same time. */
  peak: number;
  /** How often the total is exceeded, and when first, ms since the epoch. */
  times: number;
  first: number;
  ids: readonly string[];
}

/** A run that usually has not ended when another one starts that it excludes. */
export interface OverlapCollision {
  earlier: string;
  /** The same as `earlier` if a schedule takes longer than its interval. */
  later: string;
  /** The lock of both; undefined if the rule for overlaps of the schedule excludes the runs. */
  lock?: string;
  times: number;
  first: number;
  /** Longest remaining time of the earlier run at the start of the later one, ms. */
  longest: number;
}

/** Schedules that compete for the same minutes, units or locks. Each list has the most frequent first. */
export interface CollisionReport {
  starts: readonly StartCollision[];
  leases: readonly LeaseCollision[];
  overlaps: readonly OverlapCollision[];
}

const MINUTE = 60_000;

/** Returns the collisions of some schedules, or with `false` all others. The order stays. */
export function selectCollisions(
  { starts, leases, overlaps }: CollisionReport,
  ids: ReadonlySet<string>,
  concern = true,
): CollisionReport {
  const isWanted = (names: readonly string[]) => names.some((name) => ids.has(name)) === concern;
  return {
    starts: starts.filter((one) => isWanted(one.ids)),
    leases: leases.filter((one) => isWanted(one.ids)),
    overlaps: overlaps.filter(({ earlier, later }) => isWanted([earlier, later])),
  };
}

/**
 * Finds the schedules that compete.
 * @param totals  configured totals by resource, in units. Others use the smallest total that a schedule states
 */
export function findCollisions(
  forecasts: readonly ScheduleForecast[],
  totals: ReadonlyMap<string, number>,
): CollisionReport {
  return {
    starts: findStartCollisions(forecasts).sort((a, b) => b.minutes - a.minutes || a.first - b.first),
    leases: findLeaseCollisions(forecasts, totals).sort((a, b) => b.times - a.times),
    overlaps: findOverlapCollisions(forecasts).sort((a, b) => b.times - a.times || a.first - b.first),
  };
}

function findStartCollisions(forecasts: readonly ScheduleForecast[]): StartCollision[] {
  const minutes = new Map<number, Set<string>>();
  for (const { id, starts } of forecasts)
    for (const at of starts) {
      const minute = at - (at % MINUTE);
      minutes.set(minute, (minutes.get(minute) ?? new Set()).add(id));
    }
  const found = new Map<string, StartCollision>();
  for (const [minute, set] of [...minutes].sort(([a], [b]) => a - b)) {
    if (set.size < 2) continue;
    const ids = [...set].sort();
    const known = found.get(ids.join("\n")) ?? { ids, minutes: 0, first: minute };
    found.set(ids.join("\n"), { ...known, minutes: known.minutes + 1 });
  }
  return [...found.values()];
}

interface UnitChange {
  at: number;
  id: string;
  units: number;
}

function findLeaseCollisions(
  forecasts: readonly ScheduleForecast[],
  totals: ReadonlyMap<string, number>,
): LeaseCollision[] {
  const resources = new Set(forecasts.flatMap(({ leases }) => leases.map(({ resource }) => resource)));
  return [...resources].sort().flatMap((resource) => {
    const total = totals.get(resource) ?? findStatedTotal(forecasts, resource);
    return total === undefined
      ? []
      : (sweepUnits(resource, total, listUnitChanges(forecasts, resource)) ?? []);
  });
}

function findStatedTotal(forecasts: readonly ScheduleForecast[], resource: string): number | undefined {
  const stated = forecasts.flatMap(({ leases }) =>
    leases.flatMap((lease) =>
      lease.resource === resource && lease.total !== undefined ? [lease.total] : [],
    ),
  );
  return stated.length === 0 ? undefined : Math.min(...stated);
}

/** Lists when units are taken and given back, in order; at one instant, what is given back comes first. */
function listUnitChanges(forecasts: readonly ScheduleForecast[], resource: string): UnitChange[] {
  const changes = forecasts.flatMap(({ id, starts, usual = MINUTE, leases }) => {
    const units = leases.reduce((sum, lease) => sum + (lease.resource === resource ? lease.count : 0), 0);
    if (units === 0 || usual === 0) return [];
    return starts.flatMap((at) => [
      { at, id, units },
      { at: at + usual, id, units: -units },
    ]);
  });
  return changes.sort((a, b) => a.at - b.at || a.units - b.units);
}

function sweepUnits(
  resource: string,
  total: number,
  changes: readonly UnitChange[],
): LeaseCollision | undefined {
  const held = new Map<string, number>();
  const ids = new Set<string>();
  let [used, peak, times, first] = [0, 0, 0, 0];
  for (const { at, id, units } of changes) {
    const before = used;
    used += units;
    held.set(id, (held.get(id) ?? 0) + units);
    if (used <= total) continue;
    peak = Math.max(peak, used);
    for (const [other, count] of held) if (count > 0) ids.add(other);
    if (before > total) continue;
    times += 1;
    if (times === 1) first = at;
  }
  return times === 0 ? undefined : { resource, total, peak, times, first, ids: [...ids].sort() };
}

function findOverlapCollisions(forecasts: readonly ScheduleForecast[]): OverlapCollision[] {
  const own = forecasts.filter(hasExclusiveRuns).flatMap((one) => findOverlaps([one]));
  const locks = [...new Set(forecasts.flatMap((one) => one.locks))].sort();
  const shared = locks.flatMap((lock) =>
    findOverlaps(
      forecasts.filter((one) => one.locks.includes(lock)),
      lock,
    ).filter(({ earlier, later }) => earlier !== later),
  );
  return [...own, ...shared];
}

/** Finds the starts within the usual duration of the run before, among schedules that exclude each other. */
function findOverlaps(forecasts: readonly ScheduleForecast[], lock?: string): OverlapCollision[] {
  const starts = forecasts
    .flatMap(({ id, starts, usual = 0 }) => starts.map((at) => ({ id, at, end: at + usual })))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const found = new Map<string, OverlapCollision>();
  let running = starts[0];
  for (const start of starts.slice(1)) {
    if (running !== undefined && start.at < running.end) {
      const pair = `${running.id}\n${start.id}`;
      const none = { earlier: running.id, later: start.id, ...(lock !== undefined && { lock }), times: 0 };
      const known = found.get(pair) ?? { ...none, first: start.at, longest: 0 };
      const longest = Math.max(known.longest, running.end - start.at);
      found.set(pair, { ...known, times: known.times + 1, longest });
    }
    if (running === undefined || start.end > running.end) running = start;
  }
  return [...found.values()];
}
