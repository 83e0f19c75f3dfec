import type { TreeNode } from "../data/explorer-nodes.ts";
import { isEditKey } from "../overlays/field.ts";
import { openMenu } from "../overlays/menu-overlay.ts";
import { findHintAt } from "../panes/Bar.tsx";
import { listPanelTitles } from "../panes/Panel.tsx";
import { TABLE_GUTTER } from "../panes/Table.tsx";
import { findTabAt } from "../panes/Tabs.tsx";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { parseChord } from "../parts/keymap.ts";
import { moveToRow, scrollPane } from "../parts/moves.ts";
import { focusOn, openTab } from "../parts/navigation.ts";
import type { Overlay, OverlayBoxModel, Overlays } from "../parts/overlay.ts";
import { computeTitleHeight } from "../parts/pane-lines.ts";
import type { ConsoleState, Pane, PanelId } from "../state/console-state.ts";
import { computeMainWidth, type Layout } from "../state/layout.ts";
import { createNamedKey, type InputEvent, type MouseEvent } from "../terminal/input-event.ts";
import { dragBorder, pressBorder, releaseBorder } from "./borders.ts";
import { sortByColumn } from "./handlers.ts";
import { openSelected, unfold } from "./open.ts";

/** Handles a key, a click or a paste. */
export function dispatch(app: ConsoleParts, event: InputEvent): void {
  for (const one of splitAltChord(app, event)) handleEvent(app, one);
}

/**
 * Splits Alt with a key into Escape and the key if no action is bound to the chord. A terminal sends the same bytes
 * for both when they arrive in one read.
 */
function splitAltChord({ keymap, overlays }: ConsoleParts, event: InputEvent): InputEvent[] {
  if (event.kind !== "key") return [event];
  const [, key] = /^alt\+(.|[a-z0-9]+)$/su.exec(event.chord) ?? [];
  const isBound = keymap.findAction(event.chord, "list") !== undefined;
  const isTyping = overlays.top !== undefined && isEditKey(event.chord);
  if (key === undefined || isBound || isTyping) return [event];
  const keys = [createNamedKey("escape"), createNamedKey(key)];
  return keys.filter((one) => one !== undefined);
}

function handleEvent(app: ConsoleParts, event: InputEvent): void {
  if (event.kind === "key" && EVERYWHERE.has(event.chord)) return runKeyAction(app, event.chord);
  const overlay = app.overlays.top;
  if (overlay !== undefined && isForTextProgram(app, event)) return runKeyAction(app, event.chord);
  if (overlay !== undefined) return handOver(app.overlays, overlay, event);
  if (event.kind === "mouse")
    return event.action.startsWith("wheel") ? handleWheel(app, event) : handlePointer(app, event);
  if (event.kind !== "key") return; // a paste is not a command
  runKeyAction(app, event.chord);
}

/** Hands an event to an overlay. A click is relative to its content as it was shown last. */
function handOver(overlays: Overlays, overlay: Overlay, event: InputEvent): void {
  if (event.kind !== "mouse") return overlay.onInput(event);
  const box = overlays.shown[overlays.all.length - 1];
  if (box === undefined || overlays.shown.length !== overlays.all.length) return; // it was not shown yet
  overlay.onInput(toContentPosition(box, event));
}

/** Columns and rows between the corner of an overlay and its content. */
const FRAME = { columns: 2, rows: 1 };

/** Converts a position of the screen to one in the content of an overlay. */
function toContentPosition({ left, top }: OverlayBoxModel, event: MouseEvent): MouseEvent {
  return { ...event, column: event.column - left - FRAME.columns, row: event.row - top - FRAME.rows };
}

/** Keys with the same action everywhere. */
const EVERYWHERE: ReadonlySet<string> = new Set(["ctrl+c", "ctrl+z", "ctrl+l"]);

/** Actions that hand the text of an overlay to another program. */
const ON_TEXTS: ReadonlySet<string> = new Set(["pager", "editor"]);

/** Whether a key hands the text of the overlay to another program. In an overlay with fields it is a letter. */
function isForTextProgram(
  { keymap, overlays }: ConsoleParts,
  event: InputEvent,
): event is Extract<InputEvent, { kind: "key" }> {
  if (event.kind !== "key" || overlays.top?.getText === undefined) return false;
  return ON_TEXTS.has(keymap.findAction(event.chord, "list") ?? "");
}

function runKeyAction(app: ConsoleParts, chord: string): void {
  const id = app.keymap.findAction(chord, "list");
  if (id !== undefined) app.act(id);
}

/** A position on the screen: a pane and a line in it. */
interface ScreenPosition {
  pane: Pane | "tabs" | "panelTitle";
  line: number;
  column: number;
}

/** Handles a press, a movement with the button down, or a release. */
function handlePointer(app: ConsoleParts, event: MouseEvent): void {
  if (event.action === "drag") return dragBorder(app, event);
  if (event.action === "release") return releaseBorder(app);
  if (event.button === "right") return handleRightClick(app, event);
  if (event.button === "left") handleClick(app, event);
}

/** Selects the row that is clicked. A click on the selected row opens it. */
function handleClick(app: ConsoleParts, event: MouseEvent): void {
  if (event.row === app.getScreenSize().height - 1) return runHintAt(app, event.column);
  if (findPanelTitle(app, event) === undefined && pressBorder(app, event)) return;
  const position = findScreenPosition(app, event);
  if (position === undefined) return;
  if (position.pane === "tabs") return handleTabClick(app, position.column);
  if (position.pane === "panelTitle") return openPanelTitle(app, event);
  const { pane } = position;
  const head = pane === "table" ? findHeadColumn(app, position) : undefined;
  if (head !== undefined) {
    focusOn(app, pane);
    return sortByColumn(app, head);
  }
  const index = findRowIndex(app, pane, position.line);
  const wasOn = app.state.focus === pane && index === getCursorIndex(app.state, pane);
  focusOn(app, pane);
  if (index === undefined) return;
  moveToRow(app, pane, index);
  if (pane === "explorer" && isFoldSign(app.tree.nodes[index], position.column))
    return toggleFold(app, index);
  if (wasOn || pane === "explorer") openSelected(app);
}

