import { formatInstant } from "../../base/duration.ts";
import type { TimeSpan } from "./forecast.ts";
import type { TimelineInterval, TimelineTrack } from "./timeline.ts";

/** The signs of a bar. */
export interface TimelineSigns {
  hold: string;
  failed: string;
  wait: string;
  drain: string;
  free: string;
}

export const UNICODE_SIGNS: TimelineSigns = { hold: "█", failed: "▓", wait: "░", drain: "╳", free: "·" };
export const ASCII_SIGNS: TimelineSigns = { hold: "#", failed: "!", wait: "-", drain: "x", free: "." };

/**
 * Formats tracks as bars: a line each, with a heading and a legend. A column shows what happened in it, in this order: a
 * failed run, a hold, a drain, a wait. Not cleaned.
 * @param width  columns of the bars
 */
export function formatTimeline(
  tracks: readonly TimelineTrack[],
  span: TimeSpan,
  { width, signs }: { width: number; signs: TimelineSigns },
): string[] {
  const longest = tracks.reduce((most, { subject }) => Math.max(most, subject.length), 0);
  const [from, until] = [formatInstant(span.from), formatInstant(span.until)];
  const gap = " ".repeat(Math.max(1, width - from.length - until.length));
  const { hold, failed, wait, drain } = signs;
  return [
    `${" ".repeat(longest)}  ${from}${gap}${until}`,
    ...tracks.map(
      ({ subject, intervals }) => `${subject.padEnd(longest)}  ${drawBar(intervals, span, width, signs)}`,
    ),
    `${hold} held  ${failed} held, then failed  ${drain} drained  ${wait} waiting`,
  ];
}

function drawBar(
  intervals: readonly TimelineInterval[],
  { from, until }: TimeSpan,
  width: number,
  signs: TimelineSigns,
): string {
  const step = (until - from) / width;
  const ranks = Array.from({ length: width }, () => 0);
  for (const interval of intervals) {
    const first = Math.max(0, Math.floor((interval.from - from) / step));
    const last = Math.min(width - 1, Math.floor(((interval.until ?? until) - from) / step));
    for (let at = first; at <= last; at += 1) ranks[at] = Math.max(ranks[at] ?? 0, rankInterval(interval));
  }
  const byRank = [signs.free, signs.wait, signs.drain, signs.hold, signs.failed];
  return ranks.map((rank) => byRank[rank] ?? "").join("");
}

function rankInterval({ kind, result }: TimelineInterval): number {
  if (kind !== "hold") return kind === "wait" ? 1 : 2;
  return result === undefined || result === "0" || result === "ok" ? 3 : 4;
}
