import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import { getWatchId, type WatchedRow } from "../state/watched-rows.ts";
import { describeWatchedRow } from "./describe-watched.ts";

/** Minimum time between two notifications, ms. What happens meanwhile is told together. */
const PAUSE = 2_000;

/** What there is to tell. */
export interface AlertNews {
  /** One line; several changes are counted. */
  text: string;
  /** All changes, for the log. */
  changes: readonly string[];
}

/** Notices changes of watched rows. */
export class Alerts {
  readonly #marks = new Map<string, string>();
  #source: { snapshot: Snapshot; watched: readonly WatchedRow[] } | undefined;
  #pending: string[] = [];
  #toldAt = Number.NEGATIVE_INFINITY;

  /**
   * Compares the watched rows with what was seen before. A row that is new in the list is only remembered.
   * @param now  monotonic clock, ms
   * @returns what to tell now, if anything
   */
  check(
    watched: readonly WatchedRow[],
    snapshot: Snapshot,
    wall: number,
    now: number,
  ): AlertNews | undefined {
    if (this.#source?.snapshot !== snapshot || this.#source.watched !== watched)
      this.#compare(watched, snapshot, wall);
    if (this.#pending.length === 0 || now - this.#toldAt < PAUSE) return undefined;
    this.#toldAt = now;
    const changes = this.#pending;
    this.#pending = [];
    const [first = ""] = changes;
    return {
      text: changes.length === 1 ? first : `${changes.length} changes, last: ${changes.at(-1)}`,
      changes,
    };
  }

  #compare(watched: readonly WatchedRow[], snapshot: Snapshot, wall: number): void {
    this.#source = { snapshot, watched };
    const ids = new Set(watched.map(getWatchId));
    for (const id of this.#marks.keys()) if (!ids.has(id)) this.#marks.delete(id);
    for (const row of watched) {
      const { text, mark } = describeWatchedRow(row, snapshot, wall);
      const id = getWatchId(row);
      const before = this.#marks.get(id);
      this.#marks.set(id, mark);
      if (before !== undefined && before !== mark) this.#pending.push(text);
    }
  }
}
