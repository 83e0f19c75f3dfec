import { cleanToWidth } from "../../base/display-width.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { formatJsonDocument } from "../../commands/json-output.ts";
import { ROW_COMMANDS } from "../../commands/registry/registry.ts";
import type { Subject } from "../../state/subject.ts";
import { buildRerunSection } from "../../views/queues.ts";
import { openCollisions } from "../overlays/collisions-overlay.ts";
import { openColumns } from "../overlays/columns-overlay.ts";
import { listContextWords } from "../overlays/dialog-form.ts";
import { openCreate, openDelete, openEdit, openRowAction } from "../overlays/dialog-openers.ts";
import { openExportOverlay } from "../overlays/export-overlay.ts";
import { openFilter } from "../overlays/filter.ts";
import { openHelp } from "../overlays/help.ts";
import { openMenu } from "../overlays/menu-overlay.ts";
import { openLiveOutput } from "../overlays/output.ts";
import { openPalette } from "../overlays/palette-overlay.ts";
import { openRaw } from "../overlays/raw-overlay.ts";
import { openSavedViews } from "../overlays/saved-views-overlay.ts";
import { openTimeline } from "../overlays/timeline-overlay.ts";
import { openTravelPrompt } from "../overlays/travel.ts";
import { openWhatIf } from "../overlays/what-if-overlay.ts";
import { openWhyNowOrThen, openWhyThen } from "../overlays/why-then-overlay.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { KeyActionId } from "../parts/key-actions.ts";
import { clearMarks, getChosenSubjects, markRange, toggleMark } from "../parts/marks.ts";
import { moveInFocusedPane } from "../parts/moves.ts";
import { createSameRowCheck, focusNext, focusOn, goToPlace, switchTab } from "../parts/navigation.ts";
import { formatSubjectName } from "../parts/row-actions.ts";
import type { ConsoleState } from "../state/console-state.ts";
import { findWatchable, getWatchId, toggleWatched } from "../state/watched-rows.ts";
import { THEMES } from "../theme/theme.ts";
import { resetSizes, resizePane } from "./borders.ts";
import { openDefinition, openInEditor, openPager } from "./external-programs.ts";
import { openSelected, unfold } from "./open.ts";

type ActionHandler = (app: ConsoleParts) => void;

