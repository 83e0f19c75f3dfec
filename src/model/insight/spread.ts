import { formatDuration } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
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
}

const MINUTE = 60_000;
/** Largest jitter to suggest, ms. */
const JITTER = 5 * MINUTE;

type Forecasts = ReadonlyMap<string, ScheduleForecast>;

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
  for (const move of moves) if (!suggested.has(move.id)) suggested.set(move.id, move);
  return [...suggested.values()];
}

/** Moves the run that needs too many units behind the end of the first one. */
function suggestForLease(byId: Forecasts, ids: readonly string[], first: number): SpreadSuggestion[] {
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
function suggestForStarts(byId: Forecasts, ids: readonly string[], minute: number): SpreadSuggestion[] {
  const forecasts = ids.flatMap((id) => byId.get(id) ?? []);
  const [, ...others] = forecasts.sort((a, b) => b.starts.length - a.starts.length || (a.id < b.id ? -1 : 1));
  return others.flatMap(
    (one, index) => suggestJitter(one, minute) ?? suggestDelay(one, (index + 1) * MINUTE) ?? [],
  );
}

/** Suggests a jitter; undefined if the schedule has one, starts too often for it, or would stay in the same minute. */
function suggestJitter(forecast: ScheduleForecast, minute: number): SpreadSuggestion | undefined {
  const { id, starts, definition } = forecast;
  const most = Math.min(JITTER, floorToMinute(findInterval(starts) / 2));
  const start = starts.find((at) => at >= minute);
  if (definition.jitter !== undefined || most < MINUTE || start === undefined) return undefined;
  return start + computeJitter(id, most) < minute + MINUTE ? undefined : buildSuggestion(id, "jitter", most);
}

/** Suggests a longer delay; undefined if the schedule would then start at or after its next occurrence. */
function suggestDelay(forecast: ScheduleForecast | undefined, later: number): SpreadSuggestion | undefined {
  if (forecast === undefined) return undefined;
  const { id, definition, starts } = forecast;
  const shift = Math.ceil(later / MINUTE) * MINUTE;
  if (shift >= findInterval(starts)) return undefined;
  return buildSuggestion(id, "delay", (definition.delay ?? SCHEDULE_DEFAULTS.delay) + shift);
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
