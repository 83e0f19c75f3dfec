import { single } from "fuzzysort";
import { useMemo, useState } from "react";
import { COMMANDS, isRowCommandId } from "../../cli/commands/registry.ts";
import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import { clean, pluralize } from "../../core/base/text.ts";
import type { ConsoleApp } from "../console-app.ts";
import { getTabLabel } from "../data/explorer-tree.ts";
import { isLive } from "../data/live-view.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { actOnRow, chooseListedContext, goTo } from "../parts/navigation.ts";
import { buildRowAction, getCommandById } from "../parts/row-actions.ts";
import { TABS } from "../state/console-state.ts";
import { clamp } from "../state/cursor.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { createRow, padCells, type RowCell, type RowModel, truncateCells } from "../theme/Row.tsx";
import { openCommand, openDialog, openRowAction } from "./Dialog.tsx";
import { Doctor } from "./Doctor.tsx";
import { isEditKey } from "./field.ts";
import { createStateFormatter } from "./name-state.ts";
import { moveInList, OverlayFrame, useField, useKeys, useOverlay } from "./OverlayFrame.tsx";
import { travelTo } from "./Prompt.tsx";

import { buildPaletteEntries, type PaletteChoice, type PaletteEntry } from "./palette-entries.ts";
import { addRecentEntry, type SearchResult, searchPalette, splitByWords } from "./palette-search.ts";

/** Keys that move like other keys. */
const LIST_KEYS: Readonly<Record<string, string>> = {
  "ctrl+n": "down",
  tab: "down",
  "ctrl+p": "up",
  "shift+tab": "up",
};

/** The palette: finds commands, actions, views and names by a few letters, and does what a line says: `drain web1`. */
export function Palette() {
  const { app, width, room, close } = useOverlay(90);
  const [all] = useState(() => listEntries(app));
  const [describe] = useState(() => createEntryDescriber(app));
  const field = useField();
  const [cursor, setCursor] = useState(0);
  const { recent } = app.state;
  const { entries, ...query } = useMemo(
    () => searchPalette(all, field.text, recent),
    [all, field.text, recent],
  );
  const height = clamp(room.height - 3, 1, 18);
  const top = Math.max(0, cursor - height + 1);
  const choose = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    if (entry.disabled !== undefined) return app.showToast(`${entry.label}: ${entry.disabled}`, "problem");
    close();
    if (entry.choice.kind !== "travel")
      app.update((state) => ({ ...state, recent: addRecentEntry(state.recent, entry.id) }));
    runChoice(app, entry.choice);
  };
  useKeys({ enter: () => choose(entries[cursor]) }, (chord, event) => {
    if (field.edit(event)) setCursor(0);
    else if (!isEditKey(chord)) setCursor(moveInList(cursor, entries.length, LIST_KEYS[chord] ?? chord));
  });
  const shown = entries.slice(top, top + height);
  const notes = [
    ...(shown.length === 0 ? ["nothing has this name"] : []),
    ...(entries.length > shown.length ? [`${entries.length} found`] : []),
  ];
  return (
    <OverlayFrame
      title="palette"
      rows={[
        { cells: field.buildCells(width) },
        ...buildEntryRows(
          { entries: shown.map(describe), ...query },
          cursor - top,
          width,
          app.theme.signs.isAscii,
        ),
        ...notes.map((text) => createRow(text, "quiet")),
      ]}
      hints={[
        [">", "commands"],
        ["@", "names"],
        ["Enter", "choose"],
      ]}
      width={width}
      at="top"
      onPress={(row) => choose(shown[row - 1])}
    />
  );
}

function listEntries(app: ConsoleApp): PaletteEntry[] {
  return buildPaletteEntries({
    commands: COMMANDS,
    actions: app.actions,
    isReadOnly: app.isReadOnly,
    isAway: !isLive(app.liveView.connection),
    isPast: app.liveView.past !== undefined,
    hasSelection: app.getSubject() !== undefined,
    views: TABS.map((tab) => ({ tab, label: getTabLabel(tab) })),
    contexts: app.contexts.all,
    snapshot: app.liveView.snapshot,
    getKeyLabels: app.keymap.getKeyLabels,
  });
}

