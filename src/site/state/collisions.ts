import { formatDuration, MINUTE_MS, type Millis } from "../../core/base/clock.ts";
import { quoteShellWord } from "../../core/base/shell.ts";
import { CRON_MACROS } from "../../schedule/cron/cron.ts";
import { SCHEDULE_DEFAULTS } from "../../schedule/definition-values.ts";
import { computeJitter } from "../../schedule/hash.ts";
import type { CronText } from "../../schedule/plan.ts";
import type { OutcomeHistory } from "../../schedule/state/outcome.ts";
import { findPlainTotal } from "./eviction-preview.ts";
import { forecastSchedule, hasExclusiveRuns, type ScheduleForecast, type TimeSpan } from "./forecast.ts";
import type { Snapshot } from "./snapshot.ts";

/** Schedules that start in the same minute. */
interface StartCollision {
  ids: readonly string[];
  /** Number of minutes in which all of them start. */
  minutes: number;
  /** The first of these minutes, ms since the epoch. */
  first: number;
}

/** A resource with fewer units than the runs would need. */
interface LeaseCollision {
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
interface OverlapCollision {
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

/** Returns the collisions of some schedules. The order stays. */
function selectCollisions(
  { starts, leases, overlaps }: CollisionReport,
  ids: ReadonlySet<string>,
): CollisionReport {
  const isWanted = (names: readonly string[]) => names.some((name) => ids.has(name));
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
      const minute = floorToMinute(at);
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
    if (total === undefined) return [];
    return sweepUnits(resource, total, listUnitChanges(forecasts, resource)) ?? [];
  });
}

function findStatedTotal(forecasts: readonly ScheduleForecast[], resource: string): number | undefined {
  const leases = forecasts.flatMap((one) => one.leases);
  const stated = leases.flatMap((lease) => (lease.resource === resource ? (lease.total ?? []) : []));
  return stated.length === 0 ? undefined : Math.min(...stated);
}

