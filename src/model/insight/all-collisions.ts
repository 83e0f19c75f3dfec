import type { OutcomeHistory } from "../../schedule/state/outcome.ts";
import { findPlainTotal } from "../preview/eviction-preview.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { type CollisionReport, findCollisions, selectCollisions } from "./collisions.ts";
import { forecastSchedule, type ScheduleForecast, type TimeSpan } from "./forecast.ts";
import { type SpreadSuggestion, suggestSpread } from "./spread.ts";

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
