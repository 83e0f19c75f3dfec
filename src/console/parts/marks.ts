import type { Subject } from "../../model/views/view.ts";
import type { TabState } from "../state/console-state.ts";
import { findSelectedTarget } from "./detail-lines.ts";
import { moveInFocusedPane } from "./moves.ts";
import type {
  CursorAccess,
  DetailAccess,
  LogAccess,
  SelectionAccess,
  StateAccess,
  StateUpdates,
  ThemeAccess,
  ToastAccess,
} from "./parts.ts";

type MarksParts = CursorAccess & DetailAccess & LogAccess & StateUpdates & ThemeAccess & ToastAccess;

/** Toggles the mark of the row under the cursor, and moves to the next row. */
export function toggleMark(app: MarksParts): void {
  const { table } = app;
  const key = table.getKeyAt(getActiveTabState(app).cursor.index);
  if (key === undefined) return;
  updateActiveTab(app, (tab) => {
    const marks = new Set(tab.marks);
    if (!marks.delete(key)) marks.add(key);
    return { ...tab, marks, anchor: undefined };
  });
  moveInFocusedPane(app, "down");
}

/** Starts a range at the cursor; the second time, marks all rows from there to the cursor. */
export function markRange(app: MarksParts): void {
  const { table } = app;
  const { cursor, anchor } = getActiveTabState(app);
  if (anchor === undefined) {
    updateActiveTab(app, (tab) => ({ ...tab, anchor: cursor.key }));
    const { tab } = app.state;
    const isOn = () => app.state.tab === tab && getActiveTabState(app).anchor !== undefined;
    app.showToast("range started: move to its other end and press the key again", "quiet", isOn);
    return;
  }
  const from = table.findIndex(anchor, cursor.index);
  const [first, last] =
    from < 0 ? [cursor.index, cursor.index] : [Math.min(from, cursor.index), Math.max(from, cursor.index)];
  const keys = Array.from({ length: last - first + 1 }, (_, at) => table.getKeyAt(first + at) ?? "");
  updateActiveTab(app, (tab) => ({ ...tab, marks: new Set([...tab.marks, ...keys]), anchor: undefined }));
}

export function clearMarks(app: StateUpdates): void {
  updateActiveTab(app, (tab) => ({ ...tab, marks: new Set(), anchor: undefined }));
}

/**
 * Returns what actions apply to: the row selected in the detail, otherwise the marked rows that still exist,
 * otherwise the row under the cursor.
 */
export function getChosenSubjects(app: SelectionAccess): Subject[] {
  const selected = findSelectedTarget(app)?.subject;
  if (selected !== undefined) return [selected];
  const { marks } = getActiveTabState(app);
  const own = app.getSubject();
  if (marks.size === 0) return own === undefined ? [] : [own];
  return [...marks].flatMap((key) => app.table.findSubject(key) ?? []);
}

function getActiveTabState({ state }: StateAccess): TabState {
  return state.tabs[state.tab];
}

function updateActiveTab(app: StateUpdates, to: (tab: TabState) => TabState): void {
  app.update((state) => ({ ...state, tabs: { ...state.tabs, [state.tab]: to(state.tabs[state.tab]) } }));
}