/** Handlers of all actions, by id: the console's own and those of row commands. */
export const ACTION_HANDLERS: Readonly<Record<KeyActionId, ActionHandler>> = {
  palette: openPalette,
  filter: openFilter,
  help: openHelp,
  quit,
  redraw: (app) => app.redraw(),
  suspend: (app) => app.suspend(),
  nextPane: (app) => focusNext(app, 1),
  previousPane: (app) => focusNext(app, -1),
  pane1: (app) => focusOn(app, "explorer"),
  pane2: (app) => focusOn(app, "table"),
  pane3: (app) => focusOn(app, "detail"),
  pane4: (app) => focusOn(app, "panel"),
  pane5: showJobs,
  nextTab: (app) => switchTab(app, 1),
  previousTab: (app) => switchTab(app, -1),
  explorer: (app) =>
    app.update(({ explorer, ...state }) => ({
      ...state,
      explorer: { ...explorer, isOpen: !explorer.isOpen },
      focus: explorer.isOpen && state.focus === "explorer" ? "table" : state.focus,
    })),
  panel: (app) =>
    app.update(({ panel, ...state }) => ({
      ...state,
      panel: { ...panel, isOpen: !panel.isOpen },
      focus: panel.isOpen && state.focus === "panel" ? "table" : state.focus,
    })),
  zoom: (app) =>
    app.update((state) => ({ ...state, zoomed: state.zoomed === undefined ? state.focus : undefined })),
  larger: (app) => resizePane(app, 1),
  smaller: (app) => resizePane(app, -1),
  resetSizes,
  reread: (app) => {
    if (app.liveView.past !== undefined) return app.showToast("the past does not change; a returns to live");
    app.liveView.reread();
    const { snapshot } = app.liveView;
    app.showToast("reading everything again", "quiet", () => app.liveView.snapshot === snapshot);
  },
  theme: (app) => {
    const next = findNextTheme(app);
    app.update((state) => ({ ...state, theme: next, configuredTheme: undefined }));
    app.showToast(`theme ${next}${next === "auto" ? `: ${app.theme.name}` : ""}`);
  },
  back: goBackOrReturn,
  travel: toggleTravel,
  olderChange: (app) => app.travel.step(-1),
  newerChange: (app) => app.travel.step(1),
  placeBack: (app) => goToPlace(app, -1),
  placeForward: (app) => goToPlace(app, 1),
  ...createHandlers(
    ["up", "down", "top", "bottom", "pageUp", "pageDown"],
    (id) => (app) => moveInFocusedPane(app, id),
  ),
  left: (app) => unfold(app, false),
  right: (app) => unfold(app, true),
  open: openSelected,
  menu: wrapRowAction((app) => openMenu(app)),
  unmark: clearMarks,
  sort: sortByNextColumn,
  reverse: reverseSort,
  create: openCreate,
  columns: openColumns,
  views: openSavedViews,
  export: exportShown,
  mark: wrapRowAction(toggleMark),
  range: wrapRowAction(markRange),
  pager: openPager,
  editor: openEditorHere,
  raw: wrapRowAction(openRaw),
  copy: wrapRowAction(copyName),
  copyJson: wrapRowAction(copyJson),
  copyCommand: wrapRowAction(copyCommand),
  copyRun: wrapRowAction(copyRun),
  why: wrapRowAction(openWhyNowOrThen),
  whyDidItNotRun: wrapRowAction(openWhyThen),
  timeline: wrapRowAction(openTimeline),
  whatIf: wrapRowAction(openWhatIf),
  collisions: openCollisions,
  notifyMe: wrapRowAction(toggleWatch),
  output: showOutput,
  edit: wrapRowAction(openEdit),
  delete: wrapRowAction(openDelete),
  ...createHandlers(
    ROW_COMMANDS.map(({ id }) => id),
    (id) => wrapRowAction((app) => openRowAction(app, id)),
  ),
};

/** Creates the handler of each of several actions. */
function createHandlers<const Id extends string>(
  ids: readonly Id[],
  createHandler: (id: Id) => ActionHandler,
): Record<Id, ActionHandler> {
  return Object.fromEntries(ids.map((id) => [id, createHandler(id)])) as Record<Id, ActionHandler>;
}

/** Returns the theme after the one in use. After the last it is again the one that fits the terminal. */
function findNextTheme({ state, theme }: ConsoleParts): string {
  const isChosen = THEMES.some((name) => name === (state.configuredTheme ?? state.theme));
  const at = THEMES.indexOf(theme.name) + 1;
  return THEMES[isChosen ? at : at % THEMES.length] ?? "auto";
}

/** Unfolds in the explorer, as in vi: its lines have no output. */
function showOutput(app: ConsoleParts): void {
  if (app.state.focus === "explorer") unfold(app, true);
  else wrapRowAction(openLiveOutput)(app);
}

/** Opens the definition of the row in the editor if it has one, otherwise what has the keyboard. */
function openEditorHere(app: ConsoleParts): void {
  const { focus } = app.state;
  const isRow = app.overlays.top === undefined && (focus === "table" || focus === "detail");
  if (!isRow || !openDefinition(app)) openInEditor(app);
}

/** Quits. Jobs end with the console, so if any are running, the user must press the key again to confirm. */
function quit(app: ConsoleParts): void {
  const [first, ...more] = app.jobs.running;
  if (first === undefined || app.state.toast?.asks === "quit") return app.quit();
  const what = more.length === 0 ? `${cleanToWidth(first.title, 24)} is` : `${more.length + 1} jobs are`;
  app.showToast(`${what} running; press again to quit anyway`, "problem", () => app.jobs.running.length > 0);
  app.update(({ toast, ...state }) => ({ ...state, toast: toast && { ...toast, asks: "quit" } }));
}