/** Opens the menu of the row that is clicked. */
function handleRightClick(app: ConsoleParts, event: MouseEvent): void {
  const position = findScreenPosition(app, event);
  if (position?.pane !== "table") return;
  const index = findRowIndex(app, "table", position.line);
  if (index === undefined || index >= app.table.length) return;
  focusOn(app, "table");
  moveToRow(app, "table", index);
  openMenu(app, { column: event.column, row: event.row });
}

/** Whether a column of a line of the explorer is that of its fold sign. */
function isFoldSign(node: TreeNode | undefined, column: number): boolean {
  return node?.isOpen !== undefined && column === 1 + 2 * node.depth;
}

function toggleFold(app: ConsoleParts, index: number): void {
  const node = app.tree.nodes[index];
  if (node !== undefined) unfold(app, node.isOpen !== true);
}

/** Runs the action whose hint in the status bar is clicked. */
function runHintAt(app: ConsoleParts, column: number): void {
  const key = findHintAt(app, app.getScreenSize().width, column);
  const chord = key === undefined ? undefined : parseChord(key);
  if (chord === undefined || "fault" in chord) return;
  const id = app.keymap.findAction(chord.value, "list");
  if (id !== undefined) app.act(id);
}

function handleWheel(app: ConsoleParts, event: MouseEvent): void {
  const position = findScreenPosition(app, event);
  if (position === undefined || position.pane === "tabs" || position.pane === "panelTitle") return;
  scrollPane(app, position.pane, event.action === "wheel-down" ? 3 : -3);
}

function findScreenPosition(app: ConsoleParts, { column, row }: MouseEvent): ScreenPosition | undefined {
  const layout = app.getLayout();
  if (layout === undefined || row === 0) return undefined;
  if (column >= layout.screen.width || row >= layout.screen.height) return undefined; // a report from another size
  const upper = computeUpperHeight(layout);
  const line = row - 2;
  const { explorer, panel, table, detail } = layout;
  if (panel !== undefined && row > upper + 1) {
    const at = row - upper - (upper > 0 ? 3 : 2);
    return at === -1 ? { pane: "panelTitle", line: 0, column } : { pane: "panel", line: at, column };
  }
  if (explorer !== undefined && column < explorer.width) return { pane: "explorer", line: row - 1, column };
  const left = explorer === undefined ? 0 : explorer.width + 1;
  if (row === 1) return { pane: "tabs", line: 0, column: column - left };
  if (layout.isBeside && table !== undefined && detail !== undefined)
    return column - left <= table.width
      ? { pane: "table", line, column: column - left }
      : { pane: "detail", line, column };
  if (table !== undefined && line < table.height) return { pane: "table", line, column: column - left };
  return detail === undefined
    ? undefined
    : { pane: "detail", line: line - (table?.height ?? -1) - 1, column };
}

/** Returns the number of lines between the tabs and the panel's title. */
function computeUpperHeight({ explorer, table, detail, isBeside }: Layout): number {
  const below = isBeside || detail === undefined ? 0 : detail.height + (table === undefined ? 0 : 1);
  return explorer?.height ?? (table?.height ?? 0) + below;
}

/** Returns the column whose title is at a position of the table: the titles are directly above the rows. */
function findHeadColumn(app: ConsoleParts, { line, column }: ScreenPosition): string | undefined {
  if (app.table.length === 0 || line !== computeTitleHeight(app) - 1) return undefined;
  return app.table.findColumnAt(column - TABLE_GUTTER);
}

/** Returns the index of the row on a line of a pane. */
function findRowIndex(app: ConsoleParts, pane: Pane, line: number): number | undefined {
  const { state } = app;
  switch (pane) {
    case "explorer":
      return line < 1 ? undefined : state.explorer.cursor.top + line - 1;
    case "table": {
      const titles = computeTitleHeight(app);
      return line < titles ? undefined : state.tabs[state.tab].cursor.top + line - titles;
    }
    case "panel": {
      const titles = app.getPanelTable() === undefined ? 0 : 1;
      return line < titles ? undefined : state.panel.cursor.top + line - titles;
    }
    default:
      return undefined;
  }
}

function getCursorIndex(state: ConsoleState, pane: Pane): number | undefined {
  if (pane === "table") return state.tabs[state.tab].cursor.index;
  return pane === "panel" ? state.panel.cursor.index : undefined;
}

function handleTabClick(app: ConsoleParts, column: number): void {
  const layout = app.getLayout();
  const tab = layout && findTabAt(app, computeMainWidth(layout), column);
  if (tab !== undefined) app.update((state) => openTab(state, tab));
}

function openPanelTitle(app: ConsoleParts, event: MouseEvent): void {
  const id = findPanelTitle(app, event);
  if (id !== undefined)
    app.update((state) => ({ ...state, focus: "panel", panel: { ...state.panel, id, top: 0 } }));
}

/** Returns the view of the panel whose title is at a position. */
function findPanelTitle(app: ConsoleParts, event: MouseEvent): PanelId | undefined {
  if (findScreenPosition(app, event)?.pane !== "panelTitle") return undefined;
  let start = 2;
  for (const { id, text } of listPanelTitles(app)) {
    if (event.column >= start && event.column < start + text.length) return id;
    start += text.length + 2;
  }
  return undefined;
}
