import type { DOMElement } from "ink";
import { createRef } from "react";
import type { CommandIo } from "../cli/frame/command.ts";
import { formatEventText } from "../cli/views/event.ts";
import { clean, stripStyles } from "../core/base/text.ts";
import { ComponentTree } from "./component-tree.tsx";
import type { ConsoleApp } from "./console-app.ts";
import { getTabLabel } from "./data/explorer-tree.ts";
import { NOT_READ_YET } from "./data/live-view.ts";
import { describePastMoment } from "./data/time-travel.ts";
import { dispatchMouse } from "./mouse.tsx";
import { OverlayHost } from "./overlays/OverlayFrame.tsx";
import { Screen } from "./panes/Screen.tsx";
import { buildUnknownPage } from "./panes/Table.tsx";
import { formatDetailText } from "./parts/pane-lines.ts";
import { isEtcdTab } from "./state/console-state.ts";
import type { MouseEvent } from "./terminal/input-event.ts";
import { buildTerminalModes, POP_KEYBOARD, PUSH_KEYBOARD } from "./terminal/output-sequences.ts";
import { joinCellTexts, type RowModel } from "./theme/Row.tsx";

/** A way to show the console on a terminal. */
export interface Display {
  /** Takes over the terminal. */
  begin(): void;
  /** Switches to unambiguous key codes, which the terminal offers. */
  enableCodedKeys(): void;
  /** Gives the terminal back, finally or until it is taken again. */
  suspend(): void;
  /** Ends, after `suspend`. */
  end(): void;
  /** Shows the current state. @returns false if the output is closed */
  show(app: ConsoleApp): boolean;
  /** Resolves when the frame of the last call of `show` has been written. */
  waitUntilWritten(): Promise<void>;
  /** Discards the knowledge of the screen. */
  forget(): void;
  /** Hands an event of the mouse to the part of the screen at its position. */
  handleMouse(event: MouseEvent): void;
}

/** Shows the full screen. */
export class ScreenDisplay implements Display {
  readonly #io: CommandIo;
  readonly #modes: { on: string; off: string };
  readonly #screen = createRef<DOMElement>();
  readonly #tree: ComponentTree;
  #keyboard: "plain" | "wanted" | "coded" = "plain";

