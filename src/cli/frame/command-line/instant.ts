import {
  DAY_MS,
  type LocalTime,
  type Millis,
  parseDuration,
  type WallTime,
} from "../../../core/base/clock.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { quoteText } from "../../../core/base/text.ts";
import { listWallInstants } from "../../../schedule/cron/offsets.ts";
import { formatClockChange } from "../../../schedule/cron/upcoming-occurrences.ts";
import { formatOffset } from "../../../schedule/cron/wall-times.ts";

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,3})?)?)?(Z| ?UTC|[+-]\d\d:\d\d)?$/;

/** Examples of instants, for messages. */
export const INSTANT_FORM = "2026-11-22T05:00Z, 2026-11-22 05:00, 1795000000, now or +2h";

/** What a written time means. */
export interface WrittenInstant {
  at: WallTime;
  /** For a time without an offset: what the clocks show. */
  wall?: LocalTime;
  /** What the user may not expect. */
  notes: readonly string[];
}

/** The instant that counts if the clocks show a time twice: the first, or for the end of a range the last. */
type Repeat = "first" | "last";

/**
 * Parses an instant: ISO 8601, in the given zone if there is no offset; seconds or ms since the epoch; `now`; `+2h`. A time
 * that the clocks skip is the end of the gap.
 * @returns undefined for other texts
 */
export function parseInstant(
  text: string,
  zone: string,
  now: WallTime,
  repeat: Repeat = "first",
): WrittenInstant | undefined {
  const at = parseFixedInstant(text, now);
  if (at !== undefined) return { at, notes: [] };
  const [, day, time = "00:00", seconds = "", offset] = ISO.exec(text) ?? [];
  if (day === undefined) return undefined;
  const wall = Date.parse(`${day}T${time}${seconds}${offset?.replace(/^ ?UTC$/, "Z") ?? "Z"}`);
  if (Number.isNaN(wall) || wall < 0 || !isSameDay(day)) return undefined;
  return offset === undefined ? resolveWallTime(wall, zone, repeat) : { at: wall, notes: [] };
}

/** Parses an instant without a day. */
function parseFixedInstant(text: string, now: WallTime): WallTime | undefined {
  if (text === "now") return now;
  if (/^\d{9,11}$/.test(text)) return Number(text) * 1000; // shorter ones are durations without a unit
  if (/^\d{12,14}$/.test(text)) return Number(text); // ms, as in --json
  const span = text.startsWith("+") ? parseDuration(text.slice(1)) : { fault: "" };
  return "value" in span ? now + span.value : undefined;
}

function resolveWallTime(wall: LocalTime, zone: string, repeat: Repeat): WrittenInstant {
  const { instants, change } = listWallInstants(zone, wall);
  const [first = change?.start ?? Number(wall), last = first] = instants;
  const at = repeat === "first" ? first : last;
  if (change === undefined) return { at, wall, notes: [] };
  const { start, offset, before } = change;
  const shown = formatWall(wall);
  const clocks = `the clocks of ${zone} go from ${formatClockChange(change)}`;
  const note =
    instants.length === 0
      ? `${shown} does not exist: ${clocks}; it is taken for ${formatAtOffset(start, offset)}; for another instant, write` +
        ` an offset: ${formatAtOffset(wall - before, before)}`
      : `${shown} comes twice: ${clocks}; the ${repeat === "first" ? "first" : "second"} counts,` +
        ` ${formatAtOffset(at, wall - at)}; for the ${repeat === "first" ? "second" : "first"}, write an offset:` +
        ` ${repeat === "first" ? formatAtOffset(last, wall - last) : formatAtOffset(first, wall - first)}`;
  return { at, wall, notes: [note] };
}

/** Formats an instant with an offset; in UTC if the offset is no number of minutes, which cannot be written. */
function formatAtOffset(at: WallTime, offset: Millis): string {
  return offset % 60_000 === 0 ? `${formatWall(at + offset)}${formatOffset(offset)}` : `${formatWall(at)}Z`;
}

/** Formats wall-clock ms: `2026-03-29T02:30`. */
function formatWall(wall: number): string {
  const iso = new Date(wall).toISOString();
  return iso.slice(0, wall % 60_000 === 0 ? 16 : wall % 1_000 === 0 ? 19 : 23);
}

