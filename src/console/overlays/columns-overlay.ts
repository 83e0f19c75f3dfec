import { clean } from "../../base/text.ts";
import type { ColumnChoice } from "../data/console-table.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { moveInList, type Overlay, type OverlayModel, windowRows } from "../parts/overlay.ts";
import type { TabId } from "../state/console-state.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { padText, type RowModel } from "../theme/cells.ts";

/** Opens the list of the active tab's columns. The table behind it follows. */
export function openColumns(app: ConsoleParts): void {
  app.overlays.open(new ColumnsOverlay(app));
}

const STATES: Readonly<Record<ColumnChoice["state"], string>> = {
  shown: "",
  "too narrow": "hidden: too narrow",
  "no values": "hidden: no values",
  off: "",
};

class ColumnsOverlay implements Overlay {
  readonly #app: ConsoleParts;
  readonly #tab: TabId;
  /** Ids in the order of the list. Columns keep their place while they are off. */
  #ids: readonly string[];
  #at = 0;

  constructor(app: ConsoleParts) {
    this.#app = app;
    this.#tab = app.state.tab;
    this.#ids = app.table.listColumnChoices(app.state.tabs[this.#tab].columns).map(({ id }) => id);
  }

  onInput(event: InputEvent): void {
    if (event.kind === "mouse") return this.#handleMove(event.action);
    if (event.kind !== "key") return;
    switch (event.chord) {
      case "escape":
      case "enter":
      case "q":
      case "o":
        return this.#app.overlays.close(this);
      case "space":
        return this.#toggle();
      case "shift+up":
      case "K":
        return this.#shift(-1);
      case "shift+down":
      case "J":
        return this.#shift(1);
      case "r":
        return this.#reset();
      default:
        return this.#handleMove(event.chord);
    }
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const choices = this.#listChoices();
    const width = Math.min(56, available.width);
    const rows = choices.map((choice) => this.#buildRow(choice));
    return {
      title: `columns of ${this.#tab}`,
      content: { kind: "text", rows: windowRows(rows, this.#at, Math.min(rows.length, available.height)) },
      hints: [
        ["Space", "show"],
        ["K J", "move"],
        ["r", "reset"],
        ["Esc", "close"],
      ],
      width,
      at: "middle",
    };
  }

  #buildRow({ title, isOn, state }: ColumnChoice): RowModel {
    const { signs } = this.#app.theme;
    return {
      cells: [
        { text: ` ${isOn ? signs.marked : " "} `, role: "key" },
        { text: `${padText(clean(title), 14)} `, role: isOn ? "plain" : "quiet" },
        { text: STATES[state], role: "quiet" },
      ],
    };
  }

  #listChoices(): ColumnChoice[] {
    // The state, not the last frame: several keys may arrive before the next one.
    const { table, state } = this.#app;
    const choices = table.listColumnChoices(state.tabs[this.#tab].columns);
    const byId = new Map(choices.map((choice) => [choice.id, choice]));
    return this.#ids.flatMap((id) => byId.get(id) ?? []);
  }

  #handleMove(by: string): void {
    this.#at = moveInList(this.#at, this.#ids.length, by) ?? this.#at;
    this.#app.notifyChange();
  }

  #toggle(): void {
    const id = this.#ids[this.#at];
    const on = new Set(this.#listOn());
    if (id === undefined) return;
    if (!on.delete(id)) on.add(id);
    if (on.size === 0) return this.#app.showToast("a table has at least one column", "problem");
    this.#store(this.#ids.filter((one) => on.has(one)));
  }

  #shift(by: 1 | -1): void {
    const to = this.#at + by;
    const [id, other] = [this.#ids[this.#at], this.#ids[to]];
    if (id === undefined || other === undefined) return;
    const on = new Set(this.#listOn());
    this.#ids = this.#ids.with(this.#at, other).with(to, id);
    this.#at = to;
    this.#store(this.#ids.filter((one) => on.has(one)));
  }

  #reset(): void {
    this.#store(undefined);
    this.#ids = this.#app.table.listDefaultColumns();
  }

  #listOn(): string[] {
    return this.#listChoices().flatMap(({ id, isOn }) => (isOn ? [id] : []));
  }

  #store(columns: readonly string[] | undefined): void {
    const tab = this.#tab;
    this.#app.update((state) => ({
      ...state,
      tabs: { ...state.tabs, [tab]: { ...state.tabs[tab], columns } },
    }));
  }
}
