import { clean } from "../../base/text.ts";
import type { App } from "../app/app.ts";
import { detailText } from "../detail/pane.ts";
import { tabLabel } from "../explorer/tree.ts";

/** Columns of lines that are read aloud: long ones break where the terminal likes. */
const WIDTH = 100;

/** What has the keyboard, in lines that make sense when they are heard one after the other. */
export function spoken(app: App): string[] {
  const overlay = app.overlays.top;
  if (overlay !== undefined) {
    const { title, lines, hints } = overlay.paint({ width: WIDTH, height: 200 });
    return [
      title,
      ...lines.filter((line) => line.trim() !== ""),
      hints.map(([key, what]) => `${key}: ${what}`).join(", "),
    ];
  }
  switch (app.state.focus) {
    case "table":
      return rowSpoken(app);
    case "explorer": {
      const node = app.tree.nodes[app.state.explorer.cursor.index];
      if (node === undefined) return ["explorer, empty"];
      const fold = node.isOpen === undefined ? "" : node.isOpen ? ", open" : ", closed";
      return [`explorer: ${clean(node.label)} ${clean(node.note)}${fold}`];
    }
    case "detail":
      return ["detail", ...detailText(app, WIDTH).filter((line) => line.trim() !== "")];
    case "panel":
      return panelSpoken(app);
  }
}

/** A row as a sentence: each value behind the name of its column. */
function rowSpoken(app: App): string[] {
  const { table, state } = app;
  const { cursor, marks } = state.tabs[state.tab];
  const head = `${tabLabel(state.tab)}, row ${Math.min(cursor.index + 1, table.length)} of ${table.length}`;
  if (table.length === 0) return [head, table.empty];
  const facts = table.factsAt(cursor.index, app.wall()).map(({ label, value }) => `${label} ${clean(value)}`);
  const marked = marks.has(cursor.key ?? "") ? ["marked"] : [];
  return [`${head}: ${[...marked, ...facts].join(", ")}`];
}

function panelSpoken(app: App): string[] {
  const { panel } = app.state;
  switch (panel.id) {
    case "events":
      return ["events", ...app.events.list.slice(0, 10).map(({ text }) => clean(text))];
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
      const table = app.panelTable();
      const facts = table?.factsAt(panel.cursor.index, app.wall()) ?? [];
      return [
        `${panel.id}, ${table?.length ?? 0} rows`,
        facts.map(({ label, value }) => `${label} ${clean(value)}`).join(", "),
      ];
    }
  }
}

/** How far what is said can be trusted. */
export function standingSpoken({ sight }: App): string {
  const { kind, fault } = sight.standing;
  const revision = `revision ${sight.picture.revision}`;
  return kind === "live"
    ? `live, ${revision}`
    : `not live: ${kind}${fault === undefined ? "" : `, ${clean(fault)}`}; last known ${revision}`;
}