function showJobs(app: ConsoleParts): void {
  app.update((state) => ({ ...state, panel: { ...state.panel, id: "jobs", isOpen: true } }));
  focusOn(app, "panel");
}

/** Asks for a past time; in the past, or while one is read, returns to live. */
function toggleTravel(app: ConsoleParts): void {
  const { view, search } = app.travel;
  if (view === undefined && search === undefined) openTravelPrompt(app);
  else app.travel.end();
}

/** Undoes one step. When there is nothing else to undo, leaves the past. */
function goBackOrReturn(app: ConsoleParts): void {
  const next = goBack(app.state);
  if (next === app.state && (app.travel.view ?? app.travel.search) !== undefined) app.travel.end();
  else app.update(() => next);
}

/** Undoes one step: first the zoom, then the focus, a range, the marks, and the filter. */
function goBack(state: ConsoleState): ConsoleState {
  const tab = state.tabs[state.tab];
  const updateTab = (change: Partial<typeof tab>): ConsoleState => ({
    ...state,
    tabs: { ...state.tabs, [state.tab]: { ...tab, ...change } },
  });
  if (state.zoomed !== undefined) return { ...state, zoomed: undefined };
  if (state.focus !== "table") return { ...state, focus: "table" };
  if (tab.anchor !== undefined) return updateTab({ anchor: undefined });
  if (tab.marks.size > 0) return updateTab({ marks: new Set() });
  if (tab.filter !== "") return updateTab({ filter: "" });
  return state;
}

/** Exports what the focused pane shows: the detail, or all rows of the table as filtered, sorted and chosen. */
function exportShown(app: ConsoleParts): void {
  if (!app.liveView.hasRead)
    return app.showToast("nothing was read yet, so there is nothing to export", "problem");
  const { focus, tab } = app.state;
  const detail = focus === "detail" ? app.getDetail() : undefined;
  if (detail !== undefined) {
    const name = app.table.getSubjectAt(app.state.tabs[tab].cursor.index)?.name ?? tab;
    return openExportOverlay(app, { kind: "detail", name, detail });
  }
  const { snapshot } = app.liveView;
  const wall = app.context.clock.getWallTime();
  const { filter } = app.state.tabs[tab];
  const { table, rows } = app.table.buildExport(wall);
  const { column, descending } = app.table.order;
  openExportOverlay(app, {
    kind: "table",
    name: tab,
    table,
    json: {
      revision: snapshot.revision,
      at: wall,
      prefix: app.context.keys.prefix,
      view: tab,
      filter,
      sort: `${descending ? "-" : ""}${column}`,
      columns: table.columns.map(({ id }) => id),
      rows,
    },
  });
}

/** Begins to watch the chosen rows, or ends it if all of them are watched. */
function toggleWatch(app: ConsoleParts): void {
  const rows = getChosenSubjects(app).flatMap((subject) => findWatchable(subject) ?? []);
  const [first] = rows;
  if (first === undefined) return app.showToast("nothing here can be watched", "problem");
  const before = app.state.watched.length;
  app.update((state) => ({ ...state, watched: toggleWatched(state.watched, rows) }));
  const what = rows.length === 1 ? cleanToWidth(getWatchId(first), 40) : `${rows.length} rows`;
  const isOn = app.state.watched.length > before || app.state.watched.includes(first);
  app.showToast(isOn ? `watching ${what}: you are told when it changes` : `no longer watching ${what}`);
}

/**
 * Wraps an action that applies to rows of the table. If another list has the keyboard, the user means the line in
 * that list: the wrapped action goes to the linked row and asks for the key again. It never acts on a row that is not
 * in view.
 */
