import type { Subject } from "../../model/tables/view.ts";
import type { TabState } from "../state/state.ts";
import type { App } from "./app.ts";
import { move } from "./moves.ts";

/** Marks the row under the cursor, or takes its mark away, and goes on to the next. */
export function mark(app: App): void {
  const { table } = app;
  const key = table.keyAt(current(app).cursor.index);
  if (key === undefined) return;
  change(app, (tab) => {
    const marks = new Set(tab.marks);
    if (!marks.delete(key)) marks.add(key);
    return { ...tab, marks, anchor: undefined };
  });
  move(app, "down");
}

/** Begins a range at the cursor; the second time, marks all rows from there to the cursor. */
export function range(app: App): void {
  const { table } = app;
  const { cursor, anchor } = current(app);
  if (anchor === undefined) {
    change(app, (tab) => ({ ...tab, anchor: cursor.key }));
    app.toast("a range begins here: go to its other end and press the key again");
    return;
  }
  const from = table.indexOf(anchor, cursor.index);
  const [first, last] =
    from < 0 ? [cursor.index, cursor.index] : [Math.min(from, cursor.index), Math.max(from, cursor.index)];
  const keys = Array.from({ length: last - first + 1 }, (_, at) => table.keyAt(first + at) ?? "");
  change(app, (tab) => ({ ...tab, marks: new Set([...tab.marks, ...keys]), anchor: undefined }));
  app.toast(`${keys.length} rows marked`);
}

export function unmark(app: App): void {
  change(app, (tab) => ({ ...tab, marks: new Set(), anchor: undefined }));
}

/** What actions are done to: the marked rows that are still there, or the one under the cursor. */
export function chosen(app: App): Subject[] {
  const { marks } = current(app);
  const own = app.subject();
  if (marks.size === 0) return own === undefined ? [] : [own];
  return [...marks].flatMap((key) => app.table.subjectOf(key) ?? []);
}

function current({ state }: App): TabState {
  return state.tabs[state.tab];
}

function change(app: App, to: (tab: TabState) => TabState): void {
  app.update((state) => ({ ...state, tabs: { ...state.tabs, [state.tab]: to(state.tabs[state.tab]) } }));
}
