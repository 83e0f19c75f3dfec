import { useState } from "react";
import { isRowCommandId } from "../../cli/commands/registry.ts";
import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import type { Subject } from "../../site/state/subject.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { KeyAction } from "../parts/keymap.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { createSameRowCheck } from "../parts/navigation.ts";
import { buildRowAction, findChangeObstacle, formatSubjectName } from "../parts/row-actions.ts";
import { padCells, padText, type RowCell } from "../theme/Row.tsx";
import { ListFrame, moveInList, type OverlayPlace, useKeys, useOverlay } from "./OverlayFrame.tsx";

/**
 * Opens the menu of the chosen rows: every action that applies to them, with its key, the likely ones first.
 * @param at  where the pointer is; without it, the menu opens next to the row
 */
export function openMenu(app: ConsoleApp, at?: OverlayPlace): void {
  const subjects = getChosenSubjects(app);
  const [first] = subjects;
  if (first === undefined) return app.showToast("nothing is selected", "quiet", createSameRowCheck(app));
  const title = subjects.length === 1 ? formatSubjectName(first) : `${subjects.length} rows`;
  app.overlays.open(<Menu title={title} at={at ?? findRowPlace(app)} />);
}

function Menu({ title, at }: { title: string; at: OverlayPlace }) {
  const { app, room, close } = useOverlay();
  // Computed for every frame, because the possible actions can change at any time.
  const entries = listMenuEntries({
    actions: app.actions,
    subjects: getChosenSubjects(app),
    snapshot: app.liveView.snapshot,
    changeObstacle: findChangeObstacle(app),
    getKeyLabels: app.keymap.getKeyLabels,
  });
  /** The id of the entry under the cursor. Not its index, because entries may appear while the menu is open. */
  const [chosen, setChosen] = useState(() => entries.find(({ obstacle }) => obstacle === undefined)?.id);
  const active = Math.max(
    0,
    entries.findIndex(({ id }) => id === chosen),
  );
  const choose = (entry: MenuEntry | undefined) => {
    if (entry === undefined) return;
    setChosen(entry.id);
    if (entry.obstacle !== undefined) return app.showToast(entry.obstacle, "problem");
    close();
    app.act(entry.id);
  };
  useKeys({ enter: () => choose(entries[active]) }, (chord) => {
    const id = app.keymap.findAction(chord, "list") ?? chord;
    if (id === "menu") return close();
    setChosen(entries[moveInList(active, entries.length, id)]?.id);
    choose(entries.find((entry) => entry.id === id));
  });
  const width = Math.min(room.width, Math.max(24, ...entries.map(computeEntryWidth)));
  return (
    <ListFrame
      title={title}
      rows={entries.map((entry) => ({ cells: buildEntryCells(entry, width) }))}
      cursor={active}
      hints={[["Enter", "do it"]]}
      width={width}
      at={at}
      onPress={(row) => choose(entries[row])}
      onPressOutside={close}
    />
  );
}

/** Width of the column with the keys. */
const KEY_COLUMNS = 9;

function computeEntryWidth({ brief, obstacle }: MenuEntry): number {
  return (
    KEY_COLUMNS +
    computeDisplayWidth(brief) +
    (obstacle === undefined ? 0 : computeDisplayWidth(obstacle) + 3)
  );
}

function buildEntryCells({ key = "", brief, obstacle }: MenuEntry, width: number): readonly RowCell[] {
  const start: RowCell = {
    text: padText(cleanToWidth(key, KEY_COLUMNS - 1), KEY_COLUMNS),
    role: obstacle === undefined ? "key" : "disabled",
  };
  const text = obstacle === undefined ? brief : `${brief} (${obstacle})`;
  const role = obstacle === undefined ? undefined : ("disabled" as const);
  return padCells([start, { text: cleanToWidth(text, width - KEY_COLUMNS), role }], width);
}

/** An action that applies to a row. */
interface MenuEntry {
  id: string;
  brief: string;
  /** As displayed; undefined if no key is bound to it. */
  key: string | undefined;
  /** Why it is not possible now; undefined if it is. */
  obstacle: string | undefined;
}

