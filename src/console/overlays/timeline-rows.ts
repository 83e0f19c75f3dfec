import { cleanToWidth } from "../../base/display-width.ts";
import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { collectTexts } from "../../base/text.ts";
import type { TimeSpan } from "../../state/forecast.ts";
import { computeUnitPeaks } from "../../state/resource-use.ts";
import type { TimelineTrack } from "../../state/timeline.ts";
import {
  type BarCell,
  countBandCells,
  drawRunBar,
  drawTimeAxis,
  isFailedResult,
  type RunBar,
} from "../../state/timeline.ts";
import { ASCII_DRAWING, drawLevel, UNICODE_DRAWING } from "../../views/drawing.ts";
import { clamp, computeWindowTop } from "../state/cursor.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { createRow, padText, type RowCell, type RowModel } from "../theme/Row.tsx";

/** The signs of a timeline. */
interface TimelineViewSigns {
  cells: Readonly<Record<BarCell, string>>;
  drain: string;
  /** See `drawLevel`. */
  levels: string;
}

export const UNICODE_VIEW_SIGNS: TimelineViewSigns = {
  cells: { free: "·", wait: "░", hold: "█", failed: "▲" },
  drain: "▒",
  levels: UNICODE_DRAWING.levels,
};
export const ASCII_VIEW_SIGNS: TimelineViewSigns = {
  cells: { free: ".", wait: "-", hold: "#", failed: "!" },
  drain: "x",
  levels: ASCII_DRAWING.levels,
};

const ROLES: Readonly<Record<BarCell, StyleRole>> = {
  free: "quiet",
  wait: "waiting",
  hold: "held",
  failed: "problem",
};

/** The inputs of the rows of a timeline. */
interface TimelineRowsInput {
  tracks: readonly TimelineTrack[];
  bars: readonly RunBar[];
  span: TimeSpan;
  /** Index of the run under the cursor. */
  cursor: number;
  signs: TimelineViewSigns;
  /** Whether the object of each run is shown, because there are several. */
  isMixed: boolean;
  note: string;
}

/** Builds a timeline: axis, drains and waiters, a bar for each run around the cursor, the facts of one, the legend. */
export function buildTimelineRows(
  input: TimelineRowsInput,
  { width, height }: { width: number; height: number },
): RowModel[] {
  const { bars, span, cursor, signs } = input;
  const label = clamp(Math.floor(width / 3), 10, input.isMixed ? 36 : 24);
  const room = Math.max(4, width - label - 2);
  const facts = buildFactRows(bars[cursor], span, width);
  const note = createRow(cleanToWidth(input.note, width), "quiet");
  const below = [...facts, buildLegendRow(signs), note].slice(0, Math.max(0, height - 4)); // low screens show no legend
  const band = buildBandRows(input, label, room);
  const list = Math.max(1, height - band.length - below.length);
  const top = computeWindowTop(cursor, bars.length, list);
  const shown = bars.slice(top, top + list);
  const rows = shown.map((bar, at): RowModel => {
    const isHere = top + at === cursor;
    const name = cleanToWidth(`${isHere ? ">" : " "} ${formatBarLabel(bar, input.isMixed)}`, label);
    const cells = joinSameRoles(
      drawRunBar(bar, span, room).map((cell) => ({ text: signs.cells[cell], role: ROLES[cell] })),
    );
    return {
      cells: [{ text: padText(name, label), role: isHere ? "key" : "plain" }, { text: "  " }, ...cells],
    };
  });
  return [
    ...band,
    ...(rows.length === 0 ? [createRow("no runs are recorded in this time", "quiet")] : rows),
    ...below,
  ];
}

/** The axis, the drains and the number of waiters. */
function buildBandRows({ tracks, span, signs }: TimelineRowsInput, label: number, room: number): RowModel[] {
  const { waiters, drained } = countBandCells(tracks, span, room);
  const drains = drained.map(
    (is): RowCell =>
      is ? { text: signs.drain, role: "problem" } : { text: signs.cells.free, role: "quiet" },
  );
  const counts = waiters.map((count): RowCell => {
    const text = count === 0 ? signs.cells.free : count > 9 ? "+" : String(count);
    return { text, role: count === 0 ? "quiet" : "waiting" };
  });
  const units = buildUnitCells(tracks, span, room, signs);
  const head = (text: string): RowCell => ({
    text: padText(cleanToWidth(text, label), label + 2),
    role: "quiet",
  });
  return [
    { cells: [head("UTC"), { text: drawTimeAxis(span, room), role: "quiet" }] },
    { cells: [head("  drained"), ...joinSameRoles(drains)] },
    { cells: [head("  waiting"), ...joinSameRoles(counts)] },
    ...(units === undefined ? [] : [{ cells: [head(`  units, ${units.most} at most`), ...units.cells] }]),
  ];
}

