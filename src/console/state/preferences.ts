import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { CommandIo } from "../../cli/frame/command.ts";
import { hash } from "../../core/base/hash.ts";
import { makeFolder } from "../../core/config/write-once.ts";
import {
  type ConsoleState,
  createInitialState,
  PANELS,
  restoreUserSizes,
  type SavedView,
  TABS,
  type TabState,
  type UserSizes,
  updateTab,
} from "./console-state.ts";
import { START_CURSOR } from "./cursor.ts";
import { restoreWatchedRows, type WatchedRow } from "./watched-rows.ts";

type TableChoices = Readonly<Record<string, Pick<TabState, "order" | "columns">>>;

/** The part of the console state that is kept between sessions. */
interface ConsolePreferences {
  tab: string;
  theme: string;
  recent: readonly string[];
  sizes: UserSizes;
  watched: readonly WatchedRow[];
  explorer: { isOpen: boolean; open: readonly string[] | undefined };
  panel: { isOpen: boolean; id: string };
  /** Order and columns by tab. Filters are kept only in saved views, because a filter hides rows. */
  tabs: TableChoices;
  /** The table beside the active one. */
  split: { tab: string; isRight: boolean; tabs: TableChoices } | undefined;
  views: readonly SavedView[];
  startView: string | undefined;
}

export function toConsolePreferences(state: ConsoleState): ConsolePreferences {
  const { tab, tabs, explorer, panel, theme, recent, savedViews: views, startView, sizes, watched } = state;
  const { split } = state;
  return {
    tab,
    theme,
    recent,
    views,
    startView,
    sizes,
    watched,
    explorer: { isOpen: explorer.isOpen, open: explorer.open && [...explorer.open] },
    panel: { isOpen: panel.isOpen, id: panel.id },
    tabs: toTableChoices(tabs),
    split: split && { ...split, tabs: toTableChoices(split.tabs) },
  };
}

function toTableChoices(tabs: ConsoleState["tabs"]): TableChoices {
  return Object.fromEntries(
    TABS.map((id) => [id, { order: tabs[id].order, columns: tabs[id].columns }] as const),
  );
}

/** Restores the console state from stored preferences. Ignores values that are invalid or of another version. */
export function restoreState(kept: unknown): ConsoleState {
  const state = createInitialState();
  const { tab, theme, recent, watched, sizes, ...parts } = toRecord(kept);
  const [explorer, panel] = [parts.explorer, parts.panel].map(toRecord) as [Kept, Kept];
  const { savedViews, startView } = restoreSavedViews(parts);
  const view = savedViews.find(({ name }) => name === startView);
  const restored: ConsoleState = {
    ...state,
    savedViews,
    startView,
    tab: TABS.find((id) => id === tab) ?? state.tab,
    recent: listTexts(recent) ?? state.recent,
    watched: restoreWatchedRows(watched),
    sizes: restoreUserSizes(sizes),
    theme: typeof theme === "string" ? theme : state.theme,
    explorer: {
      ...state.explorer,
      isOpen: explorer.isOpen !== false,
      open: Array.isArray(explorer.open) ? new Set(listTexts(explorer.open)) : state.explorer.open,
    },
    panel: {
      ...state.panel,
      isOpen: panel.isOpen !== false,
      id: PANELS.find((id) => id === panel.id) ?? state.panel.id,
    },
    tabs: restoreTabs(parts.tabs),
    split: restoreSplit(parts.split),
  };
  return view === undefined ? restored : openView(restored, view);
}

function restoreTabs(kept: unknown): ConsoleState["tabs"] {
  const [choices, { tabs }] = [toRecord(kept), createInitialState()];
  return Object.fromEntries(
    TABS.map((id) => [id, { ...tabs[id], ...restoreTableChoice(choices[id]), filter: "" }]),
  ) as ConsoleState["tabs"];
}

/** Restores the second table; there is none in the preferences of older versions. */
function restoreSplit(kept: unknown): ConsoleState["split"] {
  const { tab: id, isRight, tabs } = toRecord(kept);
  const tab = TABS.find((one) => one === id);
  return tab && { tab, isRight: isRight === true, tabs: restoreTabs(tabs) };
}

