import { useCallback } from "react";
import { wrapProseLines } from "../../cli/commands/see/detail.ts";
import type { CommandContext } from "../../cli/frame/store-command.ts";
import { ASCII_DRAWING, UNICODE_DRAWING } from "../../cli/views/drawing.ts";
import { drawMemberGraphs } from "../../cli/views/etcd-members.ts";
import { formatBriefDuration } from "../../core/base/clock.ts";
import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import { openSelected } from "../actions/open.ts";
import { sortByColumn } from "../actions/sort.ts";
import type { ConsoleApp } from "../console-app.ts";
import { useConsole, useFrame } from "../context.tsx";
import { NOT_READ_YET } from "../data/live-view.ts";
import type { TablePane } from "../data/table-pane.ts";
import type { AreaEvent } from "../mouse.tsx";
import { openMenu } from "../overlays/Menu.tsx";
import { moveToRow, scrollPane, selectPicturePart } from "../parts/moves.ts";
import { actInPane, activate, focusOn } from "../parts/navigation.ts";
import { buildCreateAction } from "../parts/row-actions.ts";
import { isEtcdTab, type TabId, updateTab } from "../state/console-state.ts";
import type { Size } from "../state/layout.ts";
import { getWatchId } from "../state/watched-rows.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { type RowCell, type RowModel, Rows } from "../theme/Row.tsx";
import type { Signs } from "../theme/theme.ts";
import { PaneArea, PaneRows } from "./PaneArea.tsx";
import { EtcdLine } from "./Tabs.tsx";

/** Columns before a row: one for its mark, one for the sign that it is watched. */
const GUTTER_COLUMNS = 2;
/** Columns before the picture. */
const PICTURE_MARGIN = 1;

/** The rows of a tab, below the titles of their columns. */
export function Table({ size, pane }: { size: Size; pane: TablePane }) {
  const { hasEtcdLine, pictureHeight } = useConsole(chooseHead, pane);
  const build = useCallback((app: ConsoleApp, { width }: Size) => buildPageRows(app, pane, width), [pane]);
  const scroll = (app: ConsoleApp, by: 3 | -3) => actInPane(app, pane, () => scrollPane(app, "table", by));
  return (
    <PaneArea
      id="table"
      size={size}
      onPress={(app, line, event) => handlePress(app, pane, line, event)}
      onScroll={scroll}
    >
      {hasEtcdLine && <EtcdLine width={size.width} pane={pane} />}
      {pictureHeight > 0 && <OverviewPicture width={size.width} height={pictureHeight} pane={pane} />}
      <PaneRows size={size} build={build} />
    </PaneArea>
  );
}

const chooseHead = (_: ConsoleApp, { tab, pictureHeight }: TablePane) => {
  return { hasEtcdLine: isEtcdTab(tab), pictureHeight };
};

/** Notes, titles and visible rows, or a help text if there are no rows. */
function buildPageRows(app: ConsoleApp, pane: TablePane, width: number): RowModel[] {
  const rows = pane.table.length === 0 ? buildEmptyRows(app, pane, width) : buildTableRows(app, pane, width);
  return [...buildNotes(app, pane, width), ...rows, ...buildMemberGraphs(app, pane, width)];
}

/** Fills the lines that the few rows of the members leave. */
function buildMemberGraphs(
  { theme }: ConsoleApp,
  { etcd, list, table }: TablePane,
  width: number,
): RowModel[] {
  const height = list.height - table.length;
  const signs = theme.signs.isAscii ? ASCII_DRAWING : UNICODE_DRAWING;
  const lines = drawMemberGraphs(etcd.memberReadings, { width: width - 2 * PICTURE_MARGIN, height, signs });
  return lines.map((cells) => ({ cells: [{ text: " ".repeat(PICTURE_MARGIN) }, ...cells] }));
}

function buildTableRows(app: ConsoleApp, pane: TablePane, width: number): RowModel[] {
  const { theme, state } = app;
  const { table, isActive } = pane;
  const { cursor } = pane.tabState;
  const { head, rows } = table.buildRows(
    { top: cursor.top, height: pane.list.height },
    app.getShownTime(),
    theme.createLook(width - GUTTER_COLUMNS - 1), // leave a free column at the right edge
  );
  const selection = isActive && state.focus === "table" ? "focused" : "unfocused";
  return [
    { cells: [{ text: "  " }, ...head] },
    ...rows.map((cells, at): RowModel => {
      const index = cursor.top + at;
      return {
        id: table.getKeyAt(index),
        cells: [...buildMarkCells(app, pane, index), ...buildCells(app, pane, cells, index)],
        selection: index === cursor.index && pane.picturePart === undefined ? selection : undefined,
      };
    }),
  ];
}

