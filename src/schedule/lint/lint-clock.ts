import type { Cron } from "../cron/cron.ts";
import { findOccurrenceAfter, findShiftedWall } from "../cron/occurrence.ts";
import { findOffsetPeriod, type OffsetPeriod } from "../cron/offsets.ts";
import { formatClockChange, listSkippedWalls } from "../cron/upcoming-occurrences.ts";
import { formatWallClock, formatWallDate } from "../cron/wall-time.ts";
import { findWallFrom } from "../cron/wall-times.ts";
import type { LintFinding } from "./lint-finding.ts";

const YEAR = 366 * 86_400_000;

/**
 * Finds problems with the clock changes of the zone within a year, and whether the schedule fires at all. Instants in
 * ms since the epoch.
 */
export function lintClockChanges(cron: Cron, zone: string, now: number): LintFinding[] {
  const next = findOccurrenceAfter(cron, zone, now);
  if (next === undefined)
    return [
      {
        level: "error",
        about: "clock change",
        detail: `it never fires: the clocks of ${zone} skip it every time`,
        remedy: "use another hour, or --timezone UTC",
      },
    ];
  // An expression that fires every hour follows the clock, so clock changes are expected.
  if (cron.fields.hour.values.length === 24) return [];
  return listClockChanges(zone, now).flatMap((period) => lintClockChange(cron, zone, period));
}

/** Returns the periods that begin with a clock change, within a year. */
function listClockChanges(zone: string, now: number): OffsetPeriod[] {
  const changes: OffsetPeriod[] = [];
  let period = findOffsetPeriod(zone, now);
  while (period !== undefined && period.start < now + YEAR) {
    if (period.start > now && period.offset !== period.before) changes.push(period);
    period = findOffsetPeriod(zone, period.end);
  }
  return changes;
}

function lintClockChange(cron: Cron, zone: string, period: OffsetPeriod): LintFinding[] {
  const { start, offset, before } = period;
  const buildFindings = (level: LintFinding["level"], what: string): LintFinding[] => [
    {
      level,
      about: "clock change",
      detail: `on ${formatWallDate(start + before)} the clocks of ${zone} go from ${formatClockChange(period)}: ${what}`,
      remedy: "use another hour, or --timezone UTC",
    },
  ];
  if (offset < before) {
    const twice = findWallFrom(cron.walls, start + offset, start + before);
    if (twice === undefined) return [];
    return cron.isFixed
      ? buildFindings("hint", `${formatWallClock(twice)} comes twice, it fires the first time`)
      : buildFindings("warning", `it fires twice for ${formatWallClock(twice)}`);
  }
  const [skipped] = listSkippedWalls(cron, period);
  if (skipped === undefined) return [];
  return findShiftedWall(cron, period) === undefined
    ? buildFindings("warning", `it does not fire for ${formatWallClock(skipped)}`)
    : buildFindings(
        "hint",
        `${formatWallClock(skipped)} does not exist, it fires at ${formatWallClock(start + offset)}`,
      );
}