/** Draws how many units of a resource were held; undefined for something else. */
function buildUnitCells(
  tracks: readonly TimelineTrack[],
  span: TimeSpan,
  room: number,
  { levels }: TimelineViewSigns,
): { most: number; cells: RowCell[] } | undefined {
  const held = tracks.flatMap(({ intervals }) =>
    intervals.flatMap(({ kind, from, until = span.until, units }) =>
      kind === "hold" && units !== undefined ? [{ from, until, units }] : [],
    ),
  );
  if (tracks.length !== 1 || held.length === 0) return undefined;
  const peaks = computeUnitPeaks(held, span, room);
  const most = Math.max(...peaks);
  const cells = peaks.map((peak): RowCell => {
    const text = drawLevel(peak / Math.max(1, most), { levels });
    return { text: peak === 0 ? " " : text, role: "held" };
  });
  return { most, cells: joinSameRoles(cells) };
}

/** Joins neighbouring cells with the same role, because painting each cell takes time. */
function joinSameRoles(cells: readonly RowCell[]): RowCell[] {
  const joined: RowCell[] = [];
  for (const cell of cells) {
    const last = joined.at(-1);
    if (last !== undefined && last.role === cell.role) last.text += cell.text;
    else joined.push({ ...cell });
  }
  return joined;
}

/** Formats the label of a bar: the process on its host. If several objects are shown, the object instead of the host. */
function formatBarLabel({ subject, host, pid, run }: RunBar, isMixed: boolean): string {
  if (isMixed) return `${subject} ${pid ?? run}`;
  if (host === undefined) return run;
  return `${host.split(".")[0] ?? host}${pid === undefined ? "" : `:${pid}`}`;
}

function buildFactRows(bar: RunBar | undefined, { until: now }: TimeSpan, width: number): RowModel[] {
  if (bar === undefined) return [createRow(""), createRow(""), createRow("")];
  const role: StyleRole = isFailedResult(bar.result) ? "problem" : "plain";
  return [
    createRow(""),
    createRow(cleanToWidth(describeRun(bar), width)),
    // The end comes first: at 80 columns, there is no room for the beginning of the wait.
    createRow(cleanToWidth(listRunFacts(bar, now).toReversed().join("; "), width), role),
  ];
}

export function describeRun({ subject, host, pid, command, run }: RunBar): string {
  const where = host === undefined ? "" : ` on ${host}${pid === undefined ? "" : `:${pid}`}`;
  return `${subject}: ${command ?? `run ${run}`}${where}`;
}

/** Lists when a run waited and held, and how it ended. @param now  ms since the epoch */
export function listRunFacts({ waitedFrom, from, until, result }: RunBar, now: number): string[] {
  const verb = from === undefined && until === undefined ? "waits" : "waited";
  const waited =
    waitedFrom !== undefined &&
    `${verb} since ${formatInstant(waitedFrom)} (${formatBriefDuration((from ?? until ?? now) - waitedFrom)})`;
  if (from === undefined) return collectTexts([waited]);
  const span =
    until === undefined
      ? `holds since ${formatInstant(from)}`
      : `held ${formatInstant(from)} until ${formatInstant(until)}`;
  const held = `${span} (${formatBriefDuration((until ?? now) - from)})`;
  return collectTexts([waited, held, result && (/^-?\d+$/.test(result) ? `exit code ${result}` : result)]);
}

function buildLegendRow({ cells, drain }: TimelineViewSigns): RowModel {
  const part = (sign: string, role: StyleRole, what: string): RowCell[] => [
    { text: sign, role },
    { text: ` ${what}  `, role: "quiet" },
  ];
  return {
    cells: [
      ...part(cells.hold, "held", "held"),
      ...part(cells.wait, "waiting", "waited"),
      ...part(cells.failed, "problem", "failed"),
      ...part(drain, "problem", "drained"),
      ...part("1-9+", "waiting", "number waiting"),
    ],
  };
}
