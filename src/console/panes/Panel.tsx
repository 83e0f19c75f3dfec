import { Box } from "ink";
import type { SnapshotEvent } from "../../cli/views/event.ts";
import { DAY_MS, formatBriefDuration, formatInstant, type WallTime } from "../../core/base/clock.ts";
import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import { openSelected } from "../actions/open.ts";
import type { ConsoleApp } from "../console-app.ts";
import { useApp, useConsole } from "../context.tsx";
import { type ConsoleJob, describeJobState } from "../data/jobs.ts";
import { NOT_READ_YET } from "../data/live-view.ts";
import { Area, type AreaEvent, isClick } from "../mouse.tsx";
import { moveToRow } from "../parts/moves.ts";
import { focusOn } from "../parts/navigation.ts";
import { PANELS, type PanelId } from "../state/console-state.ts";
import type { Size } from "../state/layout.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { padText, Row, type RowCell, type RowModel } from "../theme/Row.tsx";
import { BorderLine, PaneArea, PaneRows } from "./PaneArea.tsx";
import { createPageRow } from "./Table.tsx";

/** Events, jobs, problems, the audit or the log, below the table. */
export function Panel({ size }: { size: Size }) {
  return (
    <PaneArea id="panel" size={size} onPress={handlePress}>
      <PaneRows size={size} build={buildPanelRows} />
    </PaneArea>
  );
}

/** Selects the row that is pressed, or opens it if it is already selected. */
function handlePress(app: ConsoleApp, line: number, { button }: AreaEvent): void {
  if (button !== "left") return;
  const { focus, panel } = app.state;
  const index = panel.cursor.top + line - (app.getPanelTable() === undefined ? 0 : 1);
  focusOn(app, "panel");
  if (index < 0) return;
  moveToRow(app, "panel", index);
  if (focus === "panel" && index === panel.cursor.index) openSelected(app);
}

/** The line above the panel: the names of its views. */
export function PanelTitle({ width }: { width: number }) {
  const app = useApp();
  const { isFocused, titles } = useConsole(buildTitles);
  const open = (id: PanelId) =>
    app.update((state) => ({ ...state, focus: "panel", panel: { ...state.panel, id, top: 0 } }));
  return (
    <BorderLine border="panel" width={width} isFocused={isFocused}>
      <Box columnGap={2} marginRight={2}>
        {titles.map(({ id, cell }) => (
          <Area key={id} flexShrink={0} onMouse={(event) => isClick(event) && open(id)}>
            <Row cells={[cell]} />
          </Area>
        ))}
      </Box>
    </BorderLine>
  );
}

function buildTitles(app: ConsoleApp) {
  const titles = PANELS.map((id) => ({ id, cell: buildTitleCell(app, id) }));
  return { isFocused: app.state.focus === "panel", titles };
}

/** The name of a view of the panel, with the number of its rows where that matters. */
function buildTitleCell(app: ConsoleApp, id: PanelId): RowCell {
  const { panel, focus } = app.state;
  const counts: Partial<Record<PanelId, number>> = {
    jobs: app.jobs.running.length,
    problems: app.getTabCounts().problems ?? 0,
  };
  const count = counts[id] ?? 0;
  const text = id.toUpperCase() + (count > 0 ? ` ${count}` : "");
  const active: StyleRole = focus === "panel" ? "titleFocused" : "heading";
  const other: StyleRole = id === "problems" && count > 0 ? "problem" : "title";
  return { text, role: id === panel.id ? active : other };
}

function buildPanelRows(app: ConsoleApp, size: Size): RowModel[] {
  const { empty, rows } = buildView(app, size);
  return rows.length > 0 ? rows : [createPageRow(cleanToWidth(empty, size.width - 2), "quiet")];
}

/** The rows of a view of the panel, and its text without rows. */
interface PanelView {
  empty: string;
  rows: RowModel[];
}

