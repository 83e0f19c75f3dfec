import { cleanToWidth } from "../../base/display-width.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { type Hint, moveInList, type Overlay, type OverlayModel, windowRows } from "../parts/overlay.ts";
import type { SavedView } from "../state/console-state.ts";
import {
  deleteView,
  MAX_SAVED_VIEWS,
  MAX_VIEW_NAME,
  openView,
  saveCurrentView,
} from "../state/preferences.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { createRow, padText, type RowModel } from "../theme/cells.ts";
import { buildFieldCells, createField, editField, type TextField } from "./field.ts";

/** Opens the list of saved views of this cluster. */
export function openSavedViews(app: ConsoleParts): void {
  app.overlays.open(new SavedViewsOverlay(app));
}

class SavedViewsOverlay implements Overlay {
  readonly #app: ConsoleParts;
  #at = 0;
  /** The name that is typed for what is shown; undefined while the list has the keyboard. */
  #naming: TextField | undefined;
  /** The view that `d` deletes if it is pressed again. */
  #deleting: string | undefined;

  constructor(app: ConsoleParts) {
    this.#app = app;
  }

  onInput(event: InputEvent): void {
    if (this.#naming !== undefined) this.#handleName(event, this.#naming);
    else if (event.kind === "key") this.#handleKey(event.chord);
    else if (event.kind === "mouse") this.#move(event.action);
    this.#app.notifyChange();
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const width = Math.min(90, available.width);
    const { savedViews } = this.#app.state;
    this.#at = Math.max(0, Math.min(this.#at, savedViews.length - 1));
    const rows = savedViews.map((view) => this.#buildRow(view, width));
    const height = Math.max(1, available.height - 3);
    return {
      title: "saved views",
      content: {
        kind: "text",
        rows: [
          ...(rows.length === 0 ? [createRow("No saved views yet. s saves what is shown.", "quiet")] : []),
          ...windowRows(rows, this.#naming === undefined ? this.#at : -1, Math.min(rows.length, height)),
          ...this.#buildNameRows(width),
        ],
      },
      hints: this.#listHints(),
      width,
      at: "middle",
    };
  }

  #listHints(): readonly Hint[] {
    if (this.#naming !== undefined)
      return [
        ["Enter", "save"],
        ["Esc", "back"],
      ];
    return [
      ["Enter", "open"],
      ["s", "save what is shown"],
      ["d", "delete"],
      ["m", "start with it"],
      ["Esc", "close"],
    ];
  }

  #buildNameRows(width: number): RowModel[] {
    if (this.#naming === undefined) return [];
    const label = "name ";
    const isKnown = this.#app.state.savedViews.some(({ name }) => name === this.#naming?.text.trim());
    const field = {
      cells: [{ text: label, role: "key" as const }, ...buildFieldCells(this.#naming, width - label.length)],
    };
    return isKnown ? [field, createRow("replaces the view of this name", "quiet")] : [field];
  }

  #buildRow({ name, tab, filter, order, columns }: SavedView, width: number): RowModel {
    const { theme, state } = this.#app;
    const isStart = name === state.startView;
    const what = [
      filter === "" ? "" : `/${filter}`,
      order === undefined ? "" : `sorted by ${order.descending ? "-" : ""}${order.column}`,
      columns === undefined ? "" : `${columns.length} columns`,
      isStart ? "at start" : "",
      name === this.#deleting ? "press d again to delete" : "",
    ].filter((text) => text !== "");
    const label = padText(cleanToWidth(name, 28), 28);
    const rest = cleanToWidth(what.join(`, `), Math.max(1, width - 44));
    return {
      cells: [
        { text: ` ${isStart ? theme.signs.marked : " "} `, role: "key" },
        { text: `${label} ` },
        { text: padText(tab, 11), role: "quiet" },
        { text: rest, role: name === this.#deleting ? "problem" : "quiet" },
      ],
    };
  }

  #handleKey(chord: string): void {
    const view = this.#app.state.savedViews[this.#at];
    const deleting = this.#deleting;
    this.#deleting = undefined;
    switch (chord) {
      case "escape":
      case "q":
      case "F":
        return this.#app.overlays.close(this);
      case "s":
        this.#naming = createField();
        return;
      case "enter":
        return view && this.#open(view);
      case "d":
      case "delete":
        return view && this.#delete(view, deleting);
      case "m":
        return view && this.#toggleStart(view);
      default:
        return this.#move(chord);
    }
  }

  #handleName(event: InputEvent, field: TextField): void {
    if (event.kind === "key" && event.chord === "escape") this.#naming = undefined;
    else if (event.kind === "key" && event.chord === "enter") this.#save(field.text.trim());
    else this.#naming = editField(field, event) ?? field;
  }

  #move(by: string): void {
    this.#at = moveInList(this.#at, this.#app.state.savedViews.length, by) ?? this.#at;
  }

  #open(view: SavedView): void {
    this.#app.overlays.close(this);
    this.#app.update((state) => openView(state, view));
    this.#app.showToast(`view ${cleanToWidth(view.name, 40)}`);
  }

  #save(name: string): void {
    const { savedViews } = this.#app.state;
    if (name === "") return;
    if (name.length > MAX_VIEW_NAME)
      return this.#app.showToast(`a name has at most ${MAX_VIEW_NAME} characters`, "problem");
    if (savedViews.length >= MAX_SAVED_VIEWS && !savedViews.some((view) => view.name === name))
      return this.#app.showToast(`there are ${MAX_SAVED_VIEWS} views; delete one first`, "problem");
    this.#app.update((state) => saveCurrentView(state, name));
    this.#at = this.#app.state.savedViews.findIndex((view) => view.name === name);
    this.#naming = undefined;
  }

  #delete({ name }: SavedView, confirmed: string | undefined): void {
    if (confirmed === name) this.#app.update((state) => deleteView(state, name));
    else this.#deleting = name;
  }

  #toggleStart({ name }: SavedView): void {
    this.#app.update((state) => ({
      ...state,
      startView: state.startView === name ? undefined : name,
    }));
  }
}
