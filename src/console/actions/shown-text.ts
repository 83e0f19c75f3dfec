import { formatInstant } from "../../base/duration.ts";
import { clean } from "../../base/text.ts";
import type { ConsoleTable } from "../data/console-table.ts";
import { formatDetailText } from "../parts/detail-lines.ts";
import type {
  ClockAccess,
  DataAccess,
  DetailAccess,
  JobAccess,
  LogAccess,
  OverlayAccess,
  StateAccess,
  TableAccess,
  ThemeAccess,
  TreeAccess,
} from "../parts/parts.ts";

/** What shown texts are taken from. */
export type ShownTextParts = ClockAccess &
  DataAccess &
  DetailAccess &
  JobAccess &
  LogAccess &
  OverlayAccess &
  StateAccess &
  TableAccess &
  ThemeAccess &
  TreeAccess;

/** A text for another program: without control characters, because that program may pass them to the terminal. */
export interface ShownText {
  /** What it is, for messages: `the detail`. */
  name: string;
  text: string;
}

/** Columns of a text. A pager scrolls to the side, and an editor too. */
const WIDTH = 240;
/** Maximum number of rows of a table: more take too long. */
const MOST_ROWS = 20_000;

/** Returns what has the keyboard as text: all of it, also what is scrolled out of view. */
export function getShownText(app: ShownTextParts): ShownText {
  const own = app.overlays.top?.getText?.();
  if (own !== undefined) return joinLines("the text", own);
  switch (app.state.focus) {
    case "explorer":
      return joinLines(
        "the explorer",
        app.tree.nodes.map(({ depth, label, note }) => `${"  ".repeat(depth)}${label} ${note}`.trimEnd()),
      );
    case "table":
      return joinLines(`the table ${app.state.tab}`, listTableLines(app, app.table));
    case "detail":
      return joinLines("the detail", formatDetailText(app, WIDTH));
    case "panel":
      return joinLines(`the panel ${app.state.panel.id}`, listPanelLines(app));
  }
}

/** Joins lines without their control characters. */
function joinLines(name: string, lines: readonly string[]): ShownText {
  return { name, text: `${lines.map((line) => clean(line).trimEnd()).join("\n")}\n` };
}

function listTableLines(app: ClockAccess & ThemeAccess, table: ConsoleTable): string[] {
  const height = Math.min(table.length, MOST_ROWS);
  const look = app.theme.createLook(WIDTH);
  const { head, rows } = table.buildRows({ top: 0, height }, app.getWallTime(), look);
  const more = table.length > height ? [`(${table.length - height} more rows)`] : [];
  const lines = [head, ...rows].map((spans) => spans.map(({ text }) => text).join(""));
  return [...(table.length === 0 ? [table.empty] : lines), ...more];
}

function listPanelLines(app: ShownTextParts): readonly string[] {
  switch (app.state.panel.id) {
    case "events":
      return app.events.list.map(({ at, text }) => `${formatInstant(at)} ${text}`);
    case "log":
      return app.log.lines;
    case "jobs":
      return app.jobs.list.flatMap(({ title, code, line, lines }) => [
        `${title}: ${code === undefined ? "running" : `exit code ${code}`}`,
        `$ ${line}`,
        ...lines.map((one) => `  ${one}`),
        "",
      ]);
    default: {
      const table = app.getPanelTable();
      return table === undefined ? [] : listTableLines(app, table);
    }
  }
}
