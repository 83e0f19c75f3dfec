import { useEffect, useRef, useState } from "react";
import { formatSortOrder } from "../../cli/views/sort.ts";
import { cleanToWidth } from "../../core/base/display-width.ts";
import { clean, collectTexts } from "../../core/base/text.ts";
import type { ColumnChoice } from "../data/console-table.ts";
import type { Hints } from "../parts/overlays.ts";
import { type SavedView, type TabId, updateTab } from "../state/console-state.ts";
import {
  deleteView,
  MAX_SAVED_VIEWS,
  MAX_VIEW_NAME,
  openView,
  saveCurrentView,
} from "../state/preferences.ts";
import { createRow, padText, type RowModel, useTheme } from "../theme/Row.tsx";
import { ListFrame, OverlayFrame, useField, useKeys, useListCursor, useOverlay } from "./OverlayFrame.tsx";
import { Prompt } from "./Prompt.tsx";

const LIST_HINTS: Hints = [
  ["Enter", "open"],
  ["s", "save what is shown"],
  ["d", "delete"],
  ["m", "start with it"],
];

export function SavedViews() {
  const { app, width, close } = useOverlay(90);
  const { savedViews, startView } = app.state;
  const { signs } = useTheme();
  const [at, move, setAt] = useListCursor(savedViews.length);
  /** The view that `d` deletes if it is pressed again. */
  const [deleting, setDeleting] = useState<string>();
  const view = savedViews[at];
  const open = () => {
    if (view === undefined) return;
    close();
    app.update((state) => openView(state, view));
    app.showToast(`view ${cleanToWidth(view.name, 40)}`);
  };
  const remove = () => {
    if (view !== undefined && deleting === view.name) app.update((state) => deleteView(state, view.name));
    setDeleting(deleting === view?.name ? undefined : view?.name);
  };
  const toggleStart = () => {
    setDeleting(undefined);
    app.update((state) => ({ ...state, startView: startView === view?.name ? undefined : view?.name }));
  };
  const save = (text: string) => {
    const name = text.trim();
    const known = savedViews.findIndex((one) => one.name === name);
    if (name === "") return "type a name";
    if (name.length > MAX_VIEW_NAME) return `a name has at most ${MAX_VIEW_NAME} characters`;
    if (savedViews.length >= MAX_SAVED_VIEWS && known < 0)
      return `there are ${MAX_SAVED_VIEWS} views; delete one first`;
    app.update((state) => saveCurrentView(state, name));
    setAt(known < 0 ? savedViews.length : known);
    return undefined;
  };
  const askName = () => {
    setDeleting(undefined);
    const note = "the name of the view; one of this name is replaced";
    app.overlays.open(<Prompt title="save what is shown" note={note} verb="save" onSubmit={save} />);
  };
  useKeys(
    { q: close, F: close, s: askName, enter: open, d: remove, delete: remove, m: toggleStart },
    (chord) => {
      setDeleting(undefined);
      move(chord);
    },
  );
  const rows = savedViews.map((savedView) =>
    buildViewRow(savedView, { width, startView, deleting, mark: signs.marked }),
  );
  return (
    <ListFrame
      title="saved views"
      head={rows.length === 0 ? [createRow("No saved views yet. s saves what is shown.", "quiet")] : []}
      rows={rows}
      cursor={at}
      hints={LIST_HINTS}
      width={width}
    />
  );
}

interface ViewRowLook {
  width: number;
  startView: string | undefined;
  deleting: string | undefined;
  /** The sign before the view to start with. */
  mark: string;
}

function buildViewRow(
  { name, tab, filter, order, columns }: SavedView,
  { width, startView, deleting, mark }: ViewRowLook,
): RowModel {
  const isStart = name === startView;
  const what = collectTexts([
    filter !== "" && `/${filter}`,
    order && `sorted by ${formatSortOrder(order)}`,
    columns && `${columns.length} columns`,
    isStart && "at start",
    name === deleting && "press d again to delete",
  ]);
  return {
    cells: [
      { text: ` ${isStart ? mark : " "} `, role: "key" },
      { text: `${padText(cleanToWidth(name, 28), 28)} ` },
      { text: padText(tab, 11), role: "quiet" },
      {
        text: cleanToWidth(what.join(", "), Math.max(1, width - 44)),
        role: name === deleting ? "problem" : "quiet",
      },
    ],
  };
}

const STATES: Readonly<Record<ColumnChoice["state"], string>> = {
  shown: "",
  "too narrow": "hidden: too narrow",
  "no values": "hidden: no values",
  off: "",
};