  constructor(io: CommandIo, options: { mouse: boolean; scheme: boolean; onDefect(error: unknown): void }) {
    this.#io = io;
    this.#modes = buildTerminalModes(options);
    this.#tree = new ComponentTree(<Screen ref={this.#screen} />, {
      getSize: io.terminal.getSize,
      hasErasedGround: !/^screen/.test(io.env.TERM ?? ""),
      write: (text) => io.writeOutput(text),
      onDefect: options.onDefect,
    });
  }

  begin(): void {
    this.#io.writeOutput(this.#modes.on);
  }

  enableCodedKeys(): void {
    if (this.#keyboard === "plain") this.#keyboard = "wanted";
  }

  suspend(): void {
    if (this.#keyboard === "coded") this.#io.writeOutput(POP_KEYBOARD);
    this.#keyboard = "plain";
    this.#tree.suspend();
    this.#io.writeOutput(this.#modes.off);
  }

  end(): void {
    this.#tree.end();
  }

  show(app: ConsoleApp): boolean {
    const isOpen = this.#tree.render(app);
    if (this.#keyboard !== "wanted") return isOpen;
    this.#keyboard = "coded"; // on the other screen, which Ink shows by now
    return this.#io.writeOutput(PUSH_KEYBOARD);
  }

  waitUntilWritten(): Promise<void> {
    return this.#tree.waitUntilWritten();
  }

  forget(): void {
    this.#tree.clear();
  }

  handleMouse(event: MouseEvent): void {
    if (this.#screen.current !== null) dispatchMouse(this.#screen.current, event);
  }
}

/** Columns of spoken lines. The terminal wraps longer ones. */
const SPOKEN_WIDTH = 100;
/** The screen for which overlays are rendered to be read aloud: their content is as wide as a spoken line. */
const SPOKEN_SCREEN = { width: SPOKEN_WIDTH + 6, height: 206 };

/**
 * Prints lines one after the other, for screen readers. Each line describes the effect of a key. Changes in the data
 * are not printed.
 */
export class PlainDisplay implements Display {
  readonly #io: CommandIo;
  /** Renders overlays, from which the lines are taken. Its output is not written. */
  readonly #tree: ComponentTree;
  #location = "";
  #toast: unknown;
  #kind = "";

  constructor(io: CommandIo, { onDefect }: { onDefect(error: unknown): void }) {
    this.#io = io;
    this.#tree = new ComponentTree(<OverlayHost screen={SPOKEN_SCREEN} />, {
      getSize: () => ({ columns: SPOKEN_SCREEN.width, rows: SPOKEN_SCREEN.height }),
      hasErasedGround: false,
      write: () => true,
      onDefect,
    });
  }

  begin(): void {
    this.#location = "";
  }

  suspend(): void {}

  end(): void {
    this.#tree.end();
  }

  show(app: ConsoleApp): boolean {
    this.#tree.render(app);
    const lines = [
      ...this.#describeConnection(app),
      ...this.#describeToast(app),
      ...this.#describeLocation(app),
    ];
    return lines.length === 0 || this.#io.writeOutput(`${lines.join("\n")}\n`);
  }

  async waitUntilWritten(): Promise<void> {}

  enableCodedKeys(): void {}

  handleMouse(): void {}

  forget(): void {
    this.#location = "";
  }

  #describeConnection(app: ConsoleApp): string[] {
    const { connection, past } = app.liveView;
    const kind = `${connection.kind} ${past?.revision ?? ""}`;
    if (kind === this.#kind) return [];
    this.#kind = kind;
    return [formatSpokenConnection(app)];
  }

  #describeToast({ state: { toast } }: ConsoleApp): string[] {
    if (toast === undefined || toast === this.#toast) return [];
    this.#toast = toast;
    return [toast.text];
  }

  /** Describes the position only if the user has moved, or the contents of an overlay have changed. */
  #describeLocation(app: ConsoleApp): string[] {
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

/** Renders the focused pane or overlay as lines that make sense when read aloud one after the other. */
function renderSpokenLines(app: ConsoleApp): string[] {
  const overlay = app.overlays.text;
  if (overlay !== undefined) {
    const { title, rows, hints } = overlay;
    return [title, ...formatRows(rows), hints.map(([key, what]) => `${key}: ${what}`).join(", ")];
  }
  switch (app.state.focus) {
    case "table":
      return renderSpokenRow(app);
    case "explorer": {
      const node = app.getNode();
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

/** Returns the texts of rows. Leaves out blank rows. */
function formatRows(rows: readonly RowModel[]): string[] {
  return rows.map(({ cells }) => joinCellTexts(cells)).filter((line) => line.trim() !== "");
}

/** Renders a row as a sentence: each value after the name of its column. */
function renderSpokenRow(app: ConsoleApp): string[] {
  const { table, state } = app;
  const { cursor, marks } = app.tabState;
  const row = `row ${Math.min(cursor.index + 1, table.length)} of ${table.length}`;
  const { held = 0, waiting = 0 } = app.getTabCounts();
  const counts = isEtcdTab(state.tab)
    ? ` ${app.tablePane.etcd.status.text},`
    : state.tab === "overview"
      ? ` ${held} held, ${waiting} waiting, problems:`
      : "";
  const head = `${getTabLabel(state.tab)},${counts} ${row}`;
  if (!app.liveView.hasRead && !isEtcdTab(state.tab))
    return formatRows(buildUnknownPage(app, SPOKEN_WIDTH)).map((line) => line.trim());
  if (table.length === 0) return [head, table.empty];
  const facts = table
    .getFactsAt(cursor.index, app.getWallTime())
    .map(({ label, value }) => `${label} ${clean(value)}`);
  const marked = marks.has(cursor.key ?? "") ? ["marked"] : [];
  return [`${head}: ${[...marked, ...facts].join(", ")}`];
}

function renderSpokenPanel(app: ConsoleApp): string[] {
  const { panel } = app.state;
  switch (panel.id) {
    case "events":
      return ["events", ...app.events.slice(0, 10).map((event) => clean(formatEventText(event)))];
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
function formatSpokenConnection(app: ConsoleApp): string {
  const { liveView } = app;
  const { kind, fault } = liveView.connection;
  if (liveView.past !== undefined)
    return `past, read-only: ${describePastMoment(liveView.past, app.getPresentTime())}`;
  const revision = `revision ${liveView.snapshot.revision}`;
  return kind === "live"
    ? `live, ${revision}`
    : `not live: ${kind}${fault === undefined ? "" : `, ${clean(fault)}`}; last known ${revision}`;
}
