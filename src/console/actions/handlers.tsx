import { ROW_COMMANDS } from "../../cli/commands/registry.ts";
import { formatJsonDocument } from "../../cli/frame/json-output.ts";
import { buildRerunSection } from "../../cli/views/queues.ts";
import { cleanToWidth } from "../../core/base/display-width.ts";
import { quoteShellWord } from "../../core/base/shell.ts";
import { toActionable } from "../../site/state/subject.ts";
import type { ConsoleApp } from "../console-app.ts";
import { openDeadLetters } from "../overlays/DeadLetters.tsx";
import { openDialog, openRowAction } from "../overlays/Dialog.tsx";
import { listContextWords } from "../overlays/dialog-form.ts";
import { isEditKey } from "../overlays/field.ts";
import { Help } from "../overlays/Help.tsx";
import { openKeyBrowser } from "../overlays/KeyBrowser.tsx";
import { openMenu } from "../overlays/Menu.tsx";
import { openLiveOutput } from "../overlays/output.tsx";
import { Palette } from "../overlays/Palette.tsx";
import { TravelPrompt } from "../overlays/Prompt.tsx";
import { openRaw } from "../overlays/RawKeys.tsx";
import { openCollisions } from "../overlays/remedies.ts";
import { Columns, Filter, SavedViews } from "../overlays/TableChoices.tsx";
import { openTimeline } from "../overlays/Timeline.tsx";
import { openWhatIf } from "../overlays/WhatIf.tsx";
import { dragBorder, releaseBorder, resetSizes, resizePane } from "../parts/borders.ts";
import { type KeyActionId, listTabActions } from "../parts/keymap.ts";
import { clearMarks, getChosenSubjects, markRange, toggleMark } from "../parts/marks.ts";
import { moveInFocusedPane } from "../parts/moves.ts";
import {
  createSameRowCheck,
  focusNext,
  focusOn,
  focusTable,
  goTo,
  goToPlace,
  mayLeaveJobs,
  openTab,
  showJobs,
  splitTables,
  switchTab,
} from "../parts/navigation.ts";
import {
  buildCreateAction,
  buildDeleteAction,
  buildEditAction,
  formatSubjectName,
} from "../parts/row-actions.ts";
import { type ConsoleState, isEtcdTab, updateTab } from "../state/console-state.ts";
import { getWatchId, toggleWatched } from "../state/watched-rows.ts";
import { createNamedKey, type InputEvent, type MouseEvent } from "../terminal/input-event.ts";
import { THEMES } from "../theme/theme.ts";
import { openDefinition, openInEditor, openPager } from "./external-programs.ts";
import { openSelected, unfold } from "./open.ts";
import { reverseSort, sortByNextColumn } from "./sort.ts";
import { runUserCommand } from "./user-command.tsx";
import { openWhy, openWhyThen } from "./why.ts";

type ActionHandler = (app: ConsoleApp) => unknown;

export function act(app: ConsoleApp, id: string): void {
  if (id.startsWith("user:")) runUserCommand(app, id);
  else HANDLERS[id as KeyActionId]?.(app);
}

/** Handlers of all actions, by id: the console's own and those of row commands. */
export const HANDLERS: Readonly<Record<KeyActionId, ActionHandler>> = {
  palette: (app) => app.overlays.open(<Palette />),
  filter: (app) => app.overlays.open(<Filter tab={app.state.tab} />),
  help: (app) => app.overlays.open(<Help />),
  quit,
  redraw: (app) => app.redraw(),
  suspend: (app) => app.ports.suspend(),
  nextPane: (app) => focusNext(app, 1),
  previousPane: (app) => focusNext(app, -1),
  pane1: (app) => focusOn(app, "explorer"),
  pane2: focusTable,
  pane3: (app) => focusOn(app, "detail"),
  pane4: (app) => focusOn(app, "panel"),
  pane5: (app) => {
    showJobs(app);
    focusOn(app, "panel");
  },
  nextTab: (app) => switchTab(app, 1),
  previousTab: (app) => switchTab(app, -1),
  ...createHandlers(listTabActions(), (id) => (app) => app.update((state) => openTab(state, id))),
  split: splitTables,
  explorer: (app) => app.update((state) => togglePane(state, "explorer")),
  panel: (app) => app.update((state) => togglePane(state, "panel")),
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
  create: (app) => openDialog(app, [buildCreateAction(app.state.tab)]),
  columns: (app) => app.overlays.open(<Columns tab={app.state.tab} />),
  views: (app) => app.overlays.open(<SavedViews />),
  mark: wrapRowAction(toggleMark),
  range: wrapRowAction(markRange),
  pager: openPager,
  editor: openEditorHere,
  raw: wrapRowAction(openRaw),
  copy: wrapRowAction(copyName),
  copyJson: wrapRowAction(copyJson),
  copyCommand: wrapRowAction(copyCommand),
  copyRun: wrapRowAction(copyRun),
  why: wrapRowAction(openWhy),
  whyDidItNotRun: wrapRowAction(openWhyThen),
  timeline: wrapRowAction(openTimeline),
  whatIf: wrapRowAction(openWhatIf),
  collisions: openCollisions,
  deadLetters: openDeadLetters,
  etcd: (app) => goTo(app, "members", undefined),
  browseKeys: openKeyBrowser,
  notifyMe: wrapRowAction(toggleWatch),
  output: showOutput,
  edit: wrapRowAction((app) => openDialog(app, [buildEditAction(app.getSubject(), app.liveView.snapshot)])),
  delete: wrapRowAction((app) => openDialog(app, getChosenSubjects(app).map(buildDeleteAction))),
  ...createHandlers(
    ROW_COMMANDS.map(({ id }) => id),
    (id) => wrapRowAction((app) => openRowAction(app, id)),
  ),
};

