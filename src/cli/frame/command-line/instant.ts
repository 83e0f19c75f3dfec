import { parseDuration } from "../../../core/base/duration.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { quoteText } from "../../../core/base/text.ts";
import { getZoneOffset } from "../../../schedule/cron/offsets.ts";

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,3})?)?)?(Z| ?UTC|[+-]\d\d:\d\d)?$/;

/** Examples of instants, for messages. */
export const INSTANT_FORM = "2026-11-22T05:00Z, 2026-11-22 05:00, 1795000000, now or +2h";

/**
 * Parses an instant: ISO 8601, in the given zone if there is no offset; seconds or ms since the epoch; `now`; `+2h`.
 * @param now  ms since the epoch
 * @returns ms since the epoch; undefined for other texts
 */
export function parseInstant(text: string, zone: string, now: number): number | undefined {
  if (text === "now") return now;
  if (/^\d{9,11}$/.test(text)) return Number(text) * 1000; // shorter ones are durations without a unit
  if (/^\d{12,14}$/.test(text)) return Number(text); // ms, as in --json
  if (text.startsWith("+")) {
    const span = parseDuration(text.slice(1));
    return "value" in span ? now + span.value : undefined;
  }
  const [, day, time = "00:00", seconds = "", offset] = ISO.exec(text) ?? [];
  if (day === undefined) return undefined;
  const at = Date.parse(`${day}T${time}${seconds}${offset?.replace(/^ ?UTC$/, "Z") ?? "Z"}`);
  if (Number.isNaN(at) || at < 0 || !isSameDay(day)) return undefined;
  return offset === undefined ? fromWallTime(at, zone) : at;
}

/**
 * Converts a wall time in a zone to ms since the epoch. For a time that a clock change skips or repeats, picks one of
 * the two.
 */
function fromWallTime(wall: number, zone: string): number {
  const guess = wall - getZoneOffset(zone, wall);
  return wall - getZoneOffset(zone, guess);
}

/** Checks that a day exists: `Date` accepts February 31 as March 3. */
function isSameDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/**
 * A time as it was written, which is an instant once its zone and the present are known, both in ms since the epoch.
 * The zone is that of a time without an offset.
 */
export type WrittenTime = (zone: string, now: number) => number;

/** Parses a time that is not relative to the past. An empty text counts as not given. @throws UsageError */
export function parseTime(text: string, flag: string): WrittenTime | undefined {
  if (text === "") return undefined;
  if (parseInstant(text, "UTC", 0) !== undefined)
    return (zone, now) => parseInstant(text, zone, now) ?? Number.NaN;
  const isEarly = /^(0\d|1[0-8]|19[0-6])\d+-\d\d-\d\d/.test(text);
  const fault = isEarly ? "is before 1970-01-01T00:00Z, the earliest instant" : "is not an instant";
  throw new UsageError(`${flag}: ${quoteText(text)} ${fault}; write it as ${INSTANT_FORM}`);
}

/** Formats an instant for listings, in UTC: `2026-11-21 05:31:02 UTC`. Milliseconds are shown unless they are 0. */
export function formatInstantUtc(at: number): string {
  const iso = new Date(at).toISOString();
  const fraction = iso.slice(19, 23) === ".000" ? "" : iso.slice(19, 23);
  return `${iso.slice(0, 19).replace("T", " ")}${fraction} UTC`;
}

const DAY_MS = 86_400_000;

/**
 * Parses an instant in the past, in UTC if it has no offset, a duration before now, `03:00` (the last time that it was 3
 * o'clock), or `yesterday 02:00`.
 * @param what  names the argument or flag in messages
 * @param now  ms since the epoch
 * @returns ms since the epoch, at most `now`
 * @throws UsageError
 */
function parsePastTime(what: string, text: string, now: number): number {
  const at = parsePastOrFutureTime(what, text, now);
  if (at > now || at < 0)
    throw new UsageError(`${what} must not be in the future or before 1970; got ${quoteText(text)}`);
  return at;
}

function parsePastOrFutureTime(what: string, text: string, now: number): number {
  const duration = parseDuration(text);
  if ("value" in duration) return now - duration.value;
  const at = parseTimeOfDay(text, now) ?? parseInstant(text, "UTC", now);
  if (at !== undefined) return at;
  throw new UsageError(
    `${what} must be a time such as 2026-11-22T05:00Z, 03:00 or yesterday 02:00 (UTC), or a duration such as 2h; got ${quoteText(text)}`,
  );
}

/** A past time as it was written. @param now  ms since the epoch. @returns ms since the epoch. @throws UsageError if it is not past */
export type WrittenPastTime = (now: number) => number;

/** Parses `--since` and `--at`. @throws UsageError if it is not a time */
export function parseWrittenPastTime(text: string, flag: string): WrittenPastTime {
  parsePastOrFutureTime(flag, text, 0);
  return (now) => parsePastTime(flag, text, now);
}

/** Parses a time of day in UTC, of the last time it was so late, or of yesterday; undefined for other texts. */
function parseTimeOfDay(text: string, now: number): number | undefined {
  const [, yesterday, hour, minute] = /^(yesterday )?([01]\d|2[0-3]):([0-5]\d)Z?$/.exec(text) ?? [];
  if (hour === undefined) return undefined;
  const midnight = now - (now % DAY_MS);
  const at = midnight + (Number(hour) * 60 + Number(minute)) * 60_000;
  return yesterday !== undefined || at > now ? at - DAY_MS : at;
}