/** The inputs of the entries. */
interface MenuInputs {
  actions: readonly KeyAction[];
  /** The chosen rows; an action applies if it applies to one of them. */
  subjects: readonly Subject[];
  snapshot: Snapshot;
  /** Why nothing can be changed now. */
  changeObstacle: string | undefined;
  getKeyLabels(id: string): readonly string[];
}

/** The likely actions of a row, by its kind. The others follow in the order of the help. */
const LIKELY_ACTIONS: Readonly<Record<Subject["kind"], readonly string[]>> = {
  lock: ["open", "why", "reset", "drain", "undrain", "output", "timeline"],
  resource: ["open", "why", "reset", "drain", "undrain", "edit", "timeline"],
  run: ["open", "why", "output", "reset"],
  host: ["open", "drain", "undrain", "timeline"],
  group: ["open", "drain", "undrain", "edit"],
  drain: ["undrain", "open"],
  schedule: [
    "schedule trigger",
    "schedule resume",
    "schedule pause",
    "deadLetters",
    "edit",
    "output",
    "whyDidItNotRun",
  ],
  record: ["open"],
};

/** Lists the actions that apply to the chosen rows: the likely ones first, and last those that are not possible now. */
export function listMenuEntries(inputs: MenuInputs): MenuEntry[] {
  const [first] = inputs.subjects;
  const likely = first === undefined ? [] : LIKELY_ACTIONS[getAbout(first).kind];
  const entries = listEntries(inputs);
  const getRank = ({ id, obstacle }: MenuEntry) => {
    const at = likely.indexOf(id);
    return (obstacle === undefined ? 0 : entries.length) + (at < 0 ? likely.length : at);
  };
  return entries.sort((one, other) => getRank(one) - getRank(other));
}

function listEntries(inputs: MenuInputs): MenuEntry[] {
  return inputs.actions
    .filter((action) => inputs.subjects.some((subject) => isFor(action, subject)))
    .map((action) => ({
      id: action.id,
      brief: action.brief,
      key: inputs.getKeyLabels(action.id)[0],
      obstacle: findObstacle(action, inputs),
    }));
}

/** Returns the subject that actions apply to. For a record, that is the object which it is about. */
function getAbout(subject: Subject): Subject {
  return subject.kind === "record" ? (subject.about ?? subject) : subject;
}

/** Whether an action applies to rows of this kind. */
function isFor({ rows }: KeyAction, subject: Subject): boolean {
  return rows === "any" || (rows?.includes(getAbout(subject).kind) ?? false);
}

function findObstacle(action: KeyAction, inputs: MenuInputs): string | undefined {
  const { id, isChange } = action;
  if (isChange && inputs.changeObstacle !== undefined) return inputs.changeObstacle;
  if (id === "deadLetters") {
    const names = inputs.subjects.map((subject) => getAbout(subject).name);
    return names.some((name) => inputs.snapshot.dues.get(name)?.value?.dead) ? undefined : "there are none";
  }
  if (!isRowCommandId(id)) return undefined;
  const results = inputs.subjects
    .filter((subject) => isFor(action, subject))
    .map((subject) => buildRowAction(id, subject, inputs.snapshot));
  const [first] = results;
  if (first === undefined || results.some((result) => "command" in result)) return undefined;
  return "reason" in first ? first.reason : undefined;
}

/** Lines above the table: header and tabs. */
const LINES_ABOVE_TABLE = 2;
/**
 * Columns between the edge of the table and a box next to a row, so that the mark and the beginning of the name stay
 * visible.
 */
const BOX_INDENT_COLUMNS = 12;

/** Returns where the row under the cursor is on the screen; the middle if it is not on the screen. */
function findRowPlace(app: ConsoleApp): OverlayPlace {
  const layout = app.getLayout();
  if (layout?.table === undefined || app.state.focus !== "table") return "middle";
  const { index, top } = app.tabState.cursor;
  const { titleHeight, isRight } = app.view;
  const { beside, isStacked, screen, mainWidth } = layout;
  const before = isRight && beside ? beside : { width: -1, height: -1 };
  return {
    column: screen.width - mainWidth + (isStacked ? 0 : before.width + 1) + BOX_INDENT_COLUMNS,
    row: LINES_ABOVE_TABLE + (isStacked ? before.height + 1 : 0) + titleHeight + index - top,
  };
}
