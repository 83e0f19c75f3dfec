import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { hash } from "../../base/hash.ts";
import type { CommandIo } from "../../commands/command.ts";
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

/** The part of the console state that is kept between sessions. */
interface ConsolePreferences {
  tab: string;
  theme: string;
  recent: readonly string[];
  sizes: UserSizes;
  watched: readonly WatchedRow[];
  explorer: { isOpen: boolean; open: readonly string[] | undefined };
  panel: { isOpen: boolean; id: string };
  /** Order and columns by tab. A filter hides rows: it does not outlive the session, except in a saved view. */
  tabs: Readonly<Record<string, Pick<TabState, "order" | "columns">>>;
  views: readonly SavedView[];
  startView: string | undefined;
}

export function toConsolePreferences({
  tab,
  tabs,
  explorer,
  panel,
  theme,
  recent,
  savedViews: views,
  startView,
  sizes,
  watched,
}: ConsoleState): ConsolePreferences {
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
    tabs: Object.fromEntries(
      TABS.map((id) => {
        const { order, columns } = tabs[id];
        return [id, { order, columns }];
      }),
    ),
  };
}

/** Restores the console state from stored preferences. Ignores values that are invalid or of another version. */
export function restoreState(kept: unknown): ConsoleState {
  const state = createInitialState();
  if (!isStoredRecord(kept)) return state;
  const explorer = isStoredRecord(kept.explorer) ? kept.explorer : {};
  const panel = isStoredRecord(kept.panel) ? kept.panel : {};
  const tabs = isStoredRecord(kept.tabs) ? kept.tabs : {};
  const { savedViews, startView } = restoreSavedViews(kept);
  const view = savedViews.find(({ name }) => name === startView);
  const restored: ConsoleState = {
    ...state,
    savedViews,
    startView,
    tab: TABS.find((id) => id === kept.tab) ?? state.tab,
    recent: Array.isArray(kept.recent) ? kept.recent.filter(isStoredText) : state.recent,
    watched: restoreWatchedRows(kept.watched),
    sizes: restoreUserSizes(kept.sizes),
    theme: typeof kept.theme === "string" ? kept.theme : state.theme,
    explorer: {
      ...state.explorer,
      isOpen: explorer.isOpen !== false,
      open: Array.isArray(explorer.open) ? new Set(explorer.open.filter(isStoredText)) : state.explorer.open,
    },
    panel: {
      ...state.panel,
      isOpen: panel.isOpen !== false,
      id: PANELS.find((id) => id === panel.id) ?? state.panel.id,
    },
    tabs: Object.fromEntries(
      TABS.map((id) => [id, { ...state.tabs[id], ...restoreTableChoice(tabs[id]), filter: "" }]),
    ) as ConsoleState["tabs"],
  };
  return view === undefined ? restored : openView(restored, view);
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

/** Writes the preferences, as a whole or not at all. Never throws: a full disk must not change how the console ends. */
export function writePreferences(path: string, kept: object): void {
  const draft = `${path}.${process.pid}`;
  try {
    makeFolder(dirname(path));
    writeFileSync(draft, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    remove(draft);
  }
}

/** Maximum number of parent folders that are created too: `~/.local/state`. */
const ABOVE = 3;

/**
 * Creates a folder and its parents. Does not use `recursive`: with it, Node never returns where the kernel allows no
 * folders, as in `/proc`.
 */
function makeFolder(path: string, above = ABOVE): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || above === 0) throw error;
    makeFolder(dirname(path), above - 1);
    mkdirSync(path, { mode: 0o700 });
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
  const { filter, order, columns } = isStoredRecord(kept) ? kept : {};
  const hasOrder = isStoredRecord(order) && isStoredText(order.column);
  return {
    filter: isStoredText(filter) ? filter : "",
    order: hasOrder ? { column: String(order.column), descending: order.descending === true } : undefined,
    columns: Array.isArray(columns) ? columns.filter(isStoredText).slice(0, MAX_COLUMNS) : undefined,
  };
}

function isStoredRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStoredText(value: unknown): value is string {
  return typeof value === "string" && value.length < 500;
}

/** Maximum number of saved views of a cluster, and of characters of a name. */
export const MAX_SAVED_VIEWS = 50;
export const MAX_VIEW_NAME = 60;

/** Restores the saved views. Ignores those that are invalid, and all but the first of a name. */
export function restoreSavedViews(
  kept: Readonly<Record<string, unknown>>,
): Pick<ConsoleState, "savedViews" | "startView"> {
  const found = (Array.isArray(kept.views) ? kept.views : []).flatMap(restoreSavedView);
  const names = new Set<string>();
  const first = found.filter(({ name }) => !names.has(name) && names.add(name));
  const savedViews = first.slice(0, MAX_SAVED_VIEWS);
  const startView = savedViews.find(({ name }) => name === kept.startView)?.name;
  return { savedViews, startView };
}

function restoreSavedView(kept: unknown): SavedView[] {
  if (!isStoredRecord(kept) || !isStoredText(kept.name)) return [];
  const tab = TABS.find((id) => id === kept.tab);
  const name = kept.name.trim();
  if (tab === undefined || name === "" || name.length > MAX_VIEW_NAME) return [];
  return [{ name, tab, ...restoreTableChoice(kept) }];
}

/** Saves what is shown under a name. A view of that name is replaced; others keep their place. */
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
