import { memoize } from "../../base/memoize.ts";

/** A period in which the clocks of a zone do not change, as far as it was searched. Instants in ms since the epoch. */
export interface OffsetPeriod {
  readonly start: number;
  /** Exclusive end. */
  readonly end: number;
  /** Offset from an instant to the wall-clock time, ms. */
  readonly offset: number;
  /**
   * Offset right before `start`. Larger: the clocks went back at `start`; smaller: they went forward; equal: no change.
   */
  readonly before: number;
}

/** Size of the pieces in which a zone is searched, ms: 398 days. Each piece is searched when it is first needed. */
const PIECE = 2 ** 35;
/** Probe interval, ms: three days. Since 1970, no zone has changed its clocks for less than a week. */
const PROBE = 2 ** 28;
/** The range of a Date, less one piece. */
const FARTHEST = 8.64e15 - PIECE;

const getZone = memoize((zone: string) =>
  memoize((piece: number) => probePeriods(zone, piece * PIECE, (piece + 1) * PIECE)),
);
const getFormat = memoize(
  (timeZone: string) => new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" }),
);

/** Returns the period of a zone that contains an instant; undefined outside the range of a Date. */
export function findOffsetPeriod(zone: string, at: number): OffsetPeriod | undefined {
  if (!(Math.abs(at) < FARTHEST)) return undefined;
  const periods = getZone(zone)(Math.floor(at / PIECE));
  return periods.find(({ end }) => at < end);
}

/**
 * Returns the offset of a zone from UTC.
 * @param zone a name that `checkZone` accepts
 * @param at ms since the epoch
 * @returns ms; positive east of Greenwich
 */
export function getZoneOffset(zone: string, at: number): number {
  return findOffsetPeriod(zone, at)?.offset ?? 0;
}

function probePeriods(zone: string, from: number, to: number): OffsetPeriod[] {
  const periods: OffsetPeriod[] = [];
  let start = from;
  let before = computeOffset(zone, from - 1);
  let offset = computeOffset(zone, from);
  for (let at = from + PROBE; at <= to; at += PROBE) {
    const next = computeOffset(zone, Math.min(at, to - 1));
    if (next === offset) continue;
    const end = findOffsetChange(zone, Math.max(at - PROBE, start), Math.min(at, to - 1));
    periods.push({ start, end, offset, before });
    [start, before, offset] = [end, offset, computeOffset(zone, end)];
    // Two changes between two probes: search again from the first one.
    if (offset !== next) at -= PROBE;
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
function computeOffset(zone: string, at: number): number {
  const [, sign, hours, minutes, seconds = "0"] =
    /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(getFormat(zone).format(at)) ?? [];
  if (sign === undefined) return 0;
  const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -size : size;
}
