import { cleanToWidth, computeDisplayWidth } from "../../base/display-width.ts";
import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { type ConsoleJob, describeJobState } from "../data/jobs.ts";
import { NOT_READ_YET } from "../data/live-view.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { type ConsoleState, PANELS, type PanelId } from "../state/console-state.ts";
import type { Size } from "../state/layout.ts";
import type { RowCell, RowModel } from "../theme/cells.ts";
import { Row, Rows, useTheme } from "../theme/Row.tsx";
import { PaneBox } from "./boxes.tsx";
import { createPageRow } from "./empty-pages.ts";

/** Events, jobs, problems, the audit or the log, below the table. */
export function Panel({ model: { rows, ...size } }: { model: PanelModel }) {
  return (
    <PaneBox size={size}>
      <Rows rows={rows} width={size.width} />
    </PaneBox>
  );
}

/** The line above the panel: the names of its views. */
export function PanelTitle({ model: { width, isFocused, titles } }: { model: PanelTitleModel }) {
  const { horizontal } = useTheme().signs;
  const length = titles.reduce((sum, { text }) => sum + text.length + 2, 0);
  const names = titles.flatMap(({ text, isActive, isUrgent }, at): RowCell[] => [
    ...(at === 0 ? [] : [{ text: "  " }]),
    { text, role: isActive ? (isFocused ? "titleFocused" : "heading") : isUrgent ? "problem" : "title" },
  ]);
  const rest = ` ${horizontal.repeat(Math.max(0, width - length - 1))}`;
  const role = isFocused ? "accent" : "border";
  const start: RowCell = { text: `${horizontal} `, role };
  return <Row cells={[start, ...names, { text: rest, role }]} width={width} />;
}

/** The visible rows of the panel's active view. */
export interface PanelModel extends Size {
  rows: readonly RowModel[];
}

/** The panel's title line: the names of its views. */
export interface PanelTitleModel {
  width: number;
  isFocused: boolean;
  titles: readonly { id: PanelId; text: string; isActive: boolean; isUrgent?: boolean }[];
}

export function buildPanelTitle(app: ConsoleParts, width: number): PanelTitleModel {
  const { panel, focus } = app.state;
  const hasProblems = (app.getTabCounts().problems ?? 0) > 0;
  const titles = listPanelTitles(app).map((title) => ({
    ...title,
    isActive: title.id === panel.id,
    isUrgent: title.id === "problems" && hasProblems,
  }));
  return { width, isFocused: focus === "panel", titles };
}

/** Lists the titles as they appear in that line: from the third column on, with two columns between them. */
export function listPanelTitles(app: ConsoleParts): { id: PanelId; text: string }[] {
  const counts: Partial<Record<PanelId, number>> = {
    jobs: app.jobs.running.length,
    problems: app.getTabCounts().problems ?? 0,
  };
  return PANELS.map((id) => ({ id, text: id.toUpperCase() + (counts[id] ? ` ${counts[id]}` : "") }));
}

/** Builds the active view of the panel. */
export function buildPanelModel(app: ConsoleParts, size: Size): PanelModel {
  return { ...size, rows: buildPanelRows(app, size) };
}

function buildPanelRows(app: ConsoleParts, size: Size): RowModel[] {
  switch (app.state.panel.id) {
    case "events":
      return buildEventRows(app, size);
    case "jobs":
      return buildJobRows(app, size);
    case "problems":
    case "audit":
      return buildTableRows(app, size);
    case "log":
      return showNewest(app.state, app.log.lines, size, {
        empty: "The log is empty.",
        build: (text) => [{ text }],
      });
  }
}

function buildEventRows(app: ConsoleParts, size: Size): RowModel[] {
  const wall = app.getWallTime();
  const empty = app.liveView.hasRead ? "No events yet. Runs, drains and changes appear here." : NOT_READ_YET;
  return showNewest(app.state, app.events, size, {
    empty,
    build: ({ at, text, tone }) => [
      { text: formatEventTime(at, wall), role: "quiet" },
      { text: " " },
      { text: cleanToWidth(text, size.width - 11), role: tone === "held" ? "plain" : tone },
    ],
  });
}

const DAY = 86_400_000;

/** Formats the time of an event in eight columns: the time of the day, or the day if it was not in the last 24 hours. */
function formatEventTime(at: number, wall: number): string {
  const text = formatInstant(at);
  return wall - at < DAY ? text.slice(11, 19) : text.slice(2, 10);
}

/** Builds rows, newest first, at the panel's scroll position. */
function showNewest<T>(
  state: ConsoleState,
  items: { length: number; slice(from: number, to: number): readonly T[] },
  { width, height }: Size,
  { empty, build }: { empty: string; build(item: T): readonly RowCell[] },
): RowModel[] {
  if (items.length === 0) return [createPageRow(cleanToWidth(empty, width - 2), "quiet")];
  const top = Math.max(0, Math.min(state.panel.top, items.length - height));
  return items.slice(top, top + height).map((item) => ({ cells: [{ text: " " }, ...build(item)] }));
}

function buildJobRows(app: ConsoleParts, { width, height }: Size): RowModel[] {
  const { state, jobs } = app;
  if (jobs.list.length === 0) {
    const empty = "No jobs yet. D drains and X resets the selection; : has all commands.";
    return [createPageRow(cleanToWidth(empty, width - 2), "quiet")];
  }
  const { cursor } = state.panel;
  return jobs.list.slice(cursor.top, cursor.top + height).map((job, at) => ({
    cells: [{ text: " " }, ...buildJobCells(job, app.getPresentTime(), width - 2)],
    selection: isSelectedRow(app, cursor.top + at) ? "focused" : undefined,
  }));
}

function buildJobCells(job: ConsoleJob, now: number, width: number): RowCell[] {
  const { text, role } = describeJobState(job);
  const took = formatBriefDuration((job.endedAt ?? now) - job.startedAt);
  const title = cleanToWidth(job.title, 60);
  const room = Math.max(0, width - text.length - 7 - computeDisplayWidth(title) - 2);
  return [
    { text, role },
    { text: ` ${took.padStart(4)}  ${title}  ` },
    { text: cleanToWidth(job.lines.at(-1) ?? "", room), role: "quiet" },
  ];
}

function isSelectedRow({ state: { focus, panel } }: ConsoleParts, index: number): boolean {
  return focus === "panel" && index === panel.cursor.index;
}

function buildTableRows(app: ConsoleParts, { width, height }: Size): RowModel[] {
  const table = app.getPanelTable();
  if (table === undefined) return [];
  const empty = app.liveView.hasRead ? table.empty : NOT_READ_YET;
  if (table.length === 0) return [createPageRow(cleanToWidth(empty, width - 2), "quiet")];
  const { cursor } = app.state.panel;
  const { head, rows } = table.buildRows(
    { top: cursor.top, height: height - 1 },
    app.getShownTime(),
    app.theme.createLook(width - 2),
  );
  return [
    { cells: [{ text: " " }, ...head] },
    ...rows.map(
      (cells, at): RowModel => ({
        cells: [{ text: " " }, ...cells],
        selection: isSelectedRow(app, cursor.top + at) ? "focused" : undefined,
      }),
    ),
  ];
}
