import { parseDuration } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import type { Call } from "../spec.ts";
import { getTextFlag } from "./flags.ts";
import { parseInstant } from "./instant.ts";

const DAY = 86_400_000;

/**
 * Parses an instant in the past, in UTC if it has no offset, a duration before now, `03:00` (the last time that it was 3
 * o'clock), or `yesterday 02:00`.
 * @param what  names the argument or flag in messages
 * @param now  ms since the epoch
 * @returns ms since the epoch, at most `now`
 * @throws UsageError
 */
export function parsePastTime(what: string, text: string, now: number): number {
  const duration = parseDuration(text);
  const at =
    "value" in duration
      ? now - duration.value
      : (parseTimeOfDay(text, now) ?? parseInstant(text, "UTC", now));
  if (at === undefined)
    throw new UsageError(
      `${what} must be a time such as 2026-11-22T05:00Z, 03:00 or yesterday 02:00 (UTC), or a duration such as 2h; got ${quoteText(text)}`,
    );
  if (at > now || at < 0)
    throw new UsageError(`${what} must not be in the future or before 1970; got ${quoteText(text)}`);
  return at;
}

/** Parses `--since`. @param now  ms since the epoch. @returns ms since the epoch. @throws UsageError */
export function parseSinceFlag(call: Pick<Call, "flags">, now: number): number | undefined {
  const text = getTextFlag(call, "since");
  return text === undefined ? undefined : parsePastTime("--since", text, now);
}

/** Parses a time of day in UTC, of the last time it was so late, or of yesterday; undefined for other texts. */
function parseTimeOfDay(text: string, now: number): number | undefined {
  const [, yesterday, hour, minute] = /^(yesterday )?([01]\d|2[0-3]):([0-5]\d)Z?$/.exec(text) ?? [];
  if (hour === undefined) return undefined;
  const midnight = now - (now % DAY);
  const at = midnight + (Number(hour) * 60 + Number(minute)) * 60_000;
  return yesterday !== undefined || at > now ? at - DAY : at;
}
