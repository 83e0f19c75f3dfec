import { DAY_MS, type LocalTime, MINUTE_MS, SECOND_MS, type WallTime } from "../../core/base/clock.ts";
import { countTimes } from "../plan-times.ts";
import type { WallPlan } from "./cron.ts";
import { findOffsetPeriod, type OffsetPeriod } from "./offsets.ts";
import {
  countWalls,
  findWallFrom,
  findWallUntil,
  formatLocalTime,
  formatWallClock,
  formatWallDate,
} from "./wall-times.ts";

export interface UpcomingOccurrence {
  at: WallTime;
  /** Local time: "2026-03-29 03:00 CEST (+02:00)". */
  local: string;
  /** The clocks skip a time of this schedule (`gap`), or show one twice (`overlap`); or a day is excluded (`calendar`), or times (`blackout`). */
  mark?: "gap" | "overlap" | "calendar" | "blackout";
  /** The time concerned, and the effect on it. */
  note?: string;
}

/** Maximum number of skipped times that are listed. */
const MAX_LISTED_TIMES = 3;

/**
 * Returns the next occurrences, with the effects of clock changes.
 * @param after the first occurrence is later
 * @param count maximum number; there may be fewer
 */
export function listUpcomingOccurrences(
  cron: WallPlan,
  zone: string,
  after: WallTime,
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
function findGapBefore(
  cron: WallPlan,
  zone: string,
  last: WallTime,
  at: WallTime,
): ClockChangeMark | undefined {
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
    nominal === undefined
      ? []
      : [`instead of ${formatWall(nominal, start + offset)}, which does not exist: ${why}`];
  return [...lost, ...late].join("; ") || undefined;
}

/** Returns the matching wall-clock times in a gap. */
export function listSkippedWalls({ walls }: WallPlan, { start, offset, before }: OffsetPeriod): number[] {
  const skipped: number[] = [];
  let wall = findWallFrom(walls, start + before, start + offset);
  while (wall !== undefined) {
    skipped.push(wall);
    wall = findWallFrom(walls, wall + MINUTE_MS, start + offset);
  }
  return skipped;
}

function formatWalls(walls: readonly number[], beside: number): string {
  const texts = walls.slice(0, MAX_LISTED_TIMES).map((wall) => formatWall(wall, beside));
  return `${texts.join(", ")}${walls.length > MAX_LISTED_TIMES ? ` and ${walls.length - MAX_LISTED_TIMES} more` : ""}`;
}

/** Marks an occurrence at a time that the clocks show twice. */
function findOverlap(
  { isFixed }: WallPlan,
  zone: string,
  period: OffsetPeriod,
  at: WallTime,
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
function formatWall(wall: LocalTime, beside: LocalTime): string {
  return formatWallDate(wall) === formatWallDate(beside)
    ? formatWallClock(wall)
    : `${formatWallDate(wall)} ${formatWallClock(wall)}`;
}

/** Limit of the search, ms: 100 years. */
const MAX_SEARCH_MS = 36_525 * DAY_MS;

/**
 * Returns the first occurrence strictly after an instant.
 *
 * Clock changes follow the rule of Vixie's cron. An expression that names one time of the day (`30 2 * * *`: one
 * minute, one hour, neither a wildcard nor a step) fires once on each of its days. If the clocks skip that time, it
 * fires at the first moment after the gap, also on the next day, unless the clocks skip the whole day. If the clocks show it twice, it
 * fires the first time only. Every other expression follows the clocks: it does not fire at times that are skipped, and fires
 * twice at times that are shown twice.
 * @param zone a name that `checkZone` accepts
 * @returns always later than `after`, a whole second of the wall clock; undefined if there is no
 *   occurrence within 100 years because it falls into a gap every year
 */
export function findOccurrenceAfter(cron: WallPlan, zone: string, after: WallTime): WallTime | undefined {
  return findOccurrenceFrom(cron, zone, Math.floor(after) + 1);
}

/**
 * Returns the first occurrence at or after an instant.
 * @see findOccurrenceAfter
 */
export function findOccurrenceFrom(cron: WallPlan, zone: string, from: WallTime): WallTime | undefined {
  const at = from <= (cron.until ?? Infinity) ? findTimeFrom(cron, zone, from) : undefined;
  return at !== undefined && at <= (cron.until ?? Infinity) ? at : undefined;
}

function findTimeFrom(cron: WallPlan, zone: string, from: WallTime): WallTime | undefined {
  const { seconds } = cron;
  if (seconds === undefined) return findMinuteFrom(cron, zone, from);
  const begun = findMinuteUntil(cron, zone, from);
  const second = seconds.find((one) => begun !== undefined && begun + one * SECOND_MS >= from);
  if (begun !== undefined && second !== undefined) return begun + second * SECOND_MS;
  const minute = findMinuteFrom(cron, zone, from);
  return minute === undefined ? undefined : minute + (seconds[0] ?? 0) * SECOND_MS;
}

/**
 * Returns the last occurrence at or before an instant; undefined if there is none in the 100 years before.
 * @see findOccurrenceAfter
 */
export function findOccurrenceUntil(cron: WallPlan, zone: string, latest: WallTime): WallTime | undefined {
  const { seconds } = cron;
  const until = Math.min(latest, cron.until ?? Infinity);
  const minute = findMinuteUntil(cron, zone, until);
  if (minute === undefined || seconds === undefined) return minute;
  const second = seconds.findLast((one) => minute + one * SECOND_MS <= until);
  if (second !== undefined) return minute + second * SECOND_MS;
  const before = findMinuteUntil(cron, zone, minute - 1);
  return before === undefined ? undefined : before + (seconds.at(-1) ?? 0) * SECOND_MS;
}

function findMinuteFrom(cron: WallPlan, zone: string, from: WallTime): WallTime | undefined {
  let period = findOffsetPeriod(zone, from);
  let at = from;
  while (period !== undefined && period.start <= from + MAX_SEARCH_MS) {
    const found = findFirstInPeriod(cron, period, at);
    if (found !== undefined) return found;
    at = period.end;
    period = findOffsetPeriod(zone, at);
  }
  return undefined;
}

function findMinuteUntil(cron: WallPlan, zone: string, until: WallTime): WallTime | undefined {
  let period = findOffsetPeriod(zone, until);
  let at = until;
  while (period !== undefined && period.end >= until - MAX_SEARCH_MS) {
    const found = findLastInPeriod(cron, period, at);
    if (found !== undefined) return found;
    at = period.start - 1;
    period = findOffsetPeriod(zone, at);
  }
  return undefined;
}

/**
 * Counts the occurrences after one instant and up to another.
 * @param most limit of the count
 */
export function countOccurrences(
  cron: WallPlan,
  zone: string,
  after: WallTime,
  until: WallTime,
  most: number,
): number {
  if (cron.seconds !== undefined)
    return countTimes((at) => findOccurrenceAfter(cron, zone, at), { after, until, most });
  let count = 0;
  let at = Math.floor(after) + 1;
  const to = Math.floor(Math.min(until, cron.until ?? Infinity)) + 1;
  while (count < most && at < to) {
    const period = findOffsetPeriod(zone, at);
    if (period === undefined) break;
    const end = Math.min(period.end, to);
    count += findShiftedWall(cron, period) !== undefined && at <= period.start ? 1 : 0;
    count += countWalls(
      cron.walls,
      Math.max(at + period.offset, computeWallStart(cron, period)),
      end + period.offset,
    );
    at = period.end;
  }
  return Math.min(count, most);
}

function findFirstInPeriod(cron: WallPlan, period: OffsetPeriod, from: WallTime): WallTime | undefined {
  const { start, end, offset } = period;
  if (from <= start && findShiftedWall(cron, period) !== undefined) return start;
  const wall = findWallFrom(
    cron.walls,
    Math.max(from + offset, computeWallStart(cron, period)),
    end + offset,
  );
  return wall === undefined ? undefined : wall - offset;
}

function findLastInPeriod(cron: WallPlan, period: OffsetPeriod, until: WallTime): WallTime | undefined {
  const { start, offset } = period;
  const wall = findWallUntil(cron.walls, until + offset, computeWallStart(cron, period));
  if (wall !== undefined) return wall - offset;
  return findShiftedWall(cron, period) === undefined ? undefined : start;
}

/**
 * Returns the wall-clock time from which a period counts. For an expression that names one time of the day, this
 * excludes times that the clocks show again.
 */
function computeWallStart({ isFixed }: WallPlan, { start, offset, before }: OffsetPeriod): number {
  return start + (isFixed ? Math.max(offset, before) : offset);
}

/** Returns the wall-clock time that the clocks skipped right before a period, and that fires at its start instead. */
export function findShiftedWall(
  { isFixed, walls }: WallPlan,
  { start, offset, before }: OffsetPeriod,
): number | undefined {
  if (!isFixed || offset <= before) return undefined;
  const [gap, shown] = [start + before, start + offset];
  // A day of which nothing was shown never existed, and its times do not fire on the next day.
  const from = gap % DAY_MS === 0 ? Math.max(gap, Math.floor(shown / DAY_MS) * DAY_MS) : gap;
  if (findWallUntil(walls, shown, shown) !== undefined) return undefined; // of several times a day, this one is due then
  return findWallUntil(walls, shown - MINUTE_MS, from);
}