function buildView(app: ConsoleApp, size: Size): PanelView {
  const { log, jobs, liveView } = app;
  switch (app.state.panel.id) {
    case "events": {
      const empty = liveView.hasRead ? "No events yet. Runs, drains and changes appear here." : NOT_READ_YET;
      return { empty, rows: showNewest(app, app.events, size, (event) => buildEventLine(app, event, size)) };
    }
    case "jobs":
      return {
        empty: "No jobs yet. D drains and X resets the selection; : has all commands.",
        rows: selectRow(
          app,
          jobs.list
            .slice(app.state.panel.cursor.top)
            .slice(0, size.height)
            .map((job) => buildJobCells(job, app.getPresentTime(), size.width - 2)),
        ),
      };
    case "problems":
    case "audit":
      return buildTableView(app, size);
    case "log":
      return { empty: "The log is empty.", rows: showNewest(app, log.lines, size, (text) => [{ text }]) };
  }
}

function buildEventLine(app: ConsoleApp, event: SnapshotEvent, { width }: Size): RowCell[] {
  const instant = formatInstant(event.at);
  // Eight columns: the time of the day, or the day if it was not in the last 24 hours.
  const time = app.getWallTime() - event.at < DAY_MS ? instant.slice(11, 19) : instant.slice(2, 10);
  return [{ text: time, role: "quiet" }, { text: " " }, ...buildEventCells(event, width - 11)];
}

/** Columns for the kind of an event, and shares of the width for the other columns. */
const EVENT_COLUMNS = { kind: 10, object: 0.4, owner: 0.22 };

/** Builds the columns of an event. They have the same widths in every row, unless the row has only one text. */
export function buildEventCells({ kind, words, tone }: SnapshotEvent, width: number): RowCell[] {
  const role = tone === "held" ? "plain" : tone;
  const [object, owner = "", result = ""] = words;
  if (kind === "more") return [{ text: cleanToWidth(object, width), role }];
  const room = Math.max(3, width - EVENT_COLUMNS.kind - 1);
  const start: RowCell = { text: `${kind.padEnd(EVENT_COLUMNS.kind)} `, role };
  if (owner === "" && result === "") return [start, { text: cleanToWidth(object, room), role: "plain" }];
  const [first, second] = [EVENT_COLUMNS.object, EVENT_COLUMNS.owner].map((share) =>
    Math.max(1, Math.floor(room * share)),
  );
  const padColumn = (text: string, columns = 1) =>
    `${padText(cleanToWidth(text, columns - 1), columns - 1)} `;
  return [
    start,
    { text: padColumn(object, first), role: tone === "quiet" ? "quiet" : "plain" },
    { text: padColumn(owner, second), role: "quiet" },
    { text: cleanToWidth(result, room - (first ?? 0) - (second ?? 0)), role },
  ];
}

/** Builds rows, newest first, at the panel's scroll position. */
function showNewest<T>(
  { state: { panel } }: ConsoleApp,
  items: { length: number; slice(from: number, to: number): readonly T[] },
  { height }: Size,
  build: (item: T) => readonly RowCell[],
): RowModel[] {
  const top = Math.max(0, Math.min(panel.top, items.length - height));
  return items.slice(top, top + height).map((item) => ({ cells: [{ text: " " }, ...build(item)] }));
}

/** Builds the visible rows. One of them is selected if the panel has the focus. */
function selectRow(
  { state: { focus, panel } }: ConsoleApp,
  rows: readonly (readonly RowCell[])[],
): RowModel[] {
  const selected = focus === "panel" ? panel.cursor.index - panel.cursor.top : -1;
  return rows.map((cells, at) => ({
    cells: [{ text: " " }, ...cells],
    selection: at === selected ? "focused" : undefined,
  }));
}

function buildJobCells(job: ConsoleJob, now: WallTime, width: number): RowCell[] {
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

function buildTableView(app: ConsoleApp, { width, height }: Size): PanelView {
  const table = app.getPanelTable();
  const empty = app.liveView.hasRead ? (table?.empty ?? "") : NOT_READ_YET;
  if (table === undefined || table.length === 0) return { empty, rows: [] };
  const { head, rows } = table.buildRows(
    { top: app.state.panel.cursor.top, height: height - 1 },
    app.getShownTime(),
    app.theme.createLook(width - 2),
  );
  return { empty, rows: [{ cells: [{ text: " " }, ...head] }, ...selectRow(app, rows)] };
}
