import type { Subject } from "../../model/views/view.ts";
import { findSelectedTarget } from "../parts/detail-lines.ts";
import type { ConsoleControls, ConsoleData } from "../parts/parts.ts";
import { type TabState, updateTab } from "../state/console-state.ts";
import { moveInFocusedPane } from "./moves.ts";

/** Toggles the mark of the row under the cursor, and moves to the next row. */
export function toggleMark(app: ConsoleControls): void {
  const { table } = app;
  const key = table.getKeyAt(getActiveTabState(app).cursor.index);
  if (key === undefined) return;
  const marks = new Set(getActiveTabState(app).marks);
  if (!marks.delete(key)) marks.add(key);
  updateActiveTab(app, { marks, anchor: undefined });
  moveInFocusedPane(app, "down");
}

/** Starts a range at the cursor; the second time, marks all rows from there to the cursor. */
export function markRange(app: ConsoleControls): void {
  const { table } = app;
  const { cursor, anchor, marks } = getActiveTabState(app);
  if (anchor === undefined) {
    updateActiveTab(app, { anchor: cursor.key });
    const { tab } = app.state;
    const isOn = () => app.state.tab === tab && getActiveTabState(app).anchor !== undefined;
    app.showToast("range started: move to its other end and press the key again", "quiet", isOn);
    return;
  }
  const from = table.findIndex(anchor, cursor.index);
  const [first, last] =
    from < 0 ? [cursor.index, cursor.index] : [Math.min(from, cursor.index), Math.max(from, cursor.index)];
  const keys = Array.from({ length: last - first + 1 }, (_, at) => table.getKeyAt(first + at) ?? "");
  updateActiveTab(app, { marks: new Set([...marks, ...keys]), anchor: undefined });
}

export function clearMarks(app: ConsoleControls): void {
  updateActiveTab(app, { marks: new Set(), anchor: undefined });
}

/**
 * Returns what actions apply to: the row selected in the detail, otherwise the marked rows that still exist,
 * otherwise the row under the cursor.
 */
export function getChosenSubjects(app: ConsoleData): Subject[] {
  const selected = findSelectedTarget(app)?.subject;
  if (selected !== undefined) return [selected];
  const { marks } = getActiveTabState(app);
  const own = app.getSubject();
  if (marks.size === 0) return own === undefined ? [] : [own];
  return [...marks].flatMap((key) => app.table.findSubject(key) ?? []);
}

function getActiveTabState({ state }: ConsoleData): TabState {
  return state.tabs[state.tab];
}

function updateActiveTab(app: ConsoleControls, change: Partial<TabState>): void {
  app.update((state) => updateTab(state, state.tab, change));
}
