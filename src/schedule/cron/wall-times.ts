import type { CronFields } from "./cron-field.ts";
import { buildDayTimes, countTimesBefore, type DayTimes, findTimeFrom, findTimeUntil } from "./day-times.ts";
import { createDayMaskGetter } from "./days.ts";

// Wall-clock times in this file are ms since 1970-01-01 00:00 on the wall, independent of the zone. This file does not
// handle clock changes.

/** Times of the day and days of the months that match a cron expression. */
export interface WallTimes {
  readonly times: DayTimes;
  /** Returns the matching days of a month (0 to 11) as bits 1 to 31. */
  getDayMask(year: number, month: number): number;
}

const MINUTE = 60_000;
const DAY = 86_400_000;

/**
 * Builds the wall-clock times of a cron expression.
 * @param fields the fields of the expression
 */
export function buildWallTimes(fields: CronFields): WallTimes {
  return {
    times: buildDayTimes(fields.minute.values, fields.hour.values),
    getDayMask: createDayMaskGetter(fields),
  };
}

/**
 * Returns the first matching wall-clock time in [from, before).
 * @param from wall-clock ms; it need not be a whole minute
 * @param before wall-clock ms
 */
export function findWallFrom(walls: WallTimes, from: number, before: number): number | undefined {
  const wall = Math.ceil(from / MINUTE) * MINUTE;
  const midnight = Math.floor(wall / DAY) * DAY;
  if (wall >= before) return undefined;
  if (isDay(walls, midnight)) {
    const rest = findTimeFrom(walls.times, wall - midnight);
    if (rest < DAY) return keepIfBefore(midnight + rest, before);
  }
  const day = findDayFrom(walls, midnight + DAY, before);
  return day === undefined ? undefined : keepIfBefore(day + findTimeFrom(walls.times, 0), before);
}

/** Returns the last matching wall-clock time in [from, until]. Both in wall-clock ms. */
export function findWallUntil(walls: WallTimes, until: number, from: number): number | undefined {
  const wall = Math.floor(until / MINUTE) * MINUTE;
  const midnight = Math.floor(wall / DAY) * DAY;
  if (wall < from) return undefined;
  if (isDay(walls, midnight)) {
    const rest = findTimeUntil(walls.times, wall - midnight);
    if (rest >= 0) return keepIfFrom(midnight + rest, from);
  }
  const day = findDayUntil(walls, midnight - DAY, from);
  return day === undefined ? undefined : keepIfFrom(day + findTimeUntil(walls.times, DAY - MINUTE), from);
}

/** Counts the matching wall-clock times in [from, before). Both in wall-clock ms. */
export function countWalls(walls: WallTimes, from: number, before: number): number {
  if (from >= before) return 0;
  return countBefore(walls, before, from) - countBefore(walls, from, from);
}

/** Counts the matching times from the first of the month of `origin` until before `wall`. */
function countBefore(walls: WallTimes, wall: number, origin: number): number {
  const first = new Date(origin);
  const last = new Date(wall);
  const months =
    (last.getUTCFullYear() - first.getUTCFullYear()) * 12 + last.getUTCMonth() - first.getUTCMonth();
  let days = 0;
  for (let month = 0; month < months; month += 1) {
    const at = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month));
    days += countBits(walls.getDayMask(at.getUTCFullYear(), at.getUTCMonth()));
  }
  const mask = walls.getDayMask(last.getUTCFullYear(), last.getUTCMonth());
  const today = last.getUTCDate();
  days += countBits(mask & ((1 << today) - 1));
  return (
    days * walls.times.perDay +
    ((mask >>> today) & 1) * countTimesBefore(walls.times, wall - Math.floor(wall / DAY) * DAY)
  );
}

function isDay(walls: WallTimes, midnight: number): boolean {
  const date = new Date(midnight);
  return ((walls.getDayMask(date.getUTCFullYear(), date.getUTCMonth()) >>> date.getUTCDate()) & 1) === 1;
}

/** Returns midnight of the first matching day in [midnight, before). */
function findDayFrom(walls: WallTimes, midnight: number, before: number): number | undefined {
  const start = new Date(midnight);
  let [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  while (Date.UTC(year, month, day) < before) {
    // The shift removes the bits below the day; `>>> 0` keeps bit 31 positive.
    const rest = (walls.getDayMask(year, month) >>> day) >>> 0;
    if (rest !== 0) return Date.UTC(year, month, day + 31 - Math.clz32(rest & -rest));
    month += 1;
    if (month === 12) [year, month] = [year + 1, 0];
    day = 1;
  }
  return undefined;
}

/** Returns midnight of the last matching day, from `midnight` back to `from`. */
function findDayUntil(walls: WallTimes, midnight: number, from: number): number | undefined {
  const start = new Date(midnight);
  let [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  while (Date.UTC(year, month, day) + DAY > from) {
    const rest = walls.getDayMask(year, month) & (0xffff_ffff >>> (31 - day));
    if (rest !== 0) return Date.UTC(year, month, 31 - Math.clz32(rest));
    month -= 1;
    if (month < 0) [year, month] = [year - 1, 11];
    day = 31;
  }
  return undefined;
}

function countBits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

const keepIfBefore = (wall: number, before: number) => (wall < before ? wall : undefined);
const keepIfFrom = (wall: number, from: number) => (wall >= from ? wall : undefined);

const names = new Map<string, readonly Intl.DateTimeFormat[]>();

/** Formats the date of a wall-clock time in ms: "2026-03-29". */
export const formatWallDate = (wall: number) => new Date(wall).toISOString().slice(0, 10);

/** Formats the clock of a wall-clock time in ms: "02:30". */
export const formatWallClock = (wall: number) => new Date(wall).toISOString().slice(11, 16);

/** Formats a local time: "2026-03-29 03:00 CEST (+02:00)". Omits the abbreviation if the zone has none in English. */
export function formatLocalTime(zone: string, at: number, offset: number): string {
  const short = findAbbreviation(zone, at);
  const wall = at + offset;
  return `${formatWallDate(wall)} ${formatWallClock(wall)}${short === undefined ? "" : ` ${short}`} (${formatOffset(offset)})`;
}

/** Formats an offset: "+02:00". */
function formatOffset(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${offset < 0 ? "-" : "+"}${hour}:${minute}`;
}

/**
 * Returns the abbreviation of a zone. Each variant of English only has the abbreviations of its own continent, so
 * several are tried.
 */
function findAbbreviation(zone: string, at: number): string | undefined {
  let formats = names.get(zone);
  if (formats === undefined) {
    formats = ["en-US", "en-GB", "en-AU", "en-IN", "en-ZA"].map(
      (language) => new Intl.DateTimeFormat(language, { timeZone: zone, timeZoneName: "short" }),
    );
    names.set(zone, formats);
  }
  for (const format of formats) {
    const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value;
    if (name !== undefined && !/\d/.test(name)) return name;
  }
  return undefined;
}
