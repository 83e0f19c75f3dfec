import type { WallPlan } from "./cron.ts";
import { findOccurrenceAfter, findShiftedWall } from "./occurrence.ts";
import { findOffsetPeriod, type OffsetPeriod } from "./offsets.ts";
import { findWallFrom, formatLocalTime, formatWallClock, formatWallDate } from "./wall-times.ts";

/** An upcoming occurrence. */
export interface UpcomingOccurrence {
  /** ms since the epoch. */
  at: number;
  /** Local time: "2026-03-29 03:00 CEST (+02:00)". */
  local: string;
  /** The clocks skip a time of this schedule (`gap`), or show one twice (`overlap`); or a day is excluded (`calendar`). */
  mark?: "gap" | "overlap" | "calendar";
  /** The time concerned, and the effect on it. */
  note?: string;
}

const MINUTE = 60_000;
/** Maximum number of skipped times that are listed. */
const NAMED = 3;

/**
 * Returns the next occurrences, with the effects of clock changes.
 * @param after ms since the epoch; the first occurrence is later
 * @param count maximum number; there may be fewer
 */
export function listUpcomingOccurrences(
  cron: WallPlan,
  zone: string,
  after: number,
  count: number,
): UpcomingOccurrence[] {
  const found: UpcomingOccurrence[] = [];
  let last = after;
  while (found.length < count) {
    const at = findOccurrenceAfter(cron, zone, last);
    const period = at === undefined ? undefined : findOffsetPeriod(zone, at);
    if (at === undefined || period === undefined) break;
    found.push({
      at,
      local: formatLocalTime(zone, at, period.offset),
      ...(findGapBefore(cron, zone, last, at) ?? findOverlap(cron, zone, period, at)),
    });
    last = at;
  }
  return found;
}

type ClockChangeMark = Pick<UpcomingOccurrence, "mark" | "note">;

/** Finds times that were skipped since the previous occurrence. */
function findGapBefore(cron: WallPlan, zone: string, last: number, at: number): ClockChangeMark | undefined {
  const notes: string[] = [];
  let period = findOffsetPeriod(zone, at);
  for (; period !== undefined && period.start > last; period = findOffsetPeriod(zone, period.start - 1)) {
    const note = formatGapNote(cron, period);
    if (note !== undefined) notes.unshift(note);
  }
  return notes.length === 0 ? undefined : { mark: "gap", note: notes.join("; ") };
}

function formatGapNote(cron: WallPlan, period: OffsetPeriod): string | undefined {
  const { start, offset, before } = period;
  if (offset <= before) return undefined;
  const nominal = findShiftedWall(cron, period);
  const skipped = listSkippedWalls(cron, period).filter((wall) => wall !== nominal);
  const why = `the clocks go from ${formatClockChange(period)}`;
  const lost = skipped.length === 0 ? [] : [`skipped ${formatWalls(skipped, start + offset)}: ${why}`];
  const late =
    nominal === undefined ? [] : [`instead of ${formatWallClock(nominal)}, which does not exist: ${why}`];
  return [...lost, ...late].join("; ") || undefined;
}

/** Returns the matching wall-clock times in a gap. */
export function listSkippedWalls({ walls }: WallPlan, { start, offset, before }: OffsetPeriod): number[] {
  const skipped: number[] = [];
  let wall = findWallFrom(walls, start + before, start + offset);
  while (wall !== undefined) {
    skipped.push(wall);
    wall = findWallFrom(walls, wall + MINUTE, start + offset);
  }
  return skipped;
}

function formatWalls(walls: readonly number[], beside: number): string {
  const texts = walls.slice(0, NAMED).map((wall) => formatWall(wall, beside));
  return `${texts.join(", ")}${walls.length > NAMED ? ` and ${walls.length - NAMED} more` : ""}`;
}

/** Marks an occurrence at a time that the clocks show twice. */
function findOverlap(
  { isFixed }: WallPlan,
  zone: string,
  period: OffsetPeriod,
  at: number,
): ClockChangeMark | undefined {
  const wall = at + period.offset;
  const next = findOffsetPeriod(zone, period.end);
  const isSecond = wall < period.start + period.before;
  const isFirst = next !== undefined && wall >= next.start + next.offset;
  const change = isSecond ? period : isFirst ? next : undefined;
  if (change === undefined) return undefined;
  const which = isFixed ? "comes twice, the first counts" : `for the ${isSecond ? "second" : "first"} time`;
  return {
    mark: "overlap",
    note: `${formatWallClock(wall)} ${which}: the clocks go back from ${formatClockChange(change)}`,
  };
}

/** Formats a clock change: "02:00 to 03:00". */
export function formatClockChange({ start, offset, before }: OffsetPeriod): string {
  const [from, to] = [start + before, start + offset];
  const isOneDay = formatWallDate(from) === formatWallDate(to);
  return `${formatWall(from, to)} to ${isOneDay ? "" : `${formatWallDate(to)} `}${formatWallClock(to)}`;
}

/** Formats a time, with its date if it differs from that of `beside`. */
function formatWall(wall: number, beside: number): string {
  return formatWallDate(wall) === formatWallDate(beside)
    ? formatWallClock(wall)
    : `${formatWallDate(wall)} ${formatWallClock(wall)}`;
}
