import { clean, stripStyles } from "../base/text.ts";
import { AnsiScreen } from "../commands/see/ansi-screen.ts";
import type { CommandIo } from "../commands/spec.ts";
import { getTabLabel } from "./data/explorer-tree.ts";
import { NOT_READ_YET } from "./data/live-view.ts";
import { describePastMoment } from "./data/time-travel.ts";
import { buildUnknownPage } from "./panes/empty-pages.ts";
import { Renderer } from "./panes/renderer.tsx";
import { buildScreenModel } from "./panes/Screen.tsx";
import type { ConsoleParts } from "./parts/console-parts.ts";
import { listContentRows } from "./parts/overlay.ts";
import { formatDetailText } from "./parts/pane-lines.ts";
import { buildTerminalModes } from "./terminal/output-sequences.ts";
import { ASK_TERMINAL, type PaintPace } from "./terminal/paint-pace.ts";
import { joinCellTexts, type RowModel } from "./theme/cells.ts";

/** A way to show the console on a terminal. */
export interface Display {
  /** Takes over the terminal. */
  begin(): void;
  /** Gives the terminal back, finally or for a suspend. */
  end(): void;
  /** Shows the current state. @returns false if the output is closed */
  show(app: ConsoleParts): boolean;
  /** Whether the last call of `show` has written everything. If not, call it again when the terminal has answered. */
  readonly isComplete: boolean;
  /** Discards what is known of the screen. */
  forget(): void;
}

/** Shows the full screen, and writes only the cells that have changed. */
export class ScreenDisplay implements Display {
  readonly #io: CommandIo;
  readonly #pace: PaintPace;
  readonly #screen: AnsiScreen;
  readonly #renderer = new Renderer();

  /** Bytes that the current call of `show` has written. */
  #written = 0;

  constructor(io: CommandIo, pace: PaintPace, options: { mouse: boolean }) {
    this.#io = io;
    this.#pace = pace;
    const writeOutput = (text: string) => {
      this.#written += Buffer.byteLength(text);
      return io.writeOutput(text);
    };
    this.#screen = new AnsiScreen({ writeOutput, terminal: io.terminal }, buildTerminalModes(options));
  }

  begin(): void {
    if (this.#io.writeOutput(ASK_TERMINAL)) this.#pace.handleProbed();
    this.#screen.enter();
  }

  end(): void {
    this.#screen.leave();
  }

  show(app: ConsoleParts): boolean {
    const lines = this.#renderer.renderLines(app.theme, buildScreenModel(app));
    this.#written = 0;
    const finished = lines.map(app.theme.finishLine);
    if (!this.#screen.paint(finished, this.#pace.partLength)) return false;
    return (this.#written === 0 && !this.#pace.needsQuestion) || this.#askTerminal();
  }

  get isComplete(): boolean {
    return this.#screen.isComplete;
  }

  #askTerminal(): boolean {
    if (!this.#pace.asks) {
      this.#pace.handleUnasked();
      return true;
    }
    this.#pace.handleAsked(this.#written);
    return this.#io.writeOutput(ASK_TERMINAL);
  }

  forget(): void {
    this.#screen.forget();
  }
}

/**
 * Prints lines one after the other, for screen readers. Each line describes the effect of a key. Changes in the data
 * are not printed.
 */
export class PlainDisplay implements Display {
  readonly isComplete = true;
  readonly #io: CommandIo;
  #location = "";
  #toast: unknown;
  #kind = "";

  constructor(io: CommandIo) {
    this.#io = io;
  }

  begin(): void {
    this.#location = "";
  }

  end(): void {}

  show(app: ConsoleParts): boolean {
    const lines = [
      ...this.#describeConnection(app),
      ...this.#describeToast(app),
      ...this.#describeLocation(app),
    ];
    return lines.length === 0 || this.#io.writeOutput(`${lines.join("\n")}\n`);
  }

  forget(): void {
    this.#location = "";
  }

  #describeConnection(app: ConsoleParts): string[] {
    const { connection, past } = app.liveView;
    const kind = `${connection.kind} ${past?.revision ?? ""}`;
    if (kind === this.#kind) return [];
    this.#kind = kind;
    return [formatSpokenConnection(app)];
  }

  #describeToast({ state: { toast } }: ConsoleParts): string[] {
    if (toast === undefined || toast === this.#toast) return [];
    this.#toast = toast;
    return [toast.text];
  }

  /** Describes the position only if the user has moved, or the contents of an overlay have changed. */
  #describeLocation(app: ConsoleParts): string[] {
    const lines = renderSpokenLines(app).map(stripStyles);
    const { focus, tab, tabs, explorer, panel } = app.state;
    const where = [
      focus,
      tab,
      tabs[tab].cursor.key,
      tabs[tab].marks.size,
      tabs[tab].filter,
      app.table.length > 0,
      app.liveView.hasRead,
    ];
    const overlay = app.overlays.top === undefined ? "" : lines.join("\n");
    const location = JSON.stringify([...where, explorer.cursor.key, panel.id, panel.cursor.key, overlay]);
    if (location === this.#location) return [];
    this.#location = location;
    return lines;
  }
}

/** Width of spoken lines, in columns. The terminal wraps longer ones. */
const SPOKEN_WIDTH = 100;

/** Renders what has the keyboard as lines that make sense when read aloud one after the other. */
function renderSpokenLines(app: ConsoleParts): string[] {
  const overlay = app.overlays.top;
  if (overlay !== undefined) {
    const { title, content, hints } = overlay.buildModel({ width: SPOKEN_WIDTH, height: 200 });
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
      return ["detail", ...formatDetailText(app, SPOKEN_WIDTH).filter((line) => line.trim() !== "")];
    case "panel":
      return renderSpokenPanel(app);
  }
}

/** Returns the texts of rows, without blank ones. */
function formatRows(rows: readonly RowModel[]): string[] {
  return rows.map(({ cells }) => joinCellTexts(cells)).filter((line) => line.trim() !== "");
}

/** Renders a row as a sentence: each value after the name of its column. */
function renderSpokenRow(app: ConsoleParts): string[] {
  const { table, state } = app;
  const { cursor, marks } = state.tabs[state.tab];
  const head = `${getTabLabel(state.tab)}, row ${Math.min(cursor.index + 1, table.length)} of ${table.length}`;
  if (!app.liveView.hasRead)
    return formatRows(buildUnknownPage(app, SPOKEN_WIDTH)).map((line) => line.trim());
  if (table.length === 0) return [head, table.empty];
  const facts = table
    .getFactsAt(cursor.index, app.getWallTime())
    .map(({ label, value }) => `${label} ${clean(value)}`);
  const marked = marks.has(cursor.key ?? "") ? ["marked"] : [];
  return [`${head}: ${[...marked, ...facts].join(", ")}`];
}

function renderSpokenPanel(app: ConsoleParts): string[] {
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
function formatSpokenConnection(app: ConsoleParts): string {
  const { liveView } = app;
  const { kind, fault } = liveView.connection;
  if (liveView.past !== undefined)
    return `past, read-only: ${describePastMoment(liveView.past, app.getPresentTime())}`;
  const revision = `revision ${liveView.snapshot.revision}`;
  return kind === "live"
    ? `live, ${revision}`
    : `not live: ${kind}${fault === undefined ? "" : `, ${clean(fault)}`}; last known ${revision}`;
}