function createHandlers<const Id extends string>(
  ids: readonly Id[],
  createHandler: (id: Id) => ActionHandler,
): Record<Id, ActionHandler> {
  return Object.fromEntries(ids.map((id) => [id, createHandler(id)])) as Record<Id, ActionHandler>;
}

/** Returns the theme after the current one. The last one is followed by `auto`. */
function findNextTheme({ state, theme }: ConsoleApp): string {
  const isChosen = THEMES.some((name) => name === (state.configuredTheme ?? state.theme));
  const at = THEMES.indexOf(theme.name) + 1;
  return THEMES[isChosen ? at : at % THEMES.length] ?? "auto";
}

/** Shows the output of the row. In the explorer, whose lines have no output, unfolds the node, as `l` moves right in vi. */
function showOutput(app: ConsoleApp): void {
  if (app.state.focus === "explorer") unfold(app, true);
  else wrapRowAction(openLiveOutput)(app);
}

/** Opens the definition of the row in the editor if it has one, otherwise the text of the focused pane. */
function openEditorHere(app: ConsoleApp): void {
  const { focus } = app.state;
  const isRow = app.overlays.top === undefined && (focus === "table" || focus === "detail");
  if (!isRow || !openDefinition(app)) openInEditor(app);
}

/** Shows or hides a pane. If the hidden pane had the focus, the table gets it. */
function togglePane(state: ConsoleState, pane: "explorer" | "panel"): ConsoleState {
  const isOpen = !state[pane].isOpen;
  const focus = !isOpen && state.focus === pane ? "table" : state.focus;
  return { ...state, focus, [pane]: { ...state[pane], isOpen } };
}

/** Quits. Jobs end with the console, so if any are running, the user must press the key again to confirm. */
function quit(app: ConsoleApp): void {
  if (mayLeaveJobs(app, "quit", "running; press again to quit anyway")) app.ports.quit();
}

/** Asks for a past time. If a past time is shown or being read, returns to live. */
function toggleTravel(app: ConsoleApp): void {
  const { view, search } = app.travel;
  if (view === undefined && search === undefined) app.overlays.open(<TravelPrompt />);
  else app.travel.end();
}

/** Undoes one step. If there is nothing to undo, leaves the past. */
function goBackOrReturn(app: ConsoleApp): void {
  const next = goBack(app.state);
  if (next === app.state && (app.travel.view ?? app.travel.search) !== undefined) app.travel.end();
  else app.update(() => next);
}

/** Undoes one step: first the zoom, then the focus, a range, the marks, and the filter. */
function goBack(state: ConsoleState): ConsoleState {
  const tab = state.tabs[state.tab];
  if (state.zoomed !== undefined) return { ...state, zoomed: undefined };
  if (state.focus !== "table") return { ...state, focus: "table" };
  if (tab.anchor !== undefined) return updateTab(state, { anchor: undefined });
  if (tab.marks.size > 0) return updateTab(state, { marks: new Set() });
  if (tab.filter !== "") return updateTab(state, { filter: "" });
  return state;
}

/** Starts to watch the chosen rows, or stops if all of them are watched. */
function toggleWatch(app: ConsoleApp): void {
  const rows = getChosenSubjects(app).flatMap((subject) => toActionable(subject) ?? []);
  const [first] = rows;
  if (first === undefined) return app.showToast("nothing here can be watched", "problem");
  const before = app.state.watched.length;
  app.update((state) => ({ ...state, watched: toggleWatched(state.watched, rows) }));
  const what = rows.length === 1 ? cleanToWidth(getWatchId(first), 40) : `${rows.length} rows`;
  const isOn = app.state.watched.length > before || app.state.watched.includes(first);
  app.showToast(isOn ? `watching ${what}: you are told when it changes` : `no longer watching ${what}`);
}