/** The columns of the active tab. The table behind the list changes with each choice. */
export function Columns({ tab }: { tab: TabId }) {
  const { app, room, close } = useOverlay();
  const { signs } = useTheme();
  const choices = new Map(
    app.table.listColumnChoices(app.state.tabs[tab].columns).map((choice) => [choice.id, choice]),
  );
  /** Ids in the order of the list. Columns keep their place while they are off. */
  const [ids, setIds] = useState<readonly string[]>(() => [...choices.keys()]);
  const [at, move, setAt] = useListCursor(ids.length);
  const store = (columns: readonly string[] | undefined) =>
    app.update((state) => updateTab(state, { columns }, tab));
  const isOn = (id: string) => choices.get(id)?.isOn === true;
  const toggle = () => {
    const on = ids.filter((id, index) => isOn(id) !== (index === at));
    if (on.length === 0) return app.showToast("a table has at least one column", "problem");
    store(on);
  };
  const shift = (by: 1 | -1) => {
    const [id, other] = [ids[at], ids[at + by]];
    if (id === undefined || other === undefined) return;
    const moved = ids.with(at, other).with(at + by, id);
    setIds(moved);
    setAt(at + by);
    store(moved.filter(isOn));
  };
  const reset = () => {
    store(undefined);
    setIds(app.table.listDefaultColumns());
  };
  useKeys(
    {
      enter: close,
      q: close,
      o: close,
      space: toggle,
      "shift+up": () => shift(-1),
      K: () => shift(-1),
      "shift+down": () => shift(1),
      J: () => shift(1),
      r: reset,
    },
    move,
  );
  const rows = ids.flatMap((id): RowModel[] => {
    const choice = choices.get(id);
    return choice === undefined ? [] : [buildChoiceRow(choice, signs.marked)];
  });
  return (
    <ListFrame
      title={`columns of ${tab}`}
      rows={rows}
      cursor={at}
      hints={[
        ["Space", "show"],
        ["K J", "move"],
        ["r", "reset"],
      ]}
      width={Math.min(56, room.width)}
    />
  );
}

function buildChoiceRow({ title, isOn, state }: ColumnChoice, mark: string): RowModel {
  return {
    cells: [
      { text: ` ${isOn ? mark : " "} `, role: "key" },
      { text: `${padText(clean(title), 14)} `, role: isOn ? "plain" : "quiet" },
      { text: STATES[state], role: "quiet" },
    ],
  };
}

/**
 * Time between the last letter and the filtering of rows, ms. With 100,000 rows, filtering takes longer than a key
 * press.
 */
const FILTER_PAUSE_MS = 60;

const BLANK_CELL = { text: " " };

/** The filter of the active tab. The rows follow while the user types. */
export function Filter({ tab }: { tab: TabId }) {
  const { app, room, close } = useOverlay();
  const [before] = useState(app.state.tabs[tab].filter);
  const field = useField(before);
  const timer = useRef<NodeJS.Timeout>(undefined);
  const apply = (filter: string) => app.update((state) => updateTab(state, { filter: filter.trim() }, tab));
  const end = (filter: string) => {
    clearTimeout(timer.current);
    apply(filter);
    close();
  };
  const fault = app.table.checkFilter(field.text);
  const keep = () => {
    if (fault === undefined) end(field.text);
  };
  // Keep the rows while the filter is invalid: most filters are invalid before they are complete.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `apply` is a new function for every frame
  useEffect(() => {
    timer.current = setTimeout(() => fault === undefined && apply(field.text), FILTER_PAUSE_MS);
    return () => clearTimeout(timer.current);
  }, [field.text, fault]);
  useKeys({ escape: () => end(before), enter: keep, down: keep }, (_, event) => field.edit(event));
  const found = `${app.table.length} of ${app.getTabCounts()[tab] ?? app.table.length}`;
  const cells = field.buildCells(Math.max(10, room.width - found.length - 4));
  return (
    <OverlayFrame
      title={`filter ${tab}`}
      rows={[
        {
          cells: [
            { text: "/", role: "key" },
            BLANK_CELL,
            ...cells,
            BLANK_CELL,
            { text: found, role: "quiet" },
          ],
        },
        ...(fault === undefined ? [] : [createRow(fault, "problem")]),
      ]}
      hints={[
        ["host: state: !word /re/ wait:>5m", "narrow"],
        ["Enter", "keep"],
      ]}
      escape="cancel"
      width={room.width}
      at="bottom"
    />
  );
}
