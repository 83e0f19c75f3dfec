import { formatDuration } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { CRON_MACROS } from "../../schedule/cron/cron.ts";
import { SCHEDULE_DEFAULTS } from "../../schedule/definition-values.ts";
import { computeJitter } from "../../schedule/hash.ts";
import type { CollisionReport } from "./collisions.ts";
import type { ScheduleForecast } from "./forecast.ts";

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

const MINUTE = 60_000;
/** Largest jitter to suggest, ms. */
const JITTER = 5 * MINUTE;

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
  const taken = countStarts(forecasts);
  for (const { least = MINUTE, ...move } of moves)
    if (!suggested.has(move.id))
      suggested.set(move.id, { ...move, ...moveCron(byId.get(move.id), least, taken) });
  return [...suggested.values()];
}

/** Counts the starts in each minute, by the beginning of the minute. */
function countStarts(forecasts: readonly ScheduleForecast[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { starts } of forecasts) addStarts(counts, starts, 1);
  return counts;
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
  for (let minutes = Math.ceil(least / MINUTE); minutes < 60 && minutes * MINUTE < interval; minutes += 1) {
    const cron = shiftCron(definition.cron, minutes);
    const moved = starts.map((at) => at + minutes * MINUTE);
    const others = countOthers(taken, moved);
    if (
      cron !== undefined &&
      others < (best?.others ?? (least > MINUTE ? Number.POSITIVE_INFINITY : present))
    )
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
      : [{ forecast, at, end: at + (forecast.usual ?? MINUTE) }];
  });
  const ordered = running.sort((a, b) => a.at - b.at || (a.forecast.id < b.forecast.id ? -1 : 1));
  const [before, last] = [ordered[0], ordered.at(-1)];
  if (before === undefined || last === undefined || before === last) return [];
  return [suggestDelay(last.forecast, before.end - last.at)].filter((one) => one !== undefined);
}

/** Spreads all schedules but the most frequent one, which has the fewest free minutes. */
function suggestForStarts(byId: Forecasts, ids: readonly string[], minute: number): Move[] {
  const forecasts = ids.flatMap((id) => byId.get(id) ?? []);
  const [, ...others] = forecasts.sort((a, b) => b.starts.length - a.starts.length || (a.id < b.id ? -1 : 1));
  return others.flatMap(
    (one, index) => suggestJitter(one, minute) ?? suggestDelay(one, (index + 1) * MINUTE) ?? [],
  );
}

/** Suggests a jitter; undefined if the schedule has one, starts too often for it, or would stay in the same minute. */
function suggestJitter(forecast: ScheduleForecast, minute: number): Move | undefined {
  const { id, starts, definition } = forecast;
  const most = Math.min(JITTER, floorToMinute(findInterval(starts) / 2));
  const start = starts.find((at) => at >= minute);
  if (definition.jitter !== undefined || most < MINUTE || start === undefined) return undefined;
  return start + computeJitter(id, most) < minute + MINUTE ? undefined : buildSuggestion(id, "jitter", most);
}

/** Suggests a longer delay; undefined if the schedule would then start at or after its next occurrence. */
function suggestDelay(forecast: ScheduleForecast | undefined, later: number): Move | undefined {
  if (forecast === undefined) return undefined;
  const { id, definition, starts } = forecast;
  const shift = Math.ceil(later / MINUTE) * MINUTE;
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
  return starts
    .slice(1)
    .reduce((least, at, index) => Math.min(least, at - (starts[index] ?? at)), Number.POSITIVE_INFINITY);
}

function floorToMinute(ms: number): number {
  return Number.isFinite(ms) ? Math.floor(ms / MINUTE) * MINUTE : JITTER;
}

/**
 * Returns a cron text whose times are so many minutes later; undefined if another minute cannot be written in its form:
 * then several fields would have to change.
 * @param minutes  1 to 59
 */
export function shiftCron(text: string, minutes: number): string | undefined {
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