/**
 * Wraps an action that applies to rows of the table. If another list has the focus, the user means the line in that
 * list: the wrapped action goes to the linked row and asks for the key again. It never acts on a row that is not in
 * view.
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
function hasLinkedRow(app: ConsoleApp): boolean {
  const { focus, panel } = app.state;
  if (focus === "explorer") return app.getNode()?.key !== undefined;
  return panel.id === "problems" || panel.id === "audit";
}

/** Copies the names of the chosen rows, one per line. */
function copyName(app: ConsoleApp): void {
  const subjects = getChosenSubjects(app);
  const [first] = subjects;
  if (first === undefined) return app.showToast("nothing is selected");
  const what = subjects.length === 1 ? formatSubjectName(first) : `${subjects.length} names`;
  app.copy(subjects.map(({ name }) => name).join("\n"), what);
}

/** Copies the row under the cursor as JSON, as `signalbox ls --json` prints it. */
function copyJson(app: ConsoleApp): void {
  const row = app.table.getJsonAt(app.tabState.cursor.index);
  if (row === undefined) return app.showToast("nothing is selected");
  app.copy(formatJsonDocument(row), "the row as JSON");
}

/** Copies the command that shows the same. */
function copyCommand(app: ConsoleApp): void {
  const subject = toActionable(app.getSubject());
  const line =
    subject === undefined || subject.kind === "drain"
      ? formatListCommand(app)
      : `signalbox show ${subject.kind} ${quoteShellWord(subject.name)}`;
  const whole = [line, ...listContextWords(app.context).map(quoteShellWord)].join(" ");
  app.copy(whole, whole);
}

function formatListCommand({ state: { tab }, tabState: { filter } }: ConsoleApp): string {
  if (tab === "overview") return "signalbox overview";
  if (isEtcdTab(tab)) return `signalbox etcd ${tab}`; // these have no filters
  return `signalbox ls ${tab}${filter === "" ? "" : ` --filter ${quoteShellWord(filter)}`}`;
}

/** Copies the command line that runs the selected lock's last job again. */
function copyRun(app: ConsoleApp): void {
  const lock = toActionable(app.getSubject());
  const [section] = lock?.kind === "lock" ? buildRerunSection(lock.name, app.liveView.snapshot) : [];
  if (section?.kind !== "lines")
    return app.showToast("run again: select a lock that has a history", "problem");
  app.copy(section.lines.join("\n"), section.lines.join(""));
}

/** Handles a key, a click or a paste. @param clickArea  hands an event to the part of the screen at its position */
export function dispatch(app: ConsoleApp, event: InputEvent, clickArea: (event: MouseEvent) => void): void {
  if (event.kind === "mouse") return handleMouse(app, event, clickArea);
  for (const one of splitAltChord(app, event)) handleKey(app, one);
}

/**
 * Splits Alt with a key into Escape and the key if no action is bound to the chord. A terminal sends the same bytes
 * for both when they arrive in one read.
 */
function splitAltChord({ keymap, overlays }: ConsoleApp, event: InputEvent): InputEvent[] {
  if (event.kind !== "key") return [event];
  const [, key] = /^alt\+(.|[a-z0-9]+)$/su.exec(event.chord) ?? [];
  const isBound = keymap.findAction(event.chord, "list") !== undefined;
  const isTyping = overlays.top !== undefined && isEditKey(event.chord);
  if (key === undefined || isBound || isTyping) return [event];
  const keys = [createNamedKey("escape"), createNamedKey(key)];
  return keys.filter((one) => one !== undefined);
}

/** Keys that run the same action everywhere. */
const GLOBAL_CHORDS: ReadonlySet<string> = new Set(["ctrl+c", "ctrl+z", "ctrl+l"]);

/** Actions that hand the text of an overlay to another program. */
const ON_TEXTS: ReadonlySet<string> = new Set(["pager", "editor"]);

function handleKey(app: ConsoleApp, event: InputEvent): void {
  const { overlays, keymap } = app;
  const id = event.kind === "key" ? keymap.findAction(event.chord, "list") : undefined;
  const isEverywhere = event.kind === "key" && GLOBAL_CHORDS.has(event.chord);
  // In an overlay with fields, the key is a letter.
  const isForText = overlays.text?.listLines !== undefined && ON_TEXTS.has(id ?? "");
  if (overlays.top !== undefined && !isEverywhere && !isForText) return overlays.handleInput(event);
  if (id !== undefined) app.act(id); // a paste is not a command
}

/**
 * Handles a mouse event. Overlays get the wheel wherever the pointer is, and a border that is dragged follows the
 * pointer.
 */
function handleMouse(app: ConsoleApp, event: MouseEvent, clickArea: (event: MouseEvent) => void): void {
  const isWheel = event.action.startsWith("wheel");
  if (isWheel && app.overlays.top !== undefined) return app.overlays.handleInput(event);
  if (event.action === "drag") return dragBorder(app, event);
  if (event.action === "release") return releaseBorder(app);
  clickArea(event);
}
