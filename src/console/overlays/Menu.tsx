import { useState } from "react";
import { isRowCommandId } from "../../cli/commands/registry.ts";
import { shortenOwner, shortenResourceName } from "../../cli/views/columns.ts";
import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import { clean } from "../../core/base/text.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import type { Subject } from "../../site/state/subject.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { KeyAction } from "../parts/keymap.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { createSameRowCheck } from "../parts/navigation.ts";
import { buildRowAction, findChangeObstacle, formatSubjectName } from "../parts/row-actions.ts";
import { createRow, padCells, padText, type RowCell } from "../theme/Row.tsx";
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
  const lines = entries.flatMap((entry, index) =>
    index > 0 && entry.group !== entries[index - 1]?.group ? [undefined, entry] : [entry],
  );
  const separator = createRow(app.theme.signs.horizontal.repeat(width), "border");
  return (
    <ListFrame
      title={title}
      rows={lines.map((entry) => (entry ? { cells: buildEntryCells(entry, width) } : separator))}
      cursor={lines.indexOf(entries[active])}
      hints={[["Enter", "do it"]]}
      width={width}
      at={at}
      onPress={(row) => choose(lines[row])}
      onPressOutside={close}
    />
  );
}

/** Width of the column with the keys. */
const KEY_COLUMNS = 9;

function computeEntryWidth({ title, obstacle }: MenuEntry): number {
  return (
    KEY_COLUMNS +
    computeDisplayWidth(title) +
    (obstacle === undefined ? 0 : computeDisplayWidth(obstacle) + 3)
  );
}

function buildEntryCells({ key = "", title, obstacle }: MenuEntry, width: number): readonly RowCell[] {
  const start: RowCell = {
    text: padText(cleanToWidth(key, KEY_COLUMNS - 1), KEY_COLUMNS),
    role: obstacle === undefined ? "key" : "disabled",
  };
  const text = obstacle === undefined ? title : `${title} (${obstacle})`;
  const role = obstacle === undefined ? undefined : ("disabled" as const);
  return padCells([start, { text: cleanToWidth(text, width - KEY_COLUMNS), role }], width);
}

/** An action that applies to a row. */
interface MenuEntry {
  id: string;
  /** What it does to the chosen rows. Clean. */
  title: string;
  group: MenuGroup;
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

/** The groups of a menu, in their order: the likely actions, the user's own, those that show, that change, that hand on, and those that are not possible now. */
const GROUPS = ["likely", "own", "show", "change", "hand on", "not now"] as const;
type MenuGroup = (typeof GROUPS)[number];

/** What the actions do, by their group. NAME is the name of the row, and TARGET its kind and name. Others say what they do in general. */
const TITLES: Readonly<Partial<Record<MenuGroup, Readonly<Record<string, string>>>>> = {
  show: {
    open: "Open NAME",
    why: "Why does it wait",
    output: "Output of NAME, live",
    whyDidItNotRun: "Why did NAME not run",
    timeline: "Timeline of NAME",
    whatIf: "What a drain, a reset or a new total would do",
    deadLetters: "Dead letters of NAME",
    collisions: "Schedules that compete with NAME",
    raw: "Keys of NAME in etcd",
  },
  change: {
    reset: "Reset NAME",
    drain: "Drain TARGET",
    undrain: "Lift the drain of TARGET",
    edit: "Edit NAME",
    delete: "Delete TARGET",
    "schedule trigger": "Run NAME now",
    "schedule pause": "Pause NAME",
    "schedule resume": "Resume NAME",
  },
  "hand on": {
    mark: "Mark NAME, to act on several",
    notifyMe: "Watch NAME, or no longer",
    copy: "Copy the name",
    copyJson: "Copy the row as JSON",
    copyCommand: "Copy the command line for this view",
    copyRun: "Copy the command line that runs NAME again",
    pager: "Show this in the pager",
    editor: "Open this in the editor",
  },
};

/** Lists the actions that apply to the chosen rows: the likely ones first, and last those that are not possible now. */
export function listMenuEntries(inputs: MenuInputs): MenuEntry[] {
  const [first] = inputs.subjects;
  if (first === undefined) return [];
  const likely = LIKELY_ACTIONS[getAbout(first).kind];
  const getRank = ({ id, group }: MenuEntry) => [GROUPS.indexOf(group), likely.indexOf(id)] as const;
  return listEntries(inputs, first, likely).sort((one, other) => {
    const [[group, at], [otherGroup, otherAt]] = [getRank(one), getRank(other)];
    return group - otherGroup || at - otherAt;
  });
}

function listEntries(inputs: MenuInputs, first: Subject, likely: readonly string[]): MenuEntry[] {
  const several = inputs.subjects.length > 1 ? `${inputs.subjects.length} rows` : undefined;
  return inputs.actions
    .filter((action) => inputs.subjects.some((subject) => isFor(action, subject)))
    .map((action) => {
      const { id } = action;
      const obstacle = findObstacle(action, inputs);
      const own = GROUPS.find((group) => TITLES[group]?.[id] !== undefined) ?? "own";
      const { name, target } = findTarget(id, first, inputs.snapshot);
      const title = (TITLES[own]?.[id] ?? clean(action.brief))
        .replace("NAME", () => several ?? name)
        .replace("TARGET", () => several ?? target);
      const group = obstacle !== undefined ? "not now" : likely.includes(id) ? "likely" : own;
      return { id, title, group, key: inputs.getKeyLabels(id)[0], obstacle };
    });
}

/** Finds what an action on a row is about: for a command, what its arguments name. */
function findTarget(id: string, row: Subject, snapshot: Snapshot): { name: string; target: string } {
  const action = isRowCommandId(id) ? buildRowAction(id, row, snapshot) : undefined;
  const about =
    action !== undefined && "command" in action ? action.target : formatSubjectName(getAbout(row));
  const [, kind, name = about] = /^(lock|resource|host|group|run|schedule) (.+)$/s.exec(about) ?? [];
  const short = clean(kind === "host" ? shortenOwner(name) : shortenResourceName(name));
  return { name: short, target: kind === undefined ? short : `${kind} ${short}` };
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
  if (id === "undrain" && !inputs.subjects.some((subject) => isDrained(subject, inputs.snapshot)))
    return "not drained";
  if (!isRowCommandId(id)) return undefined;
  const results = inputs.subjects
    .filter((subject) => isFor(action, subject))
    .map((subject) => buildRowAction(id, subject, inputs.snapshot));
  const [first] = results;
  if (first === undefined || results.some((result) => "command" in result)) return undefined;
  return "reason" in first ? first.reason : undefined;
}

/** Whether there is a drain of a row. */
function isDrained(row: Subject, snapshot: Snapshot): boolean {
  const about = getAbout(row);
  if (about.kind === "drain") return true;
  const action = buildRowAction("undrain", about, snapshot);
  const args = "args" in action ? action.args.join(" ") : "";
  return [...snapshot.drains.values()].some(
    ({ scope, name }) => (scope === "all" ? scope : `${scope} ${name}`) === args,
  );
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
  const { titleHeight, isRight } = app.tablePane;
  const { beside, isStacked, screen, mainWidth } = layout;
  const before = isRight && beside ? beside : { width: -1, height: -1 };
  return {
    column: screen.width - mainWidth + (isStacked ? 0 : before.width + 1) + BOX_INDENT_COLUMNS,
    row: LINES_ABOVE_TABLE + (isStacked ? before.height + 1 : 0) + titleHeight + index - top,
  };
}
