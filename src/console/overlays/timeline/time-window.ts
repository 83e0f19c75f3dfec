import type { TimeSpan } from "../../../model/insight/forecast.ts";

/** The part of the time that a timeline shows. */
export interface TimeWindow {
  /** ms. */
  readonly length: number;
  /** ms since the epoch; undefined: it follows the present. */
  readonly end: number | undefined;
}

/** The window that a timeline begins with, and `0` returns to. */
export const FIRST_WINDOW: TimeWindow = { length: 3_600_000, end: undefined };

const SHORTEST = 10_000;
const LONGEST = 64 * 86_400_000;

export function getWindowSpan({ length, end }: TimeWindow, now: number): TimeSpan {
  const until = Math.max(length, end ?? now);
  return { from: until - length, until };
}

/** Halves or doubles the length. A window that follows the present goes on so; another one keeps its middle. */
export function zoomWindow(window: TimeWindow, by: "in" | "out", now: number): TimeWindow {
  const wanted = by === "in" ? window.length / 2 : window.length * 2;
  const length = Math.max(SHORTEST, Math.min(LONGEST, wanted));
  if (window.end === undefined) return { length, end: undefined };
  return stopAtPresent({ length, end: window.end + (length - window.length) / 2 }, now);
}

/** Moves a quarter of the length. At the present, it follows that again. */
export function panWindow(window: TimeWindow, by: -1 | 1, now: number): TimeWindow {
  const { length, end = now } = window;
  return stopAtPresent({ length, end: end + (by * length) / 4 }, now);
}

function stopAtPresent(window: { length: number; end: number }, now: number): TimeWindow {
  const { length, end } = window;
  return end >= now ? { length, end: undefined } : { length, end: Math.max(length, end) };
}
