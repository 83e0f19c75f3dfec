import { cleanToWidth } from "../../base/display-width.ts";
import { ROW_COMMANDS } from "../../commands/registry/registry.ts";
import { focusNext, focusOn, switchTab } from "../navigation/focus.ts";
import { clearMarks, markRange, toggleMark } from "../navigation/marks.ts";
import { moveInFocusedPane } from "../navigation/moves.ts";
import { openCollisions } from "../overlays/collisions/collisions-overlay.ts";
import { openCreate, openDelete, openEdit, openRowAction } from "../overlays/dialog/open-dialog.ts";
import { openFilter } from "../overlays/filter.ts";
import { openHelp } from "../overlays/help.ts";
import { openLiveOutput } from "../overlays/live-output.ts";
import { openPalette } from "../overlays/palette/palette-overlay.ts";
import { openTimeline } from "../overlays/timeline/open-timeline.ts";
import { openWhatIf } from "../overlays/what-if/what-if-overlay.ts";
import { openWhyNowOrThen, openWhyThen } from "../overlays/why-then/open-why-then.ts";
import type {
  ActionRunner,
  ClockAccess,
  CursorAccess,
  DialogPorts,
  JobAccess,
  LogAccess,
  SelectionAccess,
  StateUpdates,
  TerminalControl,
  ToastAccess,
} from "../parts/parts.ts";
import type { ConsoleState } from "../state/console-state.ts";
import { THEMES } from "../theme/theme.ts";
import { copyCommand, copyJson, copyName, copyRun } from "./copying.ts";
import type { KeyActionId } from "./keys/key-actions.ts";
import { openSelected, unfold } from "./open.ts";
import { reverseSort, sortByNextColumn } from "./sorting.ts";
import { wrapRowAction } from "./wrap-row-action.ts";

type ActionParts = ActionRunner &
  ClockAccess &
  CursorAccess &
  DialogPorts &
  LogAccess &
  SelectionAccess &
  TerminalControl;
type ActionHandler = (app: ActionParts) => void;

/** Handlers of all actions, by id: the console's own and those of row commands. */
export const ACTION_HANDLERS: Readonly<Record<KeyActionId, ActionHandler>> = {
  palette: openPalette,
  filter: openFilter,
  help: openHelp,
  quit: (app) => quit(app),
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
    app.liveView.reread();
    const { snapshot } = app.liveView;
    app.showToast("reading everything again", "quiet", () => app.liveView.snapshot === snapshot);
  },
  theme: (app) => {
    const next = THEMES[(THEMES.indexOf(app.theme.name) + 1) % THEMES.length] ?? "dark";
    app.update((state) => ({ ...state, theme: next }));
    app.showToast(`theme ${next}`);
  },
  back: (app) => app.update(goBack),
  ...createHandlers(
    ["up", "down", "top", "bottom", "pageUp", "pageDown"],
    (id) => (app) => moveInFocusedPane(app, id),
  ),
  left: (app) => unfold(app, false),
  right: (app) => unfold(app, true),
  open: openSelected,
  ...{ unmark: clearMarks, sort: sortByNextColumn, reverse: reverseSort, create: openCreate },
  ...{ mark: wrapRowAction<ActionParts>(toggleMark), range: wrapRowAction<ActionParts>(markRange) },
  ...{ copy: wrapRowAction(copyName), copyJson: wrapRowAction(copyJson) },
  ...{ copyCommand: wrapRowAction(copyCommand), copyRun: wrapRowAction(copyRun) },
  ...{
    why: wrapRowAction<ActionParts>(openWhyNowOrThen),
    whyDidItNotRun: wrapRowAction<ActionParts>(openWhyThen),
    timeline: wrapRowAction<ActionParts>(openTimeline),
    whatIf: wrapRowAction<ActionParts>(openWhatIf),
    collisions: (app: ActionParts) => openCollisions(app),
    output: showOutput,
    edit: wrapRowAction(openEdit),
    delete: wrapRowAction(openDelete),
  },
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

/** Unfolds in the explorer, as in vi: its lines have no output. */
function showOutput(app: ActionParts): void {
  if (app.state.focus === "explorer") unfold(app, true);
  else wrapRowAction<ActionParts>(openLiveOutput)(app);
}

/** Quits. Jobs end with the console, so if any are running, the user must press the key again to confirm. */
function quit(app: JobAccess & StateUpdates & TerminalControl & ToastAccess): void {
  const [first, ...more] = app.jobs.running;
  if (first === undefined || app.state.toast?.asks === "quit") return app.quit();
  const what = more.length === 0 ? `${cleanToWidth(first.title, 24)} is` : `${more.length + 1} jobs are`;
  app.showToast(`${what} running; press again to quit anyway`, "problem", () => app.jobs.running.length > 0);
  app.update(({ toast, ...state }) => ({ ...state, toast: toast && { ...toast, asks: "quit" } }));
}

function showJobs(app: StateUpdates): void {
  app.update((state) => ({ ...state, panel: { ...state.panel, id: "jobs", isOpen: true } }));
  focusOn(app, "panel");
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
