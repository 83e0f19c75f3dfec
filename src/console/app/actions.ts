import { clean } from "../../base/text.ts";
import { openCreate, openDeed, openDelete, openEdit } from "../overlay/deeds.ts";
import { openFilter } from "../overlay/filter.ts";
import { openHelp } from "../overlay/help.ts";
import { openWhy } from "../overlay/output.ts";
import { openPalette } from "../overlay/palette.ts";
import { PANES, type State } from "../state/state.ts";
import { THEMES } from "../theme/theme.ts";
import type { App } from "./app.ts";
import { copyCommand, copyJson, copyName, copyRun } from "./copying.ts";
import { focusNext, focusOn, nextTab } from "./focus.ts";
import { mark, range, unmark } from "./marks.ts";
import { move } from "./moves.ts";
import { onRows } from "./on-rows.ts";
import { open, unfold } from "./open.ts";
import { reverse, sortNext } from "./sorting.ts";

const DEEDS = [
  ...(["reset", "release", "drain", "undrain"] as const),
  ...(["schedule pause", "schedule resume", "schedule trigger"] as const),
];

/** What the console does for every action that is not a command. */
export const HANDLERS: Readonly<Record<string, (app: App) => void>> = {
  palette: openPalette,
  filter: openFilter,
  help: openHelp,
  quit: (app) => quit(app),
  redraw: (app) => app.redraw(),
  suspend: (app) => app.suspend(),
  nextPane: (app) => focusNext(app, 1),
  previousPane: (app) => focusNext(app, -1),
  ...Object.fromEntries(PANES.map((pane, at) => [`pane${at + 1}`, (app: App) => focusOn(app, pane)])),
  pane5: showJobs,
  jobs: showJobs,
  nextTab: (app) => nextTab(app, 1),
  previousTab: (app) => nextTab(app, -1),
  explorer: (app) =>
    app.update(({ explorer, ...state }) => ({
      ...{ ...state, explorer: { ...explorer, isOpen: !explorer.isOpen } },
      focus: explorer.isOpen && state.focus === "explorer" ? "table" : state.focus,
    })),
  panel: (app) =>
    app.update(({ panel, ...state }) => ({
      ...{ ...state, panel: { ...panel, isOpen: !panel.isOpen } },
      focus: panel.isOpen && state.focus === "panel" ? "table" : state.focus,
    })),
  zoom: (app) =>
    app.update((state) => ({ ...state, zoomed: state.zoomed === undefined ? state.focus : undefined })),
  reread: (app) => {
    app.sight.reread();
    app.toast("reading everything again");
  },
  theme: (app) => {
    const next = THEMES[(THEMES.indexOf(app.theme.name) + 1) % THEMES.length] ?? "dark";
    app.update((state) => ({ ...state, theme: next }));
    app.toast(`theme ${next}`);
  },
  back: (app) => app.update(back),
  ...Object.fromEntries(
    ["up", "down", "top", "bottom", "pageUp", "pageDown"].map((id) => [id, (app: App) => move(app, id)]),
  ),
  left: (app) => unfold(app, false),
  right: (app) => unfold(app, true),
  open,
  ...{ unmark, sort: sortNext, reverse, create: openCreate },
  ...mapped({ mark, range, copy: copyName, copyJson, copyCommand, copyRun }, onRows),
  ...mapped({ why: openWhy, edit: openEdit, delete: openDelete }, onRows),
  ...Object.fromEntries(DEEDS.map((id) => [id, onRows((app) => openDeed(app, id))])),
};

function mapped<T>(all: Readonly<Record<string, T>>, change: (one: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(all).map(([id, one]) => [id, change(one)]));
}

/** Jobs end with the console: whoever has some under way is asked once. */
function quit(app: App): void {
  const [first, ...more] = app.jobs.running;
  if (first === undefined || app.state.toast?.asks === "quit") return app.quit();
  const what = more.length === 0 ? `${clean(first.title, 24)} is` : `${more.length + 1} jobs are`;
  app.toast(`${what} under way, and would be left: again to quit`, "problem");
  app.update(({ toast, ...state }) => ({ ...state, toast: toast && { ...toast, asks: "quit" } }));
}

function showJobs(app: App): void {
  app.update((state) => ({ ...state, panel: { ...state.panel, id: "jobs", isOpen: true } }));
  focusOn(app, "panel");
}

/** Takes back the last of what is in the way: the zoom, a range, marks, the filter, the keyboard elsewhere. */
function back(state: State): State {
  const tab = state.tabs[state.tab];
  const withTab = (change: Partial<typeof tab>): State => ({
    ...state,
    tabs: { ...state.tabs, [state.tab]: { ...tab, ...change } },
  });
  if (state.zoomed !== undefined) return { ...state, zoomed: undefined };
  if (state.focus !== "table") return { ...state, focus: "table" };
  if (tab.anchor !== undefined) return withTab({ anchor: undefined });
  if (tab.marks.size > 0) return withTab({ marks: new Set() });
  if (tab.filter !== "") return withTab({ filter: "" });
  return state;
}