function wrapRowAction(act: ActionHandler): ActionHandler {
  return (app) => {
    const { focus } = app.state;
    if (focus === "table" || focus === "detail") return act(app);
    if (!hasLinkedRow(app))
      return app.showToast(
        "this key acts on rows of the table: go there first",
        "quiet",
        () => app.state.focus === focus,
      );
    openSelected(app);
    app.showToast("row selected: press the key again to act on it", "quiet", createSameRowCheck(app));
  };
}

/** Whether the line under the cursor leads to a row. */
function hasLinkedRow({ state: { focus, explorer, panel }, tree }: ConsoleParts): boolean {
  if (focus === "explorer") return tree.nodes[explorer.cursor.index]?.key !== undefined;
  return panel.id === "problems" || panel.id === "audit";
}

function sortByNextColumn(app: ConsoleParts): void {
  const { columns, order } = app.table;
  const at = columns.findIndex(({ id }) => id === order.column);
  const next = columns[(at + 1) % columns.length];
  if (next === undefined) return;
  setOrder(app, { column: next.id, descending: false });
  app.showToast(`sorted by ${next.title.toLowerCase()}`);
}

/** Sorts by a column; if the table is already sorted by it, reverses the order. */
export function sortByColumn(app: ConsoleParts, id: string): void {
  const { columns, order } = app.table;
  if (id === order.column) return reverseSort(app);
  setOrder(app, { column: id, descending: false });
  const title = columns.find((column) => column.id === id)?.title ?? id;
  app.showToast(`sorted by ${title.toLowerCase()}`);
}

function reverseSort(app: ConsoleParts): void {
  const { column, descending } = app.table.order;
  setOrder(app, { column, descending: !descending });
}

function setOrder(app: ConsoleParts, order: { column: string; descending: boolean }): void {
  app.update((state) => ({
    ...state,
    tabs: { ...state.tabs, [state.tab]: { ...state.tabs[state.tab], order } },
  }));
}

/** Copies the names of the chosen rows, one per line. */
function copyName(app: ConsoleParts): void {
  const subjects = getChosenSubjects(app);
  const [first] = subjects;
  if (first === undefined) return app.showToast("nothing is selected");
  const what = subjects.length === 1 ? formatSubjectName(first) : `${subjects.length} names`;
  app.copy(subjects.map(({ name }) => name).join("\n"), what);
}

/** Copies the row under the cursor as JSON, as `signalbox ls --json` prints it. */
function copyJson(app: ConsoleParts): void {
  const row = app.table.getJsonAt(app.state.tabs[app.state.tab].cursor.index);
  if (row === undefined) return app.showToast("nothing is selected");
  app.copy(formatJsonDocument(row), "the row as JSON");
}

/** Copies the command that shows the same. */
function copyCommand(app: ConsoleParts): void {
  const subject = app.getSubject();
  const { filter } = app.state.tabs[app.state.tab];
  const line =
    formatShowCommand(subject) ??
    `signalbox ls ${app.state.tab}${filter === "" ? "" : ` --filter ${quoteShellWord(filter)}`}`;
  const whole = [line, ...listContextWords(app.context).map(quoteShellWord)].join(" ");
  app.copy(whole, whole);
}

/** Copies the command line that runs the selected lock's last job again. */
function copyRun(app: ConsoleParts): void {
  const subject = app.getSubject();
  const lock = subject?.kind === "record" ? subject.about : subject;
  const [section] = lock?.kind === "lock" ? buildRerunSection(lock.name, app.liveView.snapshot) : [];
  if (section?.kind !== "lines")
    return app.showToast("run again: select a lock that has a history", "problem");
  app.copy(section.lines.join("\n"), section.lines.join(""));
}

function formatShowCommand(subject: Subject | undefined): string | undefined {
  if (subject?.kind === "record") return formatShowCommand(subject.about);
  if (subject === undefined || subject.kind === "drain") return undefined;
  return `signalbox show ${subject.kind} ${quoteShellWord(subject.name)}`;
}
