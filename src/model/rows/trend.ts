import { formatBriefDuration } from "../../base/duration.ts";
import type { PastRun } from "../../protocol/history.ts";

/** Signs from low to high. The lowest one is also for zero. */
const [SIGNS, ASCII_SIGNS] = ["▁▂▃▅▇", "_.-=#"];

/** Number of runs in a cell of a table. */
const FEW = 12;

/** The durations whose course is shown. */
export type TrendField = "held" | "waited";

/** Draws durations as bars, relative to the longest. @param durations  ms, the oldest first */
export function renderSparkline(durations: readonly number[], isAscii = false): string {
  const signs = isAscii ? ASCII_SIGNS : SIGNS;
  const most = Math.max(0, ...durations);
  const last = signs.length - 1;
  return durations
    .map((ms) => signs[most === 0 ? 0 : Math.round((Math.max(0, ms) / most) * last)] ?? signs[0])
    .join("");
}

/** Draws the last runs of a lock for a cell. @param runs  newest first, as in the history */
export function renderTrendCell(
  runs: readonly PastRun[] | undefined,
  field: TrendField,
  isAscii = false,
): string {
  return renderSparkline(listDurations(runs?.slice(0, FEW) ?? [], field), isAscii);
}

/** Draws all runs of a history, with the shortest, median and longest. Undefined with fewer than two runs. */
export function describeTrend(
  runs: readonly PastRun[],
  field: TrendField,
  isAscii = false,
): string | undefined {
  if (runs.length < 2) return undefined;
  const durations = listDurations(runs, field);
  const sorted = [...durations].sort((a, b) => a - b);
  const [least, middle, most] = [sorted[0], sorted[Math.ceil(sorted.length / 2) - 1], sorted.at(-1)].map(
    (ms) => formatBriefDuration(ms ?? 0),
  );
  return `${renderSparkline(durations, isAscii)} min ${least}, median ${middle}, max ${most} of ${runs.length} runs`;
}

function listDurations(runs: readonly PastRun[], field: TrendField): number[] {
  return runs.map((run) => Math.max(0, run[field])).reverse();
}
