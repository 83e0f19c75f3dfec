import type { Subject } from "../../state/subject.ts";
import type { ConsoleState, TabState } from "../state/console-state.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { moveInFocusedPane } from "./moves.ts";
import { findSelectedTarget } from "./pane-lines.ts";

/** Toggles the mark of the row under the cursor, and moves to the next row. */
export function toggleMark(app: ConsoleParts): void {
  const { table } = app;
  const key = table.getKeyAt(getActiveTabState(app.state).cursor.index);
  if (key === undefined) return;
  updateActiveTab(app, (tab) => {
    const marks = new Set(tab.marks);
    if (!marks.delete(key)) marks.add(key);
    return { ...tab, marks, anchor: undefined };
  });
  moveInFocusedPane(app, "down");
}

/** Starts a range at the cursor; the second time, marks all rows from there to the cursor. */
export function markRange(app: ConsoleParts): void {
  const { table } = app;
  const { cursor, anchor } = getActiveTabState(app.state);
  if (anchor === undefined) {
    updateActiveTab(app, (tab) => ({ ...tab, anchor: cursor.key }));
    const { tab } = app.state;
    const isOn = () => app.state.tab === tab && getActiveTabState(app.state).anchor !== undefined;
    app.showToast("range started: move to its other end and press the key again", "quiet", isOn);
    return;
  }
  const from = table.findIndex(anchor, cursor.index);
  const [first, last] =
    from < 0 ? [cursor.index, cursor.index] : [Math.min(from, cursor.index), Math.max(from, cursor.index)];
  const keys = Array.from({ length: last - first + 1 }, (_, at) => table.getKeyAt(first + at) ?? "");
  updateActiveTab(app, (tab) => ({ ...tab, marks: new Set([...tab.marks, ...keys]), anchor: undefined }));
}

export function clearMarks(app: ConsoleParts): void {
  updateActiveTab(app, (tab) => ({ ...tab, marks: new Set(), anchor: undefined }));
}

/**
 * Returns what actions apply to: the row selected in the detail, otherwise the marked rows that still exist,
 * otherwise the row under the cursor.
 */
export function getChosenSubjects(app: ConsoleParts): Subject[] {
  const selected = findSelectedTarget(app)?.subject;
  if (selected !== undefined) return [selected];
  const { marks } = getActiveTabState(app.state);
  const own = app.getSubject();
  if (marks.size === 0) return own === undefined ? [] : [own];
  return [...marks].flatMap((key) => app.table.findSubject(key) ?? []);
}

function getActiveTabState(state: ConsoleState): TabState {
  return state.tabs[state.tab];
}

function updateActiveTab(app: ConsoleParts, to: (tab: TabState) => TabState): void {
  app.update((state) => ({ ...state, tabs: { ...state.tabs, [state.tab]: to(state.tabs[state.tab]) } }));
}
