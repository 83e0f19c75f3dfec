import type { TimeSpan } from "./forecast.ts";
import type { TimelineInterval, TimelineTrack } from "./timeline.ts";

/** What one run did with one object. Instants in ms since the epoch. */
export interface RunBar {
  /** `lock invoices`. */
  subject: string;
  run: string;
  host?: string;
  pid?: number;
  command?: string;
  /** When it began to wait; undefined if it did not wait. */
  waitedFrom?: number;
  /** Since when it held; undefined if it waits, or ended without. */
  from?: number;
  /** Undefined if it goes on. */
  until?: number;
  /** Exit code or result of an ended run. */
  result?: string;
}

/** Joins the waits and holds of each run, in the order of their starts. */
export function buildRunBars(tracks: readonly TimelineTrack[]): RunBar[] {
  const bars = new Map<string, RunBar>();
  for (const { subject, intervals } of tracks)
    for (const [at, interval] of intervals.entries()) {
      if (interval.kind === "drain") continue;
      const { owner } = interval;
      const id = JSON.stringify(owner === "" ? [subject, at, ""] : [subject, owner]);
      bars.set(id, { ...joinInterval(bars.get(id), interval), subject });
    }
  return [...bars.values()].sort((a, b) => getStart(a) - getStart(b));
}

function joinInterval(bar: RunBar | undefined, interval: TimelineInterval): Omit<RunBar, "subject"> {
  const { kind, from, until, owner, host, pid, command, result } = interval;
  const own = {
    ...bar,
    run: owner,
    ...(host !== undefined && { host }),
    ...(pid !== undefined && { pid }),
    ...(command !== undefined && { command }),
  };
  if (kind === "wait")
    return { ...own, waitedFrom: from, ...(bar?.from === undefined && until !== undefined && { until }) };
  const { until: _, ...rest } = own;
  return { ...rest, from, ...(until !== undefined && { until }), ...(result !== undefined && { result }) };
}

function getStart({ waitedFrom, from = 0 }: RunBar): number {
  return waitedFrom ?? from;
}

/** Returns whether a run ended badly. */
export function isFailedResult(result: string | undefined): boolean {
  return result !== undefined && result !== "0" && result !== "ok";
}

/** What a cell of a bar shows. */
export type BarCell = "free" | "wait" | "hold" | "failed";

/** Draws the bar of one run. The last cell of a failed run is `failed`. */
export function drawRunBar(
  { waitedFrom, from, until, result }: RunBar,
  span: TimeSpan,
  width: number,
): BarCell[] {
  const cells = Array.from({ length: width }, (): BarCell => "free");
  const end = until ?? span.until;
  fillCells(cells, { from: waitedFrom ?? end, until: from ?? end }, span, "wait");
  if (from !== undefined) fillCells(cells, { from, until: end }, span, "hold");
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
  const changes = {
    wait: Array.from({ length: width + 1 }, () => 0),
    drain: Array.from({ length: width + 1 }, () => 0),
  };
  for (const { intervals } of tracks)
    for (const { kind, from, until = span.until } of intervals) {
      if (kind === "hold" || from > span.until || until < span.from) continue;
      const [first, last] = [findCell(from, span, width), findCell(until, span, width)];
      changes[kind][first] = (changes[kind][first] ?? 0) + 1;
      changes[kind][last + 1] = (changes[kind][last + 1] ?? 0) - 1;
    }
  return {
    waiters: sumChanges(changes.wait).slice(0, width),
    drained: sumChanges(changes.drain)
      .slice(0, width)
      .map((count) => count > 0),
  };
}

function sumChanges(changes: readonly number[]): number[] {
  let sum = 0;
  return changes.map((change) => {
    sum += change;
    return sum;
  });
}

function fillCells<T>(cells: T[], part: TimeSpan, span: TimeSpan, value: T): void {
  if (part.until <= part.from && value === "wait") return;
  for (const at of listCells(part, span, cells.length)) cells[at] = value;
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
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12, 24, 48, 168].map((hours) => hours * 3_600_000),
];

/** Draws a time axis in UTC: each label begins at the cell of its instant. */
export function drawTimeAxis(span: TimeSpan, width: number): string {
  const perCell = Math.max(1, span.until - span.from) / Math.max(1, width);
  const step = STEPS.find((one) => one / perCell >= 10) ?? 7 * 86_400_000;
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
  const text = new Date(at).toISOString();
  if (step >= 86_400_000 || text.slice(11, 16) === "00:00") return text.slice(5, 10);
  return step < 60_000 ? text.slice(11, 19) : text.slice(11, 16);
}
