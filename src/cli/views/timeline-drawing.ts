import { formatInstant, formatIso } from "../../core/base/clock.ts";
import type { TimeSpan } from "../../site/state/forecast.ts";
import {
  isFailedResult,
  type RunBar,
  type TimelineInterval,
  type TimelineTrack,
} from "../../site/state/timeline.ts";

export type BarCell = "free" | "wait" | "hold" | "failed";

/** Draws the bar of one run. The last cell of a failed run is `failed`. */
export function drawRunBar(
  { waitedFrom, from, until, result }: RunBar,
  span: TimeSpan,
  width: number,
): BarCell[] {
  const cells = Array.from({ length: width }, (): BarCell => "free");
  const end = until ?? span.until;
  const fill = (value: BarCell, part: TimeSpan) => {
    for (const at of listCells(part, span, width)) cells[at] = value;
  };
  if (waitedFrom !== undefined && waitedFrom < (from ?? end))
    fill("wait", { from: waitedFrom, until: from ?? end });
  if (from !== undefined) fill("hold", { from, until: end });
  if (isFailedResult(result) && end >= span.from && end <= span.until)
    cells[findCell(end, span, width)] = "failed";
  return cells;
}

/** Counts the runs that wait, and says whether something is drained, in each cell. */
export function countBandCells(
  tracks: readonly TimelineTrack[],
  span: TimeSpan,
  width: number,
): { waiters: number[]; drained: boolean[] } {
  const waiters = Array.from({ length: width }, () => 0);
  const drained = Array.from({ length: width }, () => false);
  for (const { intervals } of tracks)
    for (const { kind, from, until = span.until } of intervals)
      for (const at of kind === "hold" ? [] : listCells({ from, until }, span, width))
        if (kind === "drain") drained[at] = true;
        else waiters[at] = (waiters[at] ?? 0) + 1;
  return { waiters, drained };
}

/** Lists the cells that a part of the time touches: at least one if it is within the span. */
function listCells(part: TimeSpan, span: TimeSpan, width: number): number[] {
  if (part.from > span.until || part.until < span.from) return [];
  const first = findCell(Math.max(part.from, span.from), span, width);
  const last = findCell(Math.min(part.until, span.until), span, width);
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, at) => first + at);
}

function findCell(at: number, { from, until }: TimeSpan, width: number): number {
  const cell = Math.floor(((at - from) / Math.max(1, until - from)) * width);
  return Math.max(0, Math.min(width - 1, cell));
}

/** Steps of a time axis, ms. */
const AXIS_STEPS = [1, 2, 5, 10, 15, 30]
  .flatMap((count) => [count * 1000, count * 60000])
  .concat([1, 2, 3, 6, 12, 24, 48, 168].map((hours) => hours * 3600000))
  .sort((a, b) => a - b);

/** Draws a time axis in UTC: each label begins at the cell of its instant. */
export function drawTimeAxis(span: TimeSpan, width: number): string {
  const perCell = Math.max(1, span.until - span.from) / Math.max(1, width);
  const step = AXIS_STEPS.find((one) => one / perCell >= 10) ?? 7 * 86400000;
  let line = "";
  for (let at = Math.ceil(span.from / step) * step; at <= span.until; at += step) {
    const label = formatAxisLabel(at, step);
    const cell = findCell(at, span, width);
    if (cell < line.length || cell + label.length > width) continue;
    line = `${line.padEnd(cell)}${label} `;
  }
  return line.padEnd(width).slice(0, width);
}

function formatAxisLabel(at: number, step: number): string {
  const text = formatIso(at);
  if (step >= 86400000 || text.slice(11, 16) === "00:00") return text.slice(5, 10);
  return step < 60000 ? text.slice(11, 19) : text.slice(11, 16);
}

/** The signs of a bar. */
interface TimelineSigns {
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
  span: TimeSpan,
  width: number,
  signs: TimelineSigns,
): string {
  const ranks = Array.from({ length: width }, () => 0);
  for (const interval of intervals)
    for (const at of listCells({ from: interval.from, until: interval.until ?? span.until }, span, width))
      ranks[at] = Math.max(ranks[at] ?? 0, rankInterval(interval));
  const byRank = [signs.free, signs.wait, signs.drain, signs.hold, signs.failed];
  return ranks.map((rank) => byRank[rank] ?? "").join("");
}

function rankInterval({ kind, result }: TimelineInterval): number {
  if (kind !== "hold") return kind === "wait" ? 1 : 2;
  return isFailedResult(result) ? 4 : 3;
}
