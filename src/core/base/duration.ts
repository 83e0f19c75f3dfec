import type { Millis, WallTime } from "./clock.ts";
import { type ParseResult, quoteText } from "./text.ts";

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Example durations, for messages and help. */
const DURATION_EXAMPLE = "30s, 0.5s, 5m, 1h30m or 2d";

/** Units with their length in ms, largest first. The parts of a duration must be in this order. */
const UNITS = [
  ["d", DAY_MS],
  ["h", HOUR_MS],
  ["m", MINUTE_MS],
  ["s", SECOND_MS],
  ["ms", 1],
] as const;

const NUMBER_PATTERN = String.raw`(\d+(?:\.\d+)?)`;
const DURATION_PATTERN = new RegExp(`^${UNITS.map(([unit]) => `(?:${NUMBER_PATTERN}${unit})?`).join("")}$`);
/** Longer texts are refused without parsing. No duration needs more characters. */
const MAX_LENGTH = 40;
/** Ten years. A longer duration is a typing error. */
const MAX_MS = 3_650 * DAY_MS;

/**
 * Parses a duration.
 *
 * The text consists of numbers with units, largest unit first, each unit at most once: `30s`, `1h30m`, `0.5s`. A bare
 * number is refused, because tools disagree on its unit. Only `0` is accepted without a unit.
 * @returns a whole number from 0 to ten years; or an error message that quotes the text. The message does
 *   not name the flag or key: the caller adds it
 */
export function parseDuration(text: string): ParseResult<Millis> {
  if (text === "0") return { value: 0 };
  if (/^\d{1,12}(\.\d{1,12})?$/.test(text))
    return { fault: `${quoteText(text)} has no unit; write ${text}s, ${text}m, ${text}h or ${text}d` };
  const parts = text.length > MAX_LENGTH ? null : DURATION_PATTERN.exec(text);
  if (parts === null || text === "") {
    return { fault: `${quoteText(text)} is not a duration; write it as ${DURATION_EXAMPLE}` };
  }
  const exact = UNITS.reduce((sum, [, length], unit) => sum + Number(parts[unit + 1] ?? 0) * length, 0);
  const value = Math.round(exact);
  if (value === 0 && exact > 0) return { fault: `${quoteText(text)} is shorter than 1ms` };
  if (value > MAX_MS) return { fault: `${quoteText(text)} is longer than ten years` };
  return { value };
}

/**
 * Formats a duration as `parseDuration` reads it, with the fewest parts: `1h30m`, `0s`.
 * @param ms  rounded to whole milliseconds; negative values get a sign
 */
export function formatDuration(ms: Millis): string {
  if (!Number.isFinite(ms)) return "forever";
  let rest = Math.round(Math.abs(ms));
  if (rest === 0) return "0s";
  let text = ms < 0 ? "-" : "";
  for (const [unit, length] of UNITS) {
    const whole = Math.floor(rest / length);
    if (whole > 0) text += `${whole}${unit}`;
    rest -= whole * length;
  }
  return text;
}

/**
 * Formats a duration for listings: whole seconds, only the two largest units, such as `12m4s` or `3d4h`. Less than a
 * second is `0s`.
 * @param ms  negative values, caused by clock differences, count as 0
 */
export function formatBriefDuration(ms: Millis): string {
  if (!Number.isFinite(ms)) return "forever";
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const largest = UNITS.findIndex(([, length]) => seconds * 1000 >= length);
  const [, finest] = UNITS[Math.min(3, largest + 1)] ?? UNITS[3];
  return formatDuration(largest < 0 ? 0 : Math.floor((seconds * 1000) / finest) * finest);
}

/** Formats a time for machines and messages: `2026-11-21T05:31:02.000Z`. */
export function formatIso(wall: WallTime): string {
  return new Date(wall).toISOString();
}

/** Formats a time for listings, in UTC: `2026-11-21 05:31:02Z`. */
export function formatInstant(wall: WallTime): string {
  if (!Number.isFinite(wall) || Math.abs(wall) > 8.64e15) return "?";
  return `${new Date(wall).toISOString().slice(0, 19).replace("T", " ")}Z`;
}
