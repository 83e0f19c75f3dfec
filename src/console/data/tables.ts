import type { PanelId, TabId } from "../state/console-state.ts";
import { ConsoleTable } from "./console-table.ts";

/** Tables by where they are shown, each created on first use. */
export class Tables {
  readonly #known = new Map<string, ConsoleTable>();

  getTabTable(id: TabId): ConsoleTable {
    return this.#getOrCreate(`tab ${id}`, id);
  }

  /** Returns the table that a panel shows, or undefined if it shows none. */
  findPanelTable(id: PanelId): ConsoleTable | undefined {
    return id === "problems" || id === "audit" ? this.#getOrCreate(`panel ${id}`, id) : undefined;
  }

  #getOrCreate(key: string, id: TabId): ConsoleTable {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const table = new ConsoleTable(id);
    this.#known.set(key, table);
    return table;
  }
}