/** Returns the path of the preferences of a cluster. Each cluster has its own file. */
export function getPreferencesPath(
  { env }: Pick<CommandIo, "env">,
  { endpoints, prefix }: { endpoints: readonly string[]; prefix: string },
): string {
  // Loading node:crypto for a better hash takes 5 ms of the start.
  const cluster = hash(JSON.stringify([[...endpoints].sort(), prefix]));
  const state = env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local", "state");
  return join(state, "signalbox", `console-${cluster.toString(16).padStart(8, "0")}.json`);
}

/** Reads the stored preferences. Returns undefined if there is no readable file. */
export function readPreferences(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** Writes the preferences, as a whole or not at all. Never throws, because a full disk must not make the console fail. */
export function writePreferences(path: string, kept: object): void {
  const draft = `${path}.${process.pid}`;
  try {
    makeFolder(dirname(path), 0o700);
    writeFileSync(draft, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    remove(draft);
  }
}

/** Removes a file. Ignores errors: a file that was never created cannot be removed. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The error that prevented writing is the one that matters.
  }
}

/** Maximum number of columns that a stored choice may name. */
const MAX_COLUMNS = 50;

/** Restores filter, order and columns of a table. Ignores values that are invalid. */
function restoreTableChoice(kept: unknown): Pick<TabState, "filter" | "order" | "columns"> {
  const { filter, order, columns } = toRecord(kept);
  const { column, descending } = toRecord(order);
  return {
    filter: isStoredText(filter) ? filter : "",
    order: isStoredText(column) ? { column, descending: descending === true } : undefined,
    columns: listTexts(columns)?.slice(0, MAX_COLUMNS),
  };
}

type Kept = Readonly<Record<string, unknown>>;

/** Returns an object unchanged, and an empty object for any other value. */
function toRecord(value: unknown): Kept {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Kept) : {};
}

/** Returns the texts of a list; undefined for any other value. */
function listTexts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter(isStoredText) : undefined;
}

function isStoredText(value: unknown): value is string {
  return typeof value === "string" && value.length < 500;
}

/** Maximum number of saved views of a cluster, and of characters of a name. */
export const MAX_SAVED_VIEWS = 50;
export const MAX_VIEW_NAME = 60;

/** Restores the saved views. Ignores invalid ones, and all but the first with the same name. */
export function restoreSavedViews(kept: Kept): Pick<ConsoleState, "savedViews" | "startView"> {
  const found = (Array.isArray(kept.views) ? kept.views : []).flatMap(restoreSavedView);
  const first = found.filter(({ name }, at) => found.findIndex((one) => one.name === name) === at);
  const savedViews = first.slice(0, MAX_SAVED_VIEWS);
  const startView = savedViews.find(({ name }) => name === kept.startView)?.name;
  return { savedViews, startView };
}

function restoreSavedView(kept: unknown): SavedView[] {
  const { name: text, tab: id } = toRecord(kept);
  const tab = TABS.find((one) => one === id);
  const name = isStoredText(text) ? text.trim() : "";
  if (tab === undefined || name === "" || name.length > MAX_VIEW_NAME) return [];
  return [{ name, tab, ...restoreTableChoice(kept) }];
}

/** Saves the displayed tab as a view under a name. A view of that name is replaced in its place. */
export function saveCurrentView(state: ConsoleState, name: string): ConsoleState {
  const { tab } = state;
  const { filter, order, columns } = state.tabs[tab];
  const view = { name, tab, filter, order, columns };
  const at = state.savedViews.findIndex((one) => one.name === name);
  const savedViews = at < 0 ? [...state.savedViews, view] : state.savedViews.with(at, view);
  return { ...state, savedViews };
}

export function deleteView(state: ConsoleState, name: string): ConsoleState {
  const savedViews = state.savedViews.filter((view) => view.name !== name);
  return { ...state, savedViews, startView: state.startView === name ? undefined : state.startView };
}

/** Shows a saved view: its tab, filter, order and columns. */
export function openView(state: ConsoleState, { tab, filter, order, columns }: SavedView): ConsoleState {
  const shown = { filter, order, columns, cursor: START_CURSOR, anchor: undefined, marks: new Set<string>() };
  return {
    ...updateTab(state, shown, tab),
    tab,
    focus: "table",
    zoomed: undefined,
    detail: { top: 0 },
  };
}
