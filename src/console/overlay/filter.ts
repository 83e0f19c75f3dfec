import type { App } from "../app/app.ts";
import { edit } from "../field/edit.ts";
import { type Field, fieldOf } from "../field/field.ts";
import type { InputEvent } from "../input/event.ts";
import type { TabId } from "../state/state.ts";
import { fieldLine } from "./field-line.ts";
import type { Overlay, OverlayPicture } from "./overlay.ts";

/** Rows are filtered so long after the last letter, ms: at a hundred thousand of them, that takes longer than a key. */
const SETTLE = 60;

/** Asks what the rows of the active tab must have; they follow while one types. */
export function openFilter(app: App): void {
  app.overlays.open(new FilterOverlay(app, app.state.tab));
}

class FilterOverlay implements Overlay {
  readonly #app: App;
  readonly #tab: TabId;
  readonly #before: string;
  #field: Field;
  #timer: NodeJS.Timeout | undefined;

  constructor(app: App, tab: TabId) {
    this.#app = app;
    this.#tab = tab;
    this.#before = app.state.tabs[tab].filter;
    this.#field = fieldOf(this.#before);
  }

  onInput(event: InputEvent): void {
    if (event.kind === "key" && event.chord === "escape")
      return this.#end(this.#before === "" ? "" : this.#before);
    if (event.kind === "key" && (event.chord === "enter" || event.chord === "down"))
      return this.#end(this.#field.text);
    const next = edit(this.#field, event);
    if (next === undefined) return;
    this.#field = next;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#apply(this.#field.text), SETTLE);
    this.#app.changed();
  }

  paint({ width }: { width: number }): OverlayPicture {
    const { theme, table, state } = this.#app;
    const found = `${table.length} of ${this.#app.counts()[state.tab] ?? table.length}`;
    const line = fieldLine(theme, this.#field, Math.max(10, width - found.length - 4));
    return {
      title: `filter ${this.#tab}`,
      lines: [`${theme.style("key", "/")} ${line} ${theme.style("quiet", found)}`],
      hints: [
        ["host: state: holder:", "narrow"],
        ["Enter", "keep"],
        ["Esc", "as before"],
      ],
      ...{ width, at: "bottom" },
    };
  }

  onClose(): void {
    clearTimeout(this.#timer);
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
