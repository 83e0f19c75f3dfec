import { parseDuration } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { offsetAt } from "../../schedule/zone.ts";
import { textFlag } from "../flags.ts";
import type { Call } from "../spec.ts";

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,3})?)?)?(Z| ?UTC|[+-]\d\d:\d\d)?$/;

/** How an instant is written, for messages. */
const EXAMPLES = "2026-11-22T05:00Z, 2026-11-22 05:00, 1795000000, now or +2h";

/**
 * An instant as people write it: ISO 8601, which without an offset is a time of the zone; seconds or ms since the epoch; `now`;
 * `+2h`. @param now  ms since the epoch. @returns ms since the epoch; undefined where it is none of these
 */
export function parseInstant(text: string, zone: string, now: number): number | undefined {
  if (text === "now") return now;
  if (/^\d{1,11}$/.test(text)) return Number(text) * 1000;
  if (/^\d{12,14}$/.test(text)) return Number(text); // ms, as --json has them
  if (text.startsWith("+")) {
    const span = parseDuration(text.slice(1));
    return "value" in span ? now + span.value : undefined;
  }
  const [, day, time = "00:00", seconds = "", offset] = ISO.exec(text) ?? [];
  if (day === undefined) return undefined;
  const at = Date.parse(`${day}T${time}${seconds}${offset?.replace(/^ ?UTC$/, "Z") ?? "Z"}`);
  if (Number.isNaN(at) || at < 0 || !isSameDay(day)) return undefined;
  return offset === undefined ? fromWall(at, zone) : at;
}

/** Of a time that a clock change skips or repeats, one of the two that are meant. */
function fromWall(wall: number, zone: string): number {
  const guess = wall - offsetAt(zone, wall);
  return wall - offsetAt(zone, guess);
}

/** `Date` takes the 31st of February for the 3rd of March. */
function isSameDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** @throws UsageError */
export function instantFlag(
  call: Pick<Call, "flags">,
  name: string,
  zone: string,
  now: number,
): number | undefined {
  const text = textFlag(call, name);
  if (text === undefined || text === "") return undefined;
  const at = parseInstant(text, zone, now);
  if (at === undefined)
    throw new UsageError(`--${name}: ${quoted(text)} is not an instant; write it as ${EXAMPLES}`);
  return at;
}

/** For listings, in UTC: `2026-11-21 05:31:02 UTC`, the milliseconds only where there are any. */
export function shownInstant(at: number): string {
  const iso = new Date(at).toISOString();
  const fraction = iso.slice(19, 23) === ".000" ? "" : iso.slice(19, 23);
  return `${iso.slice(0, 19).replace("T", " ")}${fraction} UTC`;
}