/** Lists when units are taken and given back, in order; at one instant, what is given back comes first. */
function listUnitChanges(forecasts: readonly ScheduleForecast[], resource: string): UnitChange[] {
  const changes = forecasts.flatMap(({ id, starts, usual = MINUTE_MS, leases }) => {
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
  const sharing = new Set(forecasts.filter(({ isShared }) => isShared).map(({ id }) => id));
  const excluding = locks.flatMap((lock) =>
    findOverlaps(
      forecasts.filter((one) => one.locks.includes(lock)),
      lock,
    ).filter(({ earlier, later }) => earlier !== later && !(sharing.has(earlier) && sharing.has(later))),
  );
  return [...own, ...excluding];
}

/** Finds the starts within the usual durations of earlier runs, among schedules that exclude each other. */
function findOverlaps(forecasts: readonly ScheduleForecast[], lock?: string): OverlapCollision[] {
  const starts = forecasts
    .flatMap(({ id, starts, usual = 0 }) => starts.map((at) => ({ id, at, end: at + usual })))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const found = new Map<string, OverlapCollision>();
  const running = new Map<string, number>(); // the latest end of each schedule
  for (const { id, at, end } of starts) {
    for (const [earlier, until] of running) {
      if (until <= at) {
        running.delete(earlier);
        continue;
      }
      const pair = `${earlier}\n${id}`;
      const none = { earlier, later: id, ...(lock !== undefined && { lock }), times: 0, first: at };
      const known = found.get(pair) ?? { ...none, longest: 0 };
      const longest = Math.max(known.longest, until - at);
      found.set(pair, { ...known, times: known.times + 1, longest });
    }
    running.set(id, Math.max(end, running.get(id) ?? 0));
  }
  return [...found.values()];
}

/**
 * Finds the collisions of schedules in a span, and how to spread them.
 * @param ids  only their collisions, with whatever schedules; undefined: all collisions
 */
export function findAllCollisions(
  snapshot: Snapshot,
  outcomes: ReadonlyMap<string, OutcomeHistory>,
  span: TimeSpan,
  ids?: ReadonlySet<string>,
): {
  forecasts: readonly ScheduleForecast[];
  report: CollisionReport;
  suggestions: readonly SpreadSuggestion[];
} {
  const forecasts = forecastAll(snapshot, outcomes, span);
  const all = findCollisions(forecasts, listTotals(snapshot));
  const report = ids === undefined ? all : selectCollisions(all, ids);
  return { forecasts, report, suggestions: suggestSpread(report, forecasts) };
}

function forecastAll(
  { schedules, dues, calendars }: Snapshot,
  outcomes: ReadonlyMap<string, OutcomeHistory>,
  span: TimeSpan,
): ScheduleForecast[] {
  return [...schedules].flatMap(([id, { value: definition }]) => {
    if (definition === undefined) return [];
    const { runs = [] } = outcomes.get(id) ?? {};
    return [forecastSchedule({ id, definition, due: dues.get(id)?.value, runs, calendars }, span)];
  });
}

function listTotals(snapshot: Snapshot): Map<string, number> {
  const names = [...snapshot.resources.keys()];
  return new Map(
    names.flatMap((name) => {
      const total = findPlainTotal(snapshot, name);
      return total === undefined ? [] : [[name, total] as const];
    }),
  );
}

/** A change of one schedule that ends a collision. */
export interface SpreadSuggestion {
  id: string;
  flag: "jitter" | "delay";
  /** The new value of the flag, ms. */
  value: number;
  /** The command that makes the change. */
  command: string;
  /**
   * A cron text that would do as well: with the minutes in which the fewest other schedules start. Undefined if there is
   * none in the form of the present one.
   */
  cron?: string;
}

/** Largest jitter to suggest, ms. */
const MAX_SUGGESTED_JITTER_MS = 5 * MINUTE_MS;

type Forecasts = ReadonlyMap<string, ScheduleForecast>;

/** A suggestion, and how much later the schedule must start at least, ms; undefined: a minute. */
type Move = SpreadSuggestion & { least?: number };

/**
 * Suggests how to spread schedules that compete: at most one change of each schedule. A schedule that takes longer than
 * its interval gets none, because no other minute helps.
 */
export function suggestSpread(
  { starts, leases, overlaps }: CollisionReport,
  forecasts: readonly ScheduleForecast[],
): SpreadSuggestion[] {
  const byId: Forecasts = new Map(forecasts.map((one) => [one.id, one]));
  const moves = [
    ...overlaps.flatMap(({ earlier, later, longest }) =>
      earlier === later ? [] : (suggestDelay(byId.get(later), longest) ?? []),
    ),
    ...leases.flatMap(({ ids, first }) => suggestForLease(byId, ids, first)),
    ...starts.flatMap(({ ids, first }) => suggestForStarts(byId, ids, first)),
  ];
  const suggested = new Map<string, SpreadSuggestion>();
  /** The starts in each minute, by the beginning of the minute. */
  const taken = new Map<number, number>();
  for (const forecast of forecasts) addStarts(taken, forecast.starts, 1);
  for (const { least = MINUTE_MS, ...move } of moves)
    if (!suggested.has(move.id))
      suggested.set(move.id, { ...move, ...moveCron(byId.get(move.id), least, taken) });
  return [...suggested.values()];
}

/**
 * Finds the minute, at least so much later, in which the fewest other schedules start; of several the nearest. Takes it.
 * @param taken  the starts in each minute. The schedule's own ones are moved, so that the next schedule avoids them
 */
function moveCron(
  forecast: ScheduleForecast | undefined,
  least: number,
  taken: Map<number, number>,
): { cron?: string } {
  if (forecast === undefined) return {};
  const { definition, starts } = forecast;
  const interval = findInterval(starts);
  addStarts(taken, starts, -1);
  let best: { cron: string; moved: readonly number[]; others: number } | undefined;
  const present = countOthers(taken, starts);
  for (
    let minutes = Math.ceil(least / MINUTE_MS);
    minutes < 60 && minutes * MINUTE_MS < interval;
    minutes += 1
  ) {
    const cron = shiftCron(definition.cron, minutes);
    const moved = starts.map((at) => at + minutes * MINUTE_MS);
    const others = countOthers(taken, moved);
    if (cron !== undefined && others < (best?.others ?? (least > MINUTE_MS ? Infinity : present)))
      best = { cron, moved, others };
  }
  addStarts(taken, best?.moved ?? starts, 1);
  return best === undefined ? {} : { cron: best.cron };
}

function addStarts(taken: Map<number, number>, starts: readonly number[], by: 1 | -1): void {
  for (const at of starts) taken.set(floorToMinute(at), (taken.get(floorToMinute(at)) ?? 0) + by);
}

/** Counts the starts of others in the minute that has most of them. */
function countOthers(taken: ReadonlyMap<number, number>, starts: readonly number[]): number {
  return starts.reduce((most, at) => Math.max(most, taken.get(floorToMinute(at)) ?? 0), 0);
}

/** Moves the run that needs too many units behind the end of the first one. */
function suggestForLease(byId: Forecasts, ids: readonly string[], first: number): Move[] {
  const running = ids.flatMap((id) => {
    const forecast = byId.get(id);
    const at = forecast?.starts.findLast((start) => start <= first);
    return forecast === undefined || at === undefined
      ? []
      : [{ forecast, at, end: at + (forecast.usual ?? MINUTE_MS) }];
  });
  const ordered = running.sort((a, b) => a.at - b.at || (a.forecast.id < b.forecast.id ? -1 : 1));
  const [before, last] = [ordered[0], ordered.at(-1)];
  if (before === undefined || last === undefined || before === last) return [];
  const move = suggestDelay(last.forecast, before.end - last.at);
  return move === undefined ? [] : [move];
}

/** Spreads all schedules but the most frequent one, which has the fewest free minutes. */
function suggestForStarts(byId: Forecasts, ids: readonly string[], minute: number): Move[] {
  const forecasts = ids.flatMap((id) => byId.get(id) ?? []);
  const [, ...others] = forecasts.sort((a, b) => b.starts.length - a.starts.length || (a.id < b.id ? -1 : 1));
  return others.flatMap(
    (one, index) => suggestJitter(one, minute) ?? suggestDelay(one, (index + 1) * MINUTE_MS) ?? [],
  );
}

/** Suggests a jitter; undefined if the schedule has one, starts too often for it, or would stay in the same minute. */
function suggestJitter(forecast: ScheduleForecast, minute: number): Move | undefined {
  const { id, starts, definition } = forecast;
  const most = Math.min(MAX_SUGGESTED_JITTER_MS, floorToMinute(findInterval(starts) / 2));
  const start = starts.find((at) => at >= minute);
  if (definition.jitter !== undefined || most < MINUTE_MS || start === undefined) return undefined;
  return start + computeJitter(id, most) < minute + MINUTE_MS
    ? undefined
    : buildSuggestion(id, "jitter", most);
}

/** Suggests a longer delay; undefined if the schedule would then start at or after its next occurrence. */
function suggestDelay(forecast: ScheduleForecast | undefined, later: number): Move | undefined {
  if (forecast === undefined) return undefined;
  const { id, definition, starts } = forecast;
  const shift = Math.ceil(later / MINUTE_MS) * MINUTE_MS;
  if (shift >= findInterval(starts)) return undefined;
  const delay = (definition.delay ?? SCHEDULE_DEFAULTS.delay) + shift;
  return { ...buildSuggestion(id, "delay", delay), least: shift };
}

function buildSuggestion(id: string, flag: SpreadSuggestion["flag"], value: number): SpreadSuggestion {
  const command = `signalbox schedule edit ${quoteShellWord(id)} --${flag} ${formatDuration(value)}`;
  return { id, flag, value, command };
}

/** Returns the shortest time between two starts, ms; infinite for fewer than two. */
function findInterval(starts: readonly number[]): number {
  return starts.slice(1).reduce((least, at, index) => Math.min(least, at - (starts[index] ?? at)), Infinity);
}

function floorToMinute(ms: Millis): number {
  return Number.isFinite(ms) ? Math.floor(ms / MINUTE_MS) * MINUTE_MS : MAX_SUGGESTED_JITTER_MS;
}

/**
 * Returns a cron text whose times are so many minutes later; undefined if another minute cannot be written in its form:
 * then several fields would have to change.
 * @param minutes  1 to 59
 */
export function shiftCron(text: CronText, minutes: number): string | undefined {
  if (typeof text !== "string") return undefined;
  const plain = Object.hasOwn(CRON_MACROS, text) ? CRON_MACROS[text] : text;
  const fields = plain?.trim().split(/\s+/) ?? [];
  const [minute = "", hour = "", ...days] = fields;
  if (fields.length !== 5) return undefined;
  const [, step] = /^\*\/([1-9]\d?)$/.exec(minute) ?? [];
  if (step !== undefined)
    return minutes < Number(step) && 60 % Number(step) === 0
      ? [`${minutes}-59/${step}`, hour, ...days].join(" ")
      : undefined;
  if (!/^\d+(,\d+)*$/.test(minute)) return undefined;
  const moved = minute.split(",").map((one) => Number(one) + minutes);
  const isSameHour = moved.every((one) => one < 60);
  if (hour === "*")
    return [
      moved
        .map((one) => one % 60)
        .sort((a, b) => a - b)
        .join(","),
      hour,
      ...days,
    ].join(" ");
  if (isSameHour) return [moved.join(","), hour, ...days].join(" ");
  const isNextHour = moved.every((one) => one >= 60) && /^\d+$/.test(hour) && Number(hour) < 23;
  return isNextHour
    ? [moved.map((one) => one - 60).join(","), String(Number(hour) + 1), ...days].join(" ")
    : undefined;
}
