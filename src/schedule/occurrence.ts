import { countWalls, wallFrom, wallUntil } from "./calendar.ts";
import type { Cron } from "./cron.ts";
import { type Period, periodAt } from "./offsets.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
/** How far is searched. */
const CENTURY = 36_525 * DAY;

/**
 * First occurrence strictly after an instant.
 *
 * What clock changes do is Vixie's rule. A cron text that names one time of the day (`30 2 * * *`: one minute, one hour, neither
 * a wildcard nor a step) comes once on each of its days: where the clocks skip that time, at the first moment after the gap, if it is
 * still the same day; where they show it twice, the first time only. Every other text follows the clocks: times that are skipped do not
 * come, times that are shown twice come twice.
 * @param zone   a name that `checkZone` let pass
 * @param after  ms since the epoch
 * @returns ms since the epoch, always later than `after`, a whole minute of the wall clock; undefined where there is none within 100 years,
 *   because it falls into a gap every year
 */
export function occurrenceAfter(cron: Cron, zone: string, after: number): number | undefined {
  return occurrenceFrom(cron, zone, Math.floor(after) + 1);
}

/** First occurrence at or after an instant. @see occurrenceAfter */
export function occurrenceFrom(cron: Cron, zone: string, from: number): number | undefined {
  let period = periodAt(zone, from);
  let at = from;
  while (period !== undefined && period.start <= from + CENTURY) {
    const found = firstIn(cron, period, at);
    if (found !== undefined) return found;
    at = period.end;
    period = periodAt(zone, at);
  }
  return undefined;
}

/** Last occurrence at or before an instant; undefined where there is none in the 100 years before. @see occurrenceAfter */
export function occurrenceUntil(cron: Cron, zone: string, until: number): number | undefined {
  let period = periodAt(zone, until);
  let at = until;
  while (period !== undefined && period.end >= until - CENTURY) {
    const found = lastIn(cron, period, at);
    if (found !== undefined) return found;
    at = period.start - 1;
    period = periodAt(zone, at);
  }
  return undefined;
}

/**
 * How many occurrences there are after one instant and up to another, both ms since the epoch.
 * @param most  no more are counted
 */
export function countBetween(cron: Cron, zone: string, after: number, until: number, most: number): number {
  let count = 0;
  let at = Math.floor(after) + 1;
  const to = Math.floor(until) + 1;
  while (count < most && at < to) {
    const period = periodAt(zone, at);
    if (period === undefined) break;
    const end = Math.min(period.end, to);
    count += moved(cron, period) !== undefined && at <= period.start ? 1 : 0;
    count += countWalls(
      cron.calendar,
      Math.max(at + period.offset, wallStart(cron, period)),
      end + period.offset,
    );
    at = period.end;
  }
  return Math.min(count, most);
}

function firstIn(cron: Cron, period: Period, from: number): number | undefined {
  const { start, end, offset } = period;
  if (from <= start && moved(cron, period) !== undefined) return start;
  const wall = wallFrom(cron.calendar, Math.max(from + offset, wallStart(cron, period)), end + offset);
  return wall === undefined ? undefined : wall - offset;
}

function lastIn(cron: Cron, period: Period, until: number): number | undefined {
  const { start, offset } = period;
  const wall = wallUntil(cron.calendar, until + offset, wallStart(cron, period));
  if (wall !== undefined) return wall - offset;
  return moved(cron, period) === undefined ? undefined : start;
}

/** From which wall-clock time on a period counts: what the clocks show again does not, for a text that names one time of the day. */
function wallStart({ isFixed }: Cron, { start, offset, before }: Period): number {
  return start + (isFixed ? Math.max(offset, before) : offset);
}

/** The wall-clock time that the clocks skipped right before a period, and that is made up for at its start. */
export function moved({ isFixed, calendar }: Cron, { start, offset, before }: Period): number | undefined {
  if (!isFixed || offset <= before) return undefined;
  const shown = start + offset;
  // Of the same day only: what belongs to a day that is over, or to one that never was, is not made up for on the next.
  const midnight = Math.floor(shown / DAY) * DAY;
  return wallUntil(calendar, shown - MINUTE, Math.max(start + before, midnight));
}