/** Runs a choice. A command that acts on rows is applied to the selected rows where possible. */
function runChoice(app: ConsoleApp, choice: PaletteChoice): void {
  if (choice.kind === "go") return goTo(app, choice.tab, choice.key);
  if (choice.kind === "on-row") return actOnRow(app, choice.tab, choice.key, choice.id);
  if (choice.kind === "context") return chooseListedContext(app, choice.name);
  if (choice.kind === "action") return app.act(choice.id);
  if (choice.kind === "travel") return travelTo(app, choice.time);
  const { id, args } = choice;
  if (id === "doctor") return void app.overlays.open(<Doctor />);
  if (args !== undefined)
    return openDialog(app, [{ command: getCommandById(id), args, target: args.join(" ") }]);
  const [first] = getChosenSubjects(app);
  if (isRowCommandId(id) && "command" in buildRowAction(id, first, app.liveView.snapshot))
    openRowAction(app, id);
  else openCommand(app, id);
}

/**
 * Builds the rows of entries: the icon of the kind, the label, then the detail or the reason why it cannot be chosen, and keys at
 * the right edge.
 * @param selected  index of the entry under the cursor
 * @param width     columns of every row
 */
export function buildEntryRows(
  { entries, text, words }: SearchResult,
  selected: number,
  width: number,
  isAscii = false,
): RowModel[] {
  const widest = Math.max(1, ...entries.map(({ label }) => computeDisplayWidth(label)));
  const room = Math.min(widest, Math.floor(width / 2)); // details need room too
  return entries.map(({ kind, label, detail, disabled, keys }, at) => {
    const key = keys.length === 0 ? "" : `  ${keys.slice(0, 2).join(" ")}`;
    const left = Math.max(0, width - ICON_COLUMNS - room - computeDisplayWidth(key));
    const others = words.filter((word) => !label.toLowerCase().includes(word));
    const letters = others.length === 0 ? [] : single(text, label)?.indexes;
    const reason = disabled === undefined ? undefined : `(${disabled})`;
    const cells = [
      {
        text: `${ICONS[kind][isAscii ? 1 : 0]} `,
        role: reason ? ("disabled" as const) : ("border" as const),
      },
      ...highlightWords(reason ? "disabled" : "plain", label, words, room, letters),
      ...highlightWords(reason ? "disabled" : "quiet", `  ${reason ?? detail}`, letters ? [] : others, left),
      { text: key, role: "key" as const },
    ];
    return { cells: truncateCells(cells, width), selection: at === selected ? "focused" : undefined };
  });
}

/** Builds the cells of a text, cut or padded to a number of columns. */
function highlightWords(
  role: StyleRole,
  text: string,
  words: readonly string[],
  width: number,
  letters?: readonly number[],
): readonly RowCell[] {
  const shown = cleanToWidth(text, width);
  const parts = splitByWords(
    shown,
    words,
    letters?.filter((at) => at < shown.length),
  );
  const cells = parts.map(
    ({ text: own, isMatch }): RowCell =>
      isMatch ? { text: own, role: "match", ground: role } : { text: own, role },
  );
  return padCells(cells, width);
}

/** Icons of the kinds of entries, each one column wide, and the same in ASCII. */
const ICONS: Readonly<Record<PaletteEntry["kind"], readonly [icon: string, ascii: string]>> = {
  view: ["▤", "v"],
  command: ["›", ">"],
  action: ["›", ">"],
  context: ["◎", "@"],
  group: ["▦", "G"],
  host: ["▣", "H"],
  schedule: ["◷", "S"],
  lock: ["■", "L"],
  resource: ["▥", "R"],
};

/** An icon, and the space after it. */
const ICON_COLUMNS = 2;

/** Creates what says beside an entry what it shows: the state of the object, or the number of rows. For entries in sight. */
function createEntryDescriber(app: ConsoleApp): (entry: PaletteEntry) => PaletteEntry {
  const counts = app.getTabCounts();
  const formatState = createStateFormatter(app.liveView.snapshot, app.getWallTime());
  return (entry) => {
    const { choice, name } = entry;
    if (choice.kind === "go" && choice.key === undefined && counts[choice.tab] !== undefined)
      return { ...entry, detail: `view  ${pluralize(counts[choice.tab] ?? 0, "row")}` };
    if (name === undefined) return entry;
    const [kind, text] = name;
    return { ...entry, detail: clean(`${kind}  ${formatState(kind, text)}`).trimEnd() };
  };
}
