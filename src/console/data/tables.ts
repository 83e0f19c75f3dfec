import type { PanelId, TabId } from "../state/console-state.ts";
import { ConsoleTable } from "./console-table.ts";

/** A larger table is computed again when its tab is shown again, instead of being kept: it may need 50 MB. */
const MOST_KEPT_ROWS = 20_000;

/** Tables by where they are shown, each created on first use. */
export class Tables {
  readonly #known = new Map<string, ConsoleTable>();
  #shown: TabId | undefined;

  getTabTable(id: TabId): ConsoleTable {
    if (this.#shown !== undefined && id !== this.#shown) this.#forgetLarge(this.#shown);
    this.#shown = id;
    return this.#getOrCreate(`tab ${id}`, id);
  }

  /** Returns the table that a panel shows, or undefined if it shows none. */
  findPanelTable(id: PanelId): ConsoleTable | undefined {
    return id === "problems" || id === "audit" ? this.#getOrCreate(`panel ${id}`, id) : undefined;
  }

  #forgetLarge(id: TabId): void {
    const key = `tab ${id}`;
    if ((this.#known.get(key)?.length ?? 0) > MOST_KEPT_ROWS) this.#known.delete(key);
  }

  #getOrCreate(key: string, id: TabId): ConsoleTable {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const table = new ConsoleTable(id);
    this.#known.set(key, table);
    return table;
  }
}
