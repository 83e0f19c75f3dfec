import { wallFrom } from "./calendar.ts";
import type { Cron } from "./cron.ts";
import { moved, occurrenceAfter } from "./occurrence.ts";
import { type Period, periodAt } from "./offsets.ts";
import { dateOf, localTime, timeOf } from "./wall.ts";

/** An occurrence to come. */
export interface Upcoming {
  /** ms since the epoch. */
  at: number;
  /** "2026-03-29 03:00 CEST (+02:00)". */
  local: string;
  /** The clocks skip a time of this schedule here (`gap`), or show one twice (`overlap`). */
  mark?: "gap" | "overlap";
  /** Which time, and what becomes of it. */
  note?: string;
}

const MINUTE = 60_000;
/** Skipped times that are named. */
const NAMED = 3;

/**
 * The next occurrences, with what changes of the clock do to them.
 * @param after  ms since the epoch; the first one is later
 * @param count  how many; fewer where there are no more
 */
export function upcoming(cron: Cron, zone: string, after: number, count: number): Upcoming[] {
  const found: Upcoming[] = [];
  let last = after;
  while (found.length < count) {
    const at = occurrenceAfter(cron, zone, last);
    const period = at === undefined ? undefined : periodAt(zone, at);
    if (at === undefined || period === undefined) break;
    found.push({
      at,
      local: localTime(zone, at, period.offset),
      ...(gapBefore(cron, zone, last, at) ?? overlapAt(cron, zone, period, at)),
    });
    last = at;
  }
  return found;
}

type Marked = Pick<Upcoming, "mark" | "note">;

/** What was skipped since the occurrence before. */
function gapBefore(cron: Cron, zone: string, last: number, at: number): Marked | undefined {
  const notes: string[] = [];
  let period = periodAt(zone, at);
  for (; period !== undefined && period.start > last; period = periodAt(zone, period.start - 1)) {
    const note = gapNote(cron, period);
    if (note !== undefined) notes.unshift(note);
  }
  return notes.length === 0 ? undefined : { mark: "gap", note: notes.join("; ") };
}

function gapNote(cron: Cron, period: Period): string | undefined {
  const { start, offset, before } = period;
  if (offset <= before) return undefined;
  const nominal = moved(cron, period);
  const skipped = skippedBy(cron, period).filter((wall) => wall !== nominal);
  const why = `the clocks go from ${changeText(period)}`;
  const lost = skipped.length === 0 ? [] : [`skipped ${listed(skipped, start + offset)}: ${why}`];
  const late = nominal === undefined ? [] : [`instead of ${timeOf(nominal)}, which does not exist: ${why}`];
  return [...lost, ...late].join("; ") || undefined;
}

/** Wall-clock times that a gap swallows. */
export function skippedBy({ calendar }: Cron, { start, offset, before }: Period): number[] {
  const walls: number[] = [];
  let wall = wallFrom(calendar, start + before, start + offset);
  while (wall !== undefined) {
    walls.push(wall);
    wall = wallFrom(calendar, wall + MINUTE, start + offset);
  }
  return walls;
}

function listed(walls: readonly number[], beside: number): string {
  const texts = walls.slice(0, NAMED).map((wall) => wallText(wall, beside));
  return `${texts.join(", ")}${walls.length > NAMED ? ` and ${walls.length - NAMED} more` : ""}`;
}

/** An occurrence at a time that the clocks show twice. */
function overlapAt({ isFixed }: Cron, zone: string, period: Period, at: number): Marked | undefined {
  const wall = at + period.offset;
  const next = periodAt(zone, period.end);
  const isSecond = wall < period.start + period.before;
  const isFirst = next !== undefined && wall >= next.start + next.offset;
  const change = isSecond ? period : isFirst ? next : undefined;
  if (change === undefined) return undefined;
  const which = isFixed ? "comes twice, the first counts" : `for the ${isSecond ? "second" : "first"} time`;
  return {
    mark: "overlap",
    note: `${timeOf(wall)} ${which}: the clocks go back from ${changeText(change)}`,
  };
}

/** "02:00 to 03:00". */
export function changeText({ start, offset, before }: Period): string {
  const [from, to] = [start + before, start + offset];
  const isOneDay = dateOf(from) === dateOf(to);
  return `${wallText(from, to)} to ${isOneDay ? "" : `${dateOf(to)} `}${timeOf(to)}`;
}

/** A time; with its date where that is another than the one it stands beside. */
function wallText(wall: number, beside: number): string {
  return dateOf(wall) === dateOf(beside) ? timeOf(wall) : `${dateOf(wall)} ${timeOf(wall)}`;
}
