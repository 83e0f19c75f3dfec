import { DAY_MS, parseDuration, type WallTime } from "../../../core/base/clock.ts";
import { quoteText } from "../../../core/base/text.ts";
import { parseInstant } from "./instant.ts";

/** The destination of time travel: a time, or a revision of etcd. */
export type PastTarget = { at: WallTime } | { revision: bigint };

const CLOCK_TEXT = /^(?:(today|yesterday)(?:\s+|$))?(?:(\d{1,2}):(\d\d)(?::(\d\d))?)?$/i;

/** Examples of times, for messages and hints. */
export const PAST_TARGET_FORM = "03:00, yesterday 22:10, -2h, 2026-11-22T03:00Z or rev 1234";

/** Parses where to travel. Times without a day are those of the last 24 hours; all are UTC, as on the screen. */
export function parsePastTarget(text: string, now: WallTime): PastTarget | { fault: string } {
  const wanted = text.trim();
  const [, revision] = /^(?:rev(?:ision)?\s*|#)(\d{1,18})$/i.exec(wanted) ?? [];
  if (revision !== undefined)
    return BigInt(revision) > 0n ? { revision: BigInt(revision) } : { fault: "revisions begin at 1" };
  const at = parseClock(wanted, now) ?? parseSpan(wanted, now) ?? parseInstant(wanted, "UTC", now)?.at;
  if (at === undefined) return { fault: `write a time as ${PAST_TARGET_FORM}; got ${quoteText(wanted)}` };
  return at > now ? { fault: `${quoteText(wanted)} is in the future` } : { at };
}

function parseClock(text: string, now: WallTime): number | undefined {
  const [, day, hour, minute, second = "0"] = text === "" ? [] : (CLOCK_TEXT.exec(text) ?? []);
  if (day === undefined && hour === undefined) return undefined;
  const [h, m, s] = [Number(hour ?? 0), Number(minute ?? 0), Number(second)];
  if (h > 23 || m > 59 || s > 59) return undefined;
  const today = now - (now % DAY_MS);
  const clock = ((h * 60 + m) * 60 + s) * 1_000;
  if (day !== undefined) return (day.toLowerCase() === "today" ? today : today - DAY_MS) + clock;
  return today + clock > now ? today - DAY_MS + clock : today + clock;
}

/** `-2h` and `2h` are both two hours ago. */
function parseSpan(text: string, now: WallTime): number | undefined {
  const span = parseDuration(text.replace(/^-\s*/, ""));
  return "value" in span ? now - span.value : undefined;
}
