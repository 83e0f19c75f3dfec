import type { Cron } from "../cron/cron.ts";
import { findOccurrenceAfter, findShiftedWall } from "../cron/occurrence.ts";
import { findOffsetPeriod, type OffsetPeriod } from "../cron/offsets.ts";
import { formatClockChange, listSkippedWalls } from "../cron/upcoming-occurrences.ts";
import { findWallFrom, formatWallClock, formatWallDate } from "../cron/wall-times.ts";
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
  return listClockEffects(cron, zone, now).map(({ kind, detail }) => ({
    level: kind === "shifted" || kind === "once" ? "hint" : "warning",
    about: "clock change",
    detail,
    remedy: "use another hour, or --timezone UTC",
  }));
}

/** What a clock change does to a schedule. */
export interface ClockEffect {
  /**
   * `skipped`: it does not fire for a time that the clocks skip. `shifted`: it fires after the gap instead. `repeated`: it
   * fires twice for a time that the clocks show twice. `once`: it fires the first time only.
   */
  kind: "skipped" | "shifted" | "repeated" | "once";
  /** The date, the clock change, and the effect. */
  detail: string;
}

/** Lists the effects of the zone's clock changes within a year, in order. `now` in ms since the epoch. */
export function listClockEffects(cron: Cron, zone: string, now: number): ClockEffect[] {
  // An expression that fires every hour follows the clock, so clock changes are expected.
  if (cron.fields.hour.values.length === 24) return [];
  return listClockChanges(zone, now).flatMap((period) => {
    const effect = findClockEffect(cron, period);
    if (effect === undefined) return [];
    const date = formatWallDate(period.start + period.before);
    const detail = `on ${date} the clocks of ${zone} go from ${formatClockChange(period)}: ${effect.what}`;
    return [{ kind: effect.kind, detail }];
  });
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

function findClockEffect(
  cron: Cron,
  period: OffsetPeriod,
): { kind: ClockEffect["kind"]; what: string } | undefined {
  const { start, offset, before } = period;
  if (offset < before) {
    const twice = findWallFrom(cron.walls, start + offset, start + before);
    if (twice === undefined) return undefined;
    return cron.isFixed
      ? { kind: "once", what: `${formatWallClock(twice)} comes twice, it fires the first time` }
      : { kind: "repeated", what: `it fires twice for ${formatWallClock(twice)}` };
  }
  const [skipped] = listSkippedWalls(cron, period);
  if (skipped === undefined) return undefined;
  const wall = formatWallClock(skipped);
  return findShiftedWall(cron, period) === undefined
    ? { kind: "skipped", what: `it does not fire for ${wall}` }
    : { kind: "shifted", what: `${wall} does not exist, it fires at ${formatWallClock(start + offset)}` };
}

/** What another scheduler does instead, for each effect that differs there. */
type ClockRule = Readonly<Partial<Record<ClockEffect["kind"], string>>>;

/**
 * Describes what the clock changes of the next year do to a schedule here, and what another scheduler does instead.
 * @param now  ms since the epoch
 * @returns one text; undefined if nothing differs
 */
export function describeClockDifference(
  cron: Cron,
  zone: string,
  now: number,
  rule: ClockRule,
): string | undefined {
  const texts = listClockEffects(cron, zone, now).flatMap(({ kind, detail }) =>
    rule[kind] === undefined ? [] : [`${detail} (${rule[kind]})`],
  );
  return texts.length === 0 ? undefined : texts.join("; ");
}
