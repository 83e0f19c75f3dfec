import { formatInstant } from "../../base/duration.ts";
import type { PastMoment } from "./shown-data.ts";

/** Formats a time: `03:00:02Z`, with the day if it is another one than that of `now`. */
export function formatPastTime(at: number, now: number): string {
  const [text, today] = [formatInstant(at), formatInstant(now)];
  return text.slice(0, 10) === today.slice(0, 10) ? text.slice(11) : text;
}

/** Says which state is shown and how exactly its time is known. @param now  ms since the epoch */
export function describePastMoment(moment: PastMoment, now: number): string {
  return `state at revision ${moment.revision}, ${describePastBounds(moment, now)}`;
}

/** Says how exactly the time of a past state is known. @param now  ms since the epoch */
export function describePastBounds({ from, until }: PastMoment, now: number): string {
  const [after, before] = [from, until].map((at) => (at === undefined ? undefined : formatPastTime(at, now)));
  if (after === undefined) return before === undefined ? "of an unknown time" : `before ${before}`;
  if (before === undefined) return `not before ${after}`;
  return after === before ? `at ${after}` : `between ${after} and ${before}`;
}
