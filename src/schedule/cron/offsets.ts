import { DAY_MS, type LocalTime, type Millis, type WallTime } from "../../core/base/clock.ts";
import { UsageError } from "../../core/base/errors.ts";
import { memoize } from "../../core/base/memoize.ts";
import { findNearest, quoteText } from "../../core/base/text.ts";

/** A period in which the clocks of a zone do not change, as far as it was searched. */
export interface OffsetPeriod {
  readonly start: WallTime;
  /** Exclusive end. */
  readonly end: WallTime;
  /** Offset from an instant to the wall-clock time. */
  readonly offset: Millis;
  /**
   * Offset right before `start`. Larger: the clocks went back at `start`; smaller: they went forward; equal: no change.
   */
  readonly before: Millis;
}

/** Size of the pieces in which a zone is searched, ms: 398 days. Each piece is searched when it is first needed. */
const PIECE_MS = 2 ** 35;
/** Probe interval, ms: three days. Since 1970, no zone has changed its clocks for less than a week. */
const PROBE_INTERVAL_MS = 2 ** 28;
/** The range of a Date, less one piece. */
const MAX_INSTANT_MS = 8.64e15 - PIECE_MS;

const getZone = memoize((zone: string) =>
  memoize((piece: number) => probePeriods(zone, piece * PIECE_MS, (piece + 1) * PIECE_MS)),
);
const getFormat = memoize(
  (timeZone: string) => new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" }),
);

/** Returns the period of a zone that contains an instant; undefined outside the range of a Date. */
export function findOffsetPeriod(zone: string, at: WallTime): OffsetPeriod | undefined {
  if (!(Math.abs(at) < MAX_INSTANT_MS)) return undefined;
  const periods = getZone(zone)(Math.floor(at / PIECE_MS));
  return periods.find(({ end }) => at < end);
}

/**
 * Returns the offset of a zone from UTC.
 * @param zone a name that `checkZone` accepts
 * @returns positive east of Greenwich
 */
export function getZoneOffset(zone: string, at: WallTime): Millis {
  return findOffsetPeriod(zone, at)?.offset ?? 0;
}

/**
 * Lists when the clocks of a zone show a time: at no instant if they skip it, at two if they show it twice. `change` is the
 * period that begins with the change that does so.
 */
export function listWallInstants(
  zone: string,
  wall: LocalTime,
): { instants: WallTime[]; change?: OffsetPeriod } {
  const instants: WallTime[] = [];
  let change: OffsetPeriod | undefined;
  // No zone is a day or more away from UTC.
  let period = findOffsetPeriod(zone, wall - DAY_MS);
  for (; period !== undefined && period.start < wall + DAY_MS; period = findOffsetPeriod(zone, period.end)) {
    const { start, end, offset, before } = period;
    const at = wall - offset;
    if (at >= start && at < end) instants.push(at);
    if (wall >= start + Math.min(before, offset) && wall < start + Math.max(before, offset)) change = period;
  }
  return { instants, ...(change !== undefined && { change }) };
}

function probePeriods(zone: string, from: WallTime, to: WallTime): OffsetPeriod[] {
  const periods: OffsetPeriod[] = [];
  let start = from;
  let before = computeOffset(zone, from - 1);
  let offset = computeOffset(zone, from);
  for (let at = from + PROBE_INTERVAL_MS; at <= to; at += PROBE_INTERVAL_MS) {
    const next = computeOffset(zone, Math.min(at, to - 1));
    if (next === offset) continue;
    const end = findOffsetChange(zone, Math.max(at - PROBE_INTERVAL_MS, start), Math.min(at, to - 1));
    periods.push({ start, end, offset, before });
    [start, before, offset] = [end, offset, computeOffset(zone, end)];
    // Two changes between two probes: search again from the first one.
    if (offset !== next) at -= PROBE_INTERVAL_MS;
  }
  periods.push({ start, end: to, offset, before });
  return periods;
}

/** Returns the first instant after `low` with another offset. `high` must have another offset. */
function findOffsetChange(zone: string, low: number, high: number): number {
  const offset = computeOffset(zone, low);
  let [same, other] = [low, high];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (computeOffset(zone, middle) === offset) same = middle;
    else other = middle;
  }
  return other;
}

/**
 * Computes the offset from the text of Intl, which ends in "GMT+01:00", in "GMT" at Greenwich, or in "GMT-00:44:30" for
 * historical offsets.
 */
function computeOffset(zone: string, at: WallTime): Millis {
  const [, sign, hours, minutes, seconds = "0"] =
    /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(getFormat(zone).format(at)) ?? [];
  if (sign === undefined) return 0;
  const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -size : size;
}

/** Abbreviations that name a time, not a zone with clock changes, and the zone that was probably meant. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  Z: "UTC",
  BST: "Europe/London",
  PST: "America/Los_Angeles",
  CST: "America/Chicago",
  AST: "America/Halifax",
  IST: "Asia/Kolkata",
  JST: "Asia/Tokyo",
  CEST: "Europe/Berlin",
  EEST: "Europe/Athens",
  WEST: "Europe/Lisbon",
  MSK: "Europe/Moscow",
  EDT: "America/New_York",
  CDT: "America/Chicago",
  MDT: "America/Denver",
  PDT: "America/Los_Angeles",
  AEST: "Australia/Sydney",
  AEDT: "Australia/Sydney",
};

/** Three-letter names of IANA zones. Intl accepts more, and treats BST as the time of Dhaka. */
const SHORT_ZONE_NAME = /^(UTC|GMT|UCT|CET|EET|MET|WET|EST|MST|HST|PRC|ROC|ROK)$/i;

/** Number of cached names: a lookup costs about 60 µs. It exceeds the number of zones in a few spellings each. */
const MAX_CACHED_NAMES = 2_000;

/**
 * Checks the name of a time zone.
 * @returns the name, in the spelling of IANA if only the case differs
 * @throws UsageError with the name that was probably meant
 */
export const checkZone = memoize(findZoneName, MAX_CACHED_NAMES);

function findZoneName(name: string): string {
  try {
    const known = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
    if (/^[a-z]{3}$/i.test(name) && !SHORT_ZONE_NAME.test(name)) throw createUnknownZoneError(name);
    return known.toLowerCase() === name.toLowerCase() ? known : name;
  } catch {
    throw createUnknownZoneError(name);
  }
}

function createUnknownZoneError(name: string): UsageError {
  const meant = suggestZone(name);
  const remedy = meant === undefined ? "use a name such as Europe/Berlin or UTC" : `did you mean ${meant}?`;
  return new UsageError(`unknown time zone ${quoteText(name)}; ${remedy}`);
}

function suggestZone(name: string): string | undefined {
  const short = ABBREVIATIONS[name.toUpperCase()];
  if (short !== undefined) return short;
  // Etc/GMT-2 is two hours EAST of Greenwich: POSIX inverts the sign.
  const [, sign, hours] = /^(?:UTC|GMT)([+-])0?(\d{1,2})$/i.exec(name) ?? [];
  if (sign !== undefined) return `Etc/GMT${sign === "+" ? "-" : "+"}${hours}`;
  const names = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  const place = name.toLowerCase().replaceAll(" ", "_");
  return names.find((known) => known.toLowerCase().endsWith(`/${place}`)) ?? findNearest(place, names);
}
