import { clean } from "../../base/text.ts";
import { getTabLabel } from "../data/build-tree.ts";
import { NOT_READ_YET } from "../data/not-read-yet.ts";
import { describePastMoment } from "../data/past-text.ts";
import { listContentRows } from "../overlays/content-rows.ts";
import { formatDetailText } from "../parts/detail-lines.ts";
import type {
  ClockAccess,
  DataAccess,
  DetailAccess,
  JobAccess,
  LogAccess,
  OverlayAccess,
  SettingsAccess,
  StateAccess,
  TableAccess,
  ThemeAccess,
  TreeAccess,
} from "../parts/parts.ts";
import { joinCellTexts, type RowModel } from "../theme/cells.ts";
import { buildUnknownPage } from "./empty-pages.ts";

/** What spoken lines are rendered from. */
export type SpokenLinesParts = ClockAccess &
  DataAccess &
  DetailAccess &
  JobAccess &
  LogAccess &
  OverlayAccess &
  SettingsAccess &
  StateAccess &
  TableAccess &
  ThemeAccess &
  TreeAccess;

/** Width of spoken lines, in columns. The terminal wraps longer ones. */
const WIDTH = 100;

/** Renders what has the keyboard as lines that make sense when read aloud one after the other. */
export function renderSpokenLines(app: SpokenLinesParts): string[] {
  const overlay = app.overlays.top;
  if (overlay !== undefined) {
    const { title, content, hints } = overlay.buildModel({ width: WIDTH, height: 200 });
    return [
      title,
      ...formatRows(listContentRows(content)),
      hints.map(([key, what]) => `${key}: ${what}`).join(", "),
    ];
  }
  switch (app.state.focus) {
    case "table":
      return renderSpokenRow(app);
    case "explorer": {
      const node = app.tree.nodes[app.state.explorer.cursor.index];
      if (node === undefined) return ["explorer, empty"];
      const fold = node.isOpen === undefined ? "" : node.isOpen ? ", open" : ", closed";
      return [`explorer: ${clean(node.label)} ${clean(node.note)}${fold}`];
    }
    case "detail":
      return ["detail", ...formatDetailText(app, WIDTH).filter((line) => line.trim() !== "")];
    case "panel":
      return renderSpokenPanel(app);
  }
}

/** Returns the texts of rows, without blank ones. */
function formatRows(rows: readonly RowModel[]): string[] {
  return rows.map(({ cells }) => joinCellTexts(cells)).filter((line) => line.trim() !== "");
}

/** Renders a row as a sentence: each value after the name of its column. */
function renderSpokenRow(app: SpokenLinesParts): string[] {
  const { table, state } = app;
  const { cursor, marks } = state.tabs[state.tab];
  const head = `${getTabLabel(state.tab)}, row ${Math.min(cursor.index + 1, table.length)} of ${table.length}`;
  if (!app.liveView.hasRead) return formatRows(buildUnknownPage(app, WIDTH)).map((line) => line.trim());
  if (table.length === 0) return [head, table.empty];
  const facts = table
    .getFactsAt(cursor.index, app.getWallTime())
    .map(({ label, value }) => `${label} ${clean(value)}`);
  const marked = marks.has(cursor.key ?? "") ? ["marked"] : [];
  return [`${head}: ${[...marked, ...facts].join(", ")}`];
}

function renderSpokenPanel(app: SpokenLinesParts): string[] {
  const { panel } = app.state;
  switch (panel.id) {
    case "events":
      return ["events", ...app.events.slice(0, 10).map(({ text }) => clean(text))];
    case "log":
      return ["log", ...app.log.lines.slice(0, 10)];
    case "jobs":
      return [
        "jobs",
        ...app.jobs.list
          .slice(0, 10)
          .map(
            ({ title, code, lines }) =>
              `${title}: ${code === undefined ? "running" : `exit ${code}`}, ${lines.at(-1) ?? ""}`,
          ),
      ];
    default: {
      const table = app.getPanelTable();
      if (!app.liveView.hasRead) return [`${panel.id}: ${NOT_READ_YET}`];
      const facts = table?.getFactsAt(panel.cursor.index, app.getWallTime()) ?? [];
      return [
        `${panel.id}, ${table?.length ?? 0} rows`,
        facts.map(({ label, value }) => `${label} ${clean(value)}`).join(", "),
      ];
    }
  }
}

/** Formats the connection state as a spoken line. */
export function formatSpokenConnection(app: ClockAccess & DataAccess): string {
  const { liveView } = app;
  const { kind, fault } = liveView.connection;
  if (liveView.past !== undefined)
    return `past, read-only: ${describePastMoment(liveView.past, app.getPresentTime())}`;
  const revision = `revision ${liveView.snapshot.revision}`;
  return kind === "live"
    ? `live, ${revision}`
    : `not live: ${kind}${fault === undefined ? "" : `, ${clean(fault)}`}; last known ${revision}`;
}