/** Builds the cells of a row. Where cells are objects, their colours form a heat map, and one of them is selected. */
function buildCells(
  { theme: { signs } }: ConsoleApp,
  { table, tabState }: TablePane,
  cells: readonly RowCell[],
  index: number,
) {
  if (table.cell === undefined) return quietenCells(cells, signs);
  const { cellPlace } = table;
  const isHere = index === tabState.cursor.index && cellPlace !== undefined;
  const shown = cells.map((cell) => quietenEmpty(cell, signs));
  return (isHere ? coverCells(shown, cellPlace) : shown).flatMap((cell) => splitTrack(cell, signs.bar));
}

/** Sets the look of the cursor for a part of a row. */
function coverCells(cells: readonly RowCell[], { left, width }: { left: number; width: number }): RowCell[] {
  let at = 0;
  return cells.map((cell) => {
    const isIn = at >= left && at < left + width;
    at += computeDisplayWidth(cell.text);
    return isIn ? { ...cell, ground: "cursor" } : cell;
  });
}

/** Builds the signs of marked and watched rows. */
function buildMarkCells(
  { state, theme: { signs } }: ConsoleApp,
  { tabState, table }: TablePane,
  index: number,
): RowCell[] {
  const isMarked = tabState.marks.has(table.getKeyAt(index) ?? "");
  const subject = table.getSubjectAt(index);
  const id = subject === undefined || subject.kind === "record" ? undefined : getWatchId(subject);
  const isWatched = state.watched.some((row) => getWatchId(row) === id);
  return [
    isMarked ? { text: signs.marked, role: "marked" } : { text: " " },
    isWatched ? { text: signs.watched, role: "match" } : { text: " " },
  ];
}

/**
 * Sorts by the title that is pressed. Selects a row that is pressed, or opens it if it is already selected; the right
 * button opens its menu.
 */
function handlePress(
  app: ConsoleApp,
  pane: TablePane,
  line: number,
  { button, column, origin }: AreaEvent,
): void {
  if (button === "middle") return;
  const wasFocused = app.state.focus === "table" && pane === app.tablePane;
  const titles = pane.titleHeight;
  const title =
    pane.table.length > 0 && line === titles - 1
      ? pane.table.findColumnAt(column - GUTTER_COLUMNS)
      : undefined;
  const { cursor } = pane.tabState;
  const index = cursor.top + line - titles;
  const hasRow = line >= titles && index < pane.table.length;
  const { picturePart: before } = pane;
  const part =
    line < pane.pictureHeight ? pane.overview.findPartAt(line, column - PICTURE_MARGIN) : undefined;
  if (button === "right" && !hasRow && part === undefined) return;
  activate(app, pane);
  focusOn(app, "table");
  selectPicturePart(app, part);
  if (part !== undefined) {
    if (button === "right") openMenu(app, origin);
    else if (wasFocused && before?.id === part.id) openSelected(app);
    return;
  }
  if (button === "left" && title !== undefined) return sortByColumn(app, title);
  if (!hasRow) return;
  const cellBefore = app.table.cell;
  const pressed = app.table.findColumnAt(column - GUTTER_COLUMNS);
  const cell = app.table.cells.find((id) => id === pressed) ?? cellBefore;
  if (cell !== undefined) app.update((state) => updateTab(state, { cell }));
  moveToRow(app, "table", index);
  if (button === "right") openMenu(app, origin);
  else if (wasFocused && index === cursor.index && cell === cellBefore && before === undefined)
    openSelected(app);
}

function buildNotes(app: ConsoleApp, { notes }: TablePane, width: number): RowModel[] {
  return notes.map(({ text, role }) => {
    const sign = { problem: app.theme.signs.marks.problem, match: "/ ", plain: " " }[role];
    return { cells: [{ text: cleanToWidth(` ${sign}${text}`, width), role }] };
  });
}

