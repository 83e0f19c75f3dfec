import { type ActionableSubject, type Subject, toActionable } from "../../site/state/subject.ts";
import type { ConsoleApp } from "../console-app.ts";
import { updateTab } from "../state/console-state.ts";
import { refuseForRow } from "./navigation.ts";
import { findSelectedTarget } from "./pane-lines.ts";

/** Toggles the mark of the row under the cursor. */
export function toggleMark(app: ConsoleApp): void {
  const { table } = app;
  const { cursor, marks } = app.tabState;
  const key = table.getKeyAt(cursor.index);
  if (key === undefined) return;
  const toggled = new Set(marks);
  if (!toggled.delete(key)) toggled.add(key);
  app.update((state) => updateTab(state, { marks: toggled, anchor: undefined }));
}

/** Starts a range at the cursor; the second time, marks all rows from there to the cursor. */
export function markRange(app: ConsoleApp): void {
  const { table } = app;
  const { cursor, anchor, marks } = app.tabState;
  if (anchor === undefined) {
    app.update((state) => updateTab(state, { anchor: cursor.key }));
    const { tab } = app.state;
    const isOn = () => app.state.tab === tab && app.tabState.anchor !== undefined;
    app.showToast("range started: move to its other end and press the key again", "quiet", isOn);
    return;
  }
  const from = table.findIndex(anchor, cursor.index);
  const [first, last] =
    from < 0 ? [cursor.index, cursor.index] : [Math.min(from, cursor.index), Math.max(from, cursor.index)];
  const keys = Array.from({ length: last - first + 1 }, (_, at) => table.getKeyAt(first + at) ?? "");
  app.update((state) => updateTab(state, { marks: new Set([...marks, ...keys]), anchor: undefined }));
}

export function clearMarks(app: ConsoleApp): void {
  app.update((state) => updateTab(state, { marks: new Set(), anchor: undefined }));
}

/**
 * Returns the subjects that actions apply to: the row selected in the detail, the selected part of a picture, otherwise the marked rows that still
 * exist, otherwise the row under the cursor.
 */
export function getChosenSubjects(app: ConsoleApp): Subject[] {
  const selected = findSelectedTarget(app)?.subject;
  if (selected !== undefined) return [selected];
  const { marks } = app.tabState;
  const own = app.getSubject();
  if (marks.size === 0 || app.tablePane.picturePart !== undefined) return own === undefined ? [] : [own];
  return [...marks].flatMap((key) => app.table.findSubject(key) ?? []);
}

/**
 * Returns the subject of the first chosen row if it has one of some kinds. Otherwise shows what can be selected.
 * @param convert  converts a subject of another kind
 */
export function chooseSubject<K extends Subject["kind"]>(
  app: ConsoleApp,
  kinds: readonly K[],
  refusal: string,
  convert: (subject: ActionableSubject) => Subject | undefined = (subject) => subject,
): (Subject & { kind: K }) | undefined {
  const about = toActionable(getChosenSubjects(app)[0]);
  const found = about && convert(about);
  if (isOfKind(found, kinds)) return found;
  refuseForRow(app, refusal);
  return undefined;
}

function isOfKind<K extends Subject["kind"]>(
  subject: Subject | undefined,
  kinds: readonly K[],
): subject is Subject & { kind: K } {
  return kinds.some((kind) => kind === subject?.kind);
}

/** Returns the lock or the resource in whose queue a run was found. */
export function toQueueSubject(subject: ActionableSubject): ActionableSubject | undefined {
  return subject.kind === "run" ? subject.queue : subject;
}