/** Checks that a day exists: `Date` accepts February 31 as March 3. */
function isSameDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/**
 * A time as it was written, which is an instant once its zone and the present are known.
 * The zone is that of a time without an offset.
 */
export type WrittenTime = (zone: string, now: WallTime) => WrittenInstant;

/** Parses a time that is not relative to the past. An empty text counts as not given. @throws UsageError */
export function parseTime(text: string, flag: string): WrittenTime | undefined {
  return parseWrittenTime(text, flag, "first");
}

/** Parses the end of a range, see `parseTime`. @throws UsageError */
export function parseEndTime(text: string, flag: string): WrittenTime | undefined {
  return parseWrittenTime(text, flag, "last");
}

function parseWrittenTime(text: string, flag: string, repeat: Repeat): WrittenTime | undefined {
  if (text === "") return undefined;
  const inUtc = parseInstant(text, "UTC", 0);
  if (inUtc !== undefined) return (zone, now) => parseInstant(text, zone, now, repeat) ?? inUtc;
  const isEarly = /^(0\d|1[0-8]|19[0-6])\d+-\d\d-\d\d/.test(text);
  const fault = isEarly ? "is before 1970-01-01T00:00Z, the earliest instant" : "is not an instant";
  throw new UsageError(`${flag}: ${quoteText(text)} ${fault}; write it as ${INSTANT_FORM}`);
}

/** Lists the notes about times that the clocks of a zone skip or show twice. */
export function listTimeNotes(
  times: readonly (WrittenTime | null | undefined)[],
  zone: string,
  now: WallTime,
): string[] {
  return times.flatMap((time) => time?.(zone, now).notes ?? []);
}

/** Formats an instant for listings, in UTC: `2026-11-21 05:31:02 UTC`. Milliseconds are shown unless they are 0. */
export function formatInstantUtc(at: WallTime): string {
  const iso = new Date(at).toISOString();
  const fraction = iso.slice(19, 23) === ".000" ? "" : iso.slice(19, 23);
  return `${iso.slice(0, 19).replace("T", " ")}${fraction} UTC`;
}

/**
 * Parses an instant in the past, in UTC if it has no offset, a duration before now, `03:00` (the last time that it was 3
 * o'clock), or `yesterday 02:00`.
 * @param what  names the argument or flag in messages
 * @returns at most `now`
 * @throws UsageError
 */
function parsePastTime(what: string, text: string, now: WallTime): number {
  const at = parsePastOrFutureTime(what, text, now);
  if (at > now || at < 0)
    throw new UsageError(`${what} must not be in the future or before 1970; got ${quoteText(text)}`);
  return at;
}

function parsePastOrFutureTime(what: string, text: string, now: WallTime): number {
  const duration = parseDuration(text);
  if ("value" in duration) return now - duration.value;
  const at = parseTimeOfDay(text, now) ?? parseInstant(text, "UTC", now)?.at;
  if (at !== undefined) return at;
  throw new UsageError(
    `${what} must be a time such as 2026-11-22T05:00Z, 03:00 or yesterday 02:00 (UTC), or a duration such as 2h; got ${quoteText(text)}`,
  );
}

/** A past time as it was written. @throws UsageError if it is not past */
export type WrittenPastTime = (now: WallTime) => number;

/** Parses `--since` and `--at`. @throws UsageError if it is not a time */
export function parseWrittenPastTime(text: string, flag: string): WrittenPastTime {
  parsePastOrFutureTime(flag, text, 0);
  return (now) => parsePastTime(flag, text, now);
}

/** Parses a time of day in UTC, of the last time it was so late, or of yesterday; undefined for other texts. */
function parseTimeOfDay(text: string, now: WallTime): number | undefined {
  const [, yesterday, hour, minute] = /^(yesterday )?([01]\d|2[0-3]):([0-5]\d)Z?$/.exec(text) ?? [];
  if (hour === undefined) return undefined;
  const midnight = now - (now % DAY_MS);
  const at = midnight + (Number(hour) * 60 + Number(minute)) * 60_000;
  return yesterday !== undefined || at > now ? at - DAY_MS : at;
}
