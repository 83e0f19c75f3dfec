/** A time during which a zone's clocks do not change, as far as it was looked at. Instants in ms since the epoch. */
export interface Period {
  readonly start: number;
  /** Not part of it any more. */
  readonly end: number;
  /** What is added to an instant to get the wall clock's time, ms. */
  readonly offset: number;
  /** The offset right before `start`: more, the clocks went back there; less, forward; the same, nothing happened. */
  readonly before: number;
}

/** Zones are looked at in pieces of 398 days, each when it is first needed. */
const PIECE = 2 ** 35;
/** And probed every three days: no zone has changed its clocks for less than a week since 1970. */
const PROBE = 2 ** 28;
/** What a Date can hold, a piece less. */
const FARTHEST = 8.64e15 - PIECE;

const zones = new Map<string, Map<number, readonly Period[]>>();
const formats = new Map<string, Intl.DateTimeFormat>();

/** The period of a zone that an instant is in; undefined outside of what a Date can hold. */
export function periodAt(zone: string, at: number): Period | undefined {
  if (!(Math.abs(at) < FARTHEST)) return undefined;
  const periods = pieceOf(zone, Math.floor(at / PIECE));
  return periods.find(({ end }) => at < end);
}

/**
 * What a zone's clocks show beyond UTC.
 * @param zone  a name that `checkZone` let pass
 * @param at    ms since the epoch
 * @returns ms; east of Greenwich is positive
 */
export function offsetAt(zone: string, at: number): number {
  return periodAt(zone, at)?.offset ?? 0;
}

function pieceOf(zone: string, piece: number): readonly Period[] {
  let pieces = zones.get(zone);
  if (pieces === undefined) {
    pieces = new Map();
    zones.set(zone, pieces);
  }
  let periods = pieces.get(piece);
  if (periods === undefined) {
    periods = probed(zone, piece * PIECE, (piece + 1) * PIECE);
    pieces.set(piece, periods);
  }
  return periods;
}

function probed(zone: string, from: number, to: number): Period[] {
  const periods: Period[] = [];
  let start = from;
  let before = offsetByFormat(zone, from - 1);
  let offset = offsetByFormat(zone, from);
  for (let at = from + PROBE; at <= to; at += PROBE) {
    const next = offsetByFormat(zone, Math.min(at, to - 1));
    if (next === offset) continue;
    const end = changeBetween(zone, Math.max(at - PROBE, start), Math.min(at, to - 1));
    periods.push({ start, end, offset, before });
    [start, before, offset] = [end, offset, offsetByFormat(zone, end)];
    // Two changes between two probes: look again from the first on.
    if (offset !== next) at -= PROBE;
  }
  periods.push({ start, end: to, offset, before });
  return periods;
}

/** The first instant after `low` with another offset, where `high` has another. */
function changeBetween(zone: string, low: number, high: number): number {
  const offset = offsetByFormat(zone, low);
  let [same, other] = [low, high];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetByFormat(zone, middle) === offset) same = middle;
    else other = middle;
  }
  return other;
}

/** The offset as Intl has it: the text ends in "GMT+01:00", in "GMT" at Greenwich, of old in "GMT-00:44:30". */
function offsetByFormat(zone: string, at: number): number {
  const [, sign, hours, minutes, seconds = "0"] =
    /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(formatOf(zone).format(at)) ?? [];
  if (sign === undefined) return 0;
  const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -size : size;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    formats.set(zone, format);
  }
  return format;
}
