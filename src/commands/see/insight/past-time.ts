import { parseDuration } from "../../../base/duration.ts";
import { UsageError } from "../../../base/errors.ts";
import { quoteText } from "../../../base/text.ts";
import { parseInstant } from "../../command-line/instant.ts";

/**
 * Parses an instant in the past, in UTC if it has no offset, or a duration before now.
 * @param what  names the argument or flag in messages
 * @param now  ms since the epoch
 * @returns ms since the epoch, at most `now`
 * @throws UsageError
 */
export function parsePastTime(what: string, text: string, now: number): number {
  const duration = parseDuration(text);
  const at = "value" in duration ? now - duration.value : parseInstant(text, "UTC", now);
  if (at === undefined)
    throw new UsageError(
      `${what} must be a time such as 2026-11-22T05:00Z or a duration such as 2h; got ${quoteText(text)}`,
    );
  if (at > now || at < 0)
    throw new UsageError(`${what} must not be in the future or before 1970; got ${quoteText(text)}`);
  return at;
}