/**
 * Builds the text for an empty table, and says what to type next. If nothing was read yet, says that the rows are
 * unknown.
 */
function buildEmptyRows(app: ConsoleApp, { table, tab, tabState }: TablePane, width: number): RowModel[] {
  const { liveView } = app;
  if (!liveView.hasRead && !isEtcdTab(tab)) return buildUnknownPage(app, width);
  const { filter } = tabState;
  if (filter === "" && liveView.past !== undefined)
    return [createPageRow("Nothing was here at this time.", "quiet")];
  if (table.filterFault !== undefined)
    return [createPageRow("The filter is wrong. / changes it, Esc clears it.", "quiet")];
  const text =
    filter === ""
      ? table.empty
      : `No row in ${table.id} matches the filter ${filter}. Esc clears the filter.${table.elsewhere === undefined ? "" : ` ${table.elsewhere}.`}`;
  const lines = [...text.split(/(?<=\.) /), ...(filter === "" ? listCreateLines(app, tab) : [])];
  const rows = lines.map((line) => createPageRow(cleanToWidth(line, width - 2), "quiet"));
  return [...rows, ...buildWelcomePage(app, width)];
}

/** Names the key that creates a row in an empty table. */
function listCreateLines({ keymap, isReadOnly }: ConsoleApp, tab: TabId): string[] {
  const action = buildCreateAction(tab);
  const [key] = keymap.getKeyLabels("create");
  const isPossible = "command" in action && tab !== "hosts";
  if (!isPossible || key === undefined || isReadOnly) return [];
  return [`Key ${key}: ${action.target}, in a form.`];
}

/** States that have a mark, by their roles. */
const STATES = ["held", "free", "waiting", "problem"] as const;
/** The text of an empty cell. */
const EMPTY_CELL_TEXT = "-";

/**
 * Makes normal rows quiet, so that the others stand out. A held row keeps only the colour of its mark, a free row is
 * dim, and the name of a row that waits or has a problem has that colour. Empty cells stay empty.
 */
export function quietenCells(
  cells: readonly RowCell[],
  signs: Pick<Signs, "marks" | "bar" | "dot">,
): RowCell[] {
  const { marks, bar } = signs;
  const shown = cells.map((cell) => quietenEmpty(cell, signs));
  const at = shown.findIndex(({ text, role }) =>
    STATES.some((own) => own === role && text.startsWith(marks[own])),
  );
  const state = shown[at]?.role;
  const quietened = shown.flatMap((cell, index): RowCell[] => {
    if (cell.role === "held")
      return index === at ? splitMark(cell, marks.held) : [{ ...cell, role: "plain" }];
    if (state === "free" && isPlain(cell.role)) return [{ ...cell, role: "quiet" }];
    const isName = index === 0 && isPlain(cell.role);
    return [isName && (state === "waiting" || state === "problem") ? { ...cell, role: state } : cell];
  });
  return quietened.flatMap((cell) => splitTrack(cell, bar));
}

/** Dims the rest of a bar that is not full: `3/4 ▇▇▇▁`. */
function splitTrack(cell: RowCell, [full, empty]: Signs["bar"]): RowCell[] {
  const start = cell.text.indexOf(empty);
  const isBar = start >= 0 && /^ *\d+\/\d+ /.test(cell.text) && !cell.text.slice(start).includes(full);
  if (!isBar) return [cell];
  const end = cell.text.lastIndexOf(empty) + empty.length;
  return [
    { ...cell, text: cell.text.slice(0, start) },
    { ...cell, text: cell.text.slice(start, end), role: "track" },
    { ...cell, text: cell.text.slice(end) },
  ];
}

function isPlain(role: StyleRole | undefined): boolean {
  return role === undefined || role === "plain";
}

/** Leaves an empty cell empty, and shows zero as a dot. */
function quietenEmpty(cell: RowCell, { dot }: Pick<Signs, "dot">): RowCell {
  const text = cell.role === "quiet" ? cell.text.trim() : "";
  if (text === EMPTY_CELL_TEXT) return { text: " ".repeat(cell.text.length) };
  return text === "0" ? { ...cell, text: cell.text.replace("0", dot) } : cell;
}

function splitMark({ text, role }: RowCell, mark: string): RowCell[] {
  return [
    { text: mark, role },
    { text: text.slice(mark.length), role: "plain" },
  ];
}

