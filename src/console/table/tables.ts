import type { PanelId, TabId } from "../state/state.ts";
import { type Table, tableOf } from "./table.ts";

/** Tables by where they stand, each made when it is first looked at. */
export class Tables {
  readonly #known = new Map<string, Table>();

  tab(id: TabId): Table {
    return this.#of(`tab ${id}`, id);
  }

  /** The table that a panel shows; undefined for one that shows no table. */
  panel(id: PanelId): Table | undefined {
    return id === "problems" || id === "audit" ? this.#of(`panel ${id}`, id) : undefined;
  }

  #of(key: string, id: TabId): Table {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const table = tableOf(id);
    this.#known.set(key, table);
    return table;
  }
}
