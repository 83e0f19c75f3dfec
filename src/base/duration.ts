import { type Parsed, quoted } from "./text.ts";

/** How a duration is written, for messages and help. */
export const DURATION_EXAMPLE = "30s, 5m, 1h30m, 250ms or 2d";

/** Units from the largest, with their length in ms; parts of a duration must come in this order. */
const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

const SHAPE = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
/** Longer texts are not looked at: no duration needs as much. */
const MAX_LENGTH = 40;
/** Ten years: what is longer is a typing error. */
const MAX_MS = 3_650 * 86_400_000;

/**
 * A duration as people write it.
 *
 * Whole numbers with units, largest unit first, each at most once: `30s`, `1h30m`, `250ms`. A bare number is refused,
 * since tools disagree on its unit; only `0` stands for itself.
 * @returns milliseconds, a whole number from 0 to ten years; or what is wrong with the text, the text quoted, without
 * saying which flag or key it came from: the caller knows that
 */
export function parseDuration(text: string): Parsed<number> {
  if (text === "0") return { value: 0 };
  if (/^\d{1,12}$/.test(text)) return { fault: `${quoted(text)} has no unit; write ${text}s for seconds` };
  const parts = text.length > MAX_LENGTH ? null : SHAPE.exec(text);
  if (parts === null || text === "") {
    return { fault: `${quoted(text)} is not a duration; write it as ${DURATION_EXAMPLE}` };
  }
  const value = UNITS.reduce((sum, [, length], unit) => sum + Number(parts[unit + 1] ?? 0) * length, 0);
  if (value > MAX_MS) return { fault: `${quoted(text)} is longer than ten years` };
  return { value };
}

/**
 * A duration as `parseDuration` reads it, in the fewest parts: `1h30m`, `0s`.
 * @param ms  milliseconds; rounded to whole ones, negative ones get a sign
 */
export function formatDuration(ms: number): string {
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
 * A duration for listings: whole seconds, and of its parts the two largest, as `12m4s` or `3d4h`. Below a second `0s`.
 * @param ms  milliseconds; negative ones, which clocks that differ make, count as none
 */
export function briefDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "forever";
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const largest = UNITS.findIndex(([, length]) => seconds * 1000 >= length);
  const [, finest] = UNITS[Math.min(3, largest + 1)] ?? UNITS[3];
  return formatDuration(largest < 0 ? 0 : Math.floor((seconds * 1000) / finest) * finest);
}

/** An instant for listings, in UTC: `2026-11-21 05:31:02Z`. @param wall  wall clock, ms since the epoch */
export function formatInstant(wall: number): string {
  if (!Number.isFinite(wall) || Math.abs(wall) > 8.64e15) return "?";
  return `${new Date(wall).toISOString().slice(0, 19).replace("T", " ")}Z`;
}