/** Settings of the connection to etcd. Unset ones are not shown, except the endpoints. */
const CONNECTION_SETTING_KEYS: readonly (keyof ConsoleApp["context"]["config"]["sources"])[] = [
  "endpoints",
  "transport",
  "prefix",
  "user",
  "cacert",
  "cert",
];

/** Builds the page for an unread cluster: the fault, the settings in use with their sources, and what to set. */
export function buildUnknownPage(app: ConsoleApp, width: number): RowModel[] {
  const { kind, fault, since } = app.liveView.connection;
  const look = app.theme.createLook(width - 2);
  const wrap = (...texts: string[]) => wrapProseLines(texts, look).map((line) => createPageRow(line));
  const blank = createPageRow("");
  return [
    createPageRow(NOT_READ_YET, kind === "opening" ? "heading" : "problem"),
    blank,
    ...(fault === undefined ? [] : wrap(`why: ${fault}`)),
    ...wrap(
      `trying for ${formatBriefDuration(app.getPresentTime() - since)}; retries continue until it works`,
    ),
    blank,
    ...wrap(...listSettingLines(app.context)),
    blank,
    ...(kind === "opening" ? [] : wrap(...listAdviceLines(kind === "refused"))),
  ];
}

/** Builds the page for a cluster that was read and on which nothing has run yet. */
function buildWelcomePage(app: ConsoleApp, width: number): RowModel[] {
  const { theme, context, liveView } = app;
  const isFresh = liveView.hasRead && Object.values(app.getTabCounts()).every((count) => count === 0);
  if (!isFresh) return [];
  const lines = [
    "",
    `Nothing has ever run under ${context.settings.prefix} here. To begin, in another terminal:`,
    "  signalbox run --lock hello -- sleep 60",
    "  signalbox schedule add hello '* * * * *' -- date   and   signalbox worker",
    "  signalbox init      checks etcd and this host, and prints what to set",
    "Keys: ? help, : all commands and names, q quit.",
  ];
  return wrapProseLines(lines, theme.createLook(width - 2)).map((line) => createPageRow(line, "quiet"));
}

/** Builds a row with a margin at its left. */
export function createPageRow(text: string, role?: StyleRole): RowModel {
  return { cells: [{ text: " " }, { text, role }] };
}

function listSettingLines(context: CommandContext): string[] {
  const { values, sources } = context.config;
  return CONNECTION_SETTING_KEYS.flatMap((key) => {
    const source = sources[key];
    const value = values[key];
    if (source === "default" && key !== "endpoints") return [];
    return [`${key}: ${Array.isArray(value) ? value.join(", ") : String(value)}   (${source})`];
  });
}

function listAdviceLines(isRefused: boolean): string[] {
  const what = isRefused
    ? "etcd refuses access. Set the user and the password: SIGNALBOX_USER and SIGNALBOX_PASSWORD, or user and " +
      "passwordFile in the configuration file; or a client certificate: cert and key. Roles: docs/etcd.md"
    : "To use another etcd: SIGNALBOX_ENDPOINTS=http://etcd1:2379,http://etcd2:2379, or endpoints in " +
      "/etc/signalbox/config.json or ~/.config/signalbox/config.json; with TLS: https:// and cacert";
  return [
    what,
    "signalbox doctor checks all of this; signalbox config shows every setting and where it comes from",
  ];
}

/** The picture of the overview, with the selected part of it. */
function OverviewPicture({ width, height, pane }: Size & { pane: TablePane }) {
  const app = useFrame();
  const lines = pane.overview.draw({
    view: app.liveView,
    problems: app.getTabCounts().problems,
    isAscii: app.theme.signs.isAscii,
    wall: app.getShownTime(),
    width: width - PICTURE_MARGIN - 1,
    height,
  });
  const selected = pane.isActive && app.state.focus === "table" ? pane.picturePart : undefined;
  const rows = Array.from({ length: height }, (_, at) => {
    const cells = (lines[at] ?? []).map(
      ({ text, role, target }): RowCell =>
        at === selected?.line && target === selected.target
          ? { text, role, ground: "cursor" }
          : { text, role },
    );
    return { cells: [{ text: " ".repeat(PICTURE_MARGIN) }, ...cells] };
  });
  return <Rows rows={rows} width={width} />;
}
