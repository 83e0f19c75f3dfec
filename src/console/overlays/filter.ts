import type { ConsoleParts } from "../parts/console-parts.ts";
import type { Overlay, OverlayModel } from "../parts/overlay.ts";
import type { TabId } from "../state/console-state.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { createRow } from "../theme/cells.ts";
import { buildFieldCells, createField, editField, type TextField } from "./field.ts";

/**
 * Time between the last letter and the filtering of rows, ms. With 100,000 rows, filtering takes longer than a key
 * press.
 */
const SETTLE = 60;

const BLANK = { text: " " };

/** Opens the filter of the active tab. The rows follow while the user types. */
export function openFilter(app: ConsoleParts): void {
  app.overlays.open(new FilterOverlay(app, app.state.tab));
}

class FilterOverlay implements Overlay {
  readonly #app: ConsoleParts;
  readonly #tab: TabId;
  readonly #before: string;
  #field: TextField;
  #timer: NodeJS.Timeout | undefined;

  constructor(app: ConsoleParts, tab: TabId) {
    this.#app = app;
    this.#tab = tab;
    this.#before = app.state.tabs[tab].filter;
    this.#field = createField(this.#before);
  }

  onInput(event: InputEvent): void {
    if (event.kind === "key" && event.chord === "escape") return this.#end(this.#before);
    if (event.kind === "key" && (event.chord === "enter" || event.chord === "down"))
      return this.#findFault() === undefined ? this.#end(this.#field.text) : undefined;
    const next = editField(this.#field, event);
    if (next === undefined) return;
    this.#field = next;
    clearTimeout(this.#timer);
    // The rows stay while what is typed cannot be used: most filters are wrong before they are complete.
    if (this.#findFault() === undefined)
      this.#timer = setTimeout(() => this.#apply(this.#field.text), SETTLE);
    this.#app.notifyChange();
  }

  buildModel({ width }: { width: number }): OverlayModel {
    const { table, state } = this.#app;
    const found = `${table.length} of ${this.#app.getTabCounts()[state.tab] ?? table.length}`;
    const field = buildFieldCells(this.#field, Math.max(10, width - found.length - 4));
    const fault = this.#findFault();
    return {
      title: `filter ${this.#tab}`,
      content: {
        kind: "filter",
        row: {
          cells: [{ text: "/", role: "key" }, BLANK, ...field, BLANK, { text: found, role: "quiet" }],
        },
        fault: fault === undefined ? undefined : createRow(fault, "problem"),
      },
      hints: [
        ["host: state: !word /re/ wait:>5m", "narrow"],
        ["Enter", "keep"],
        ["Esc", "cancel"],
      ],
      width,
      at: "bottom",
    };
  }

  onClose(): void {
    clearTimeout(this.#timer);
  }

  #findFault(): string | undefined {
    return this.#app.table.checkFilter(this.#field.text);
  }

  #end(filter: string): void {
    this.#apply(filter);
    this.#app.overlays.close(this);
  }

  #apply(filter: string): void {
    this.#app.update((state) => ({
      ...state,
      tabs: { ...state.tabs, [this.#tab]: { ...state.tabs[this.#tab], filter: filter.trim() } },
    }));
  }
}
