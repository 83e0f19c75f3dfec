import type { PanelId, TabId } from "../state/console-state.ts";
import { ConsoleTable } from "./console-table.ts";

/** Tables by where they are shown, each created on first use. A large one forgets its rows when it is no longer shown. */
export class Tables {
  readonly #tabs = new ShownTable();
  readonly #panels = new ShownTable();

  getTabTable(id: TabId): ConsoleTable {
    return this.#tabs.show(id);
  }

  /** Returns the table that a panel shows, or undefined if it shows none. */
  findPanelTable(id: PanelId): ConsoleTable | undefined {
    if (id === "problems" || id === "audit") return this.#panels.show(id);
    this.#panels.hide();
    return undefined;
  }
}

/** The tables of one place, which shows one of them at a time. */
class ShownTable {
  readonly #known = new Map<TabId, ConsoleTable>();
  #shown: ConsoleTable | undefined;

  show(id: TabId): ConsoleTable {
    const table = this.#known.get(id) ?? new ConsoleTable(id);
    this.#known.set(id, table);
    if (table !== this.#shown) this.hide();
    this.#shown = table;
    return table;
  }

  hide(): void {
    if (this.#shown?.isLarge) this.#shown.forgetRows();
    this.#shown = undefined;
  }
}
