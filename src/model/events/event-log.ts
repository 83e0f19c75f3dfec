import type { Snapshot } from "../snapshot/snapshot.ts";
import { listEventsBetween } from "./between.ts";
import type { SnapshotEvent } from "./event.ts";

/** Maximum number of events in the log. */
const LENGTH = 1_000;

/** Collects the events of consecutive snapshots. */
export class EventLog {
  /** Newest first. A new array replaces it when events are added. */
  list: readonly SnapshotEvent[] = [];
  #last: { snapshot: Snapshot; wall: number } | undefined;

  /**
   * Adds the events since the previous snapshot. Ignores a snapshot with revision 0, before the first read.
   * @param wall  wall clock, ms since the epoch
   */
  addSnapshot(snapshot: Snapshot, wall: number): void {
    const last = this.#last;
    if (snapshot.revision === 0n || last?.snapshot === snapshot) return;
    const now = Math.max(last?.wall ?? wall, wall);
    const events =
      last === undefined ? [] : listEventsBetween(last.snapshot, snapshot, { from: last.wall, to: now });
    // Without a new revision keep the old time: after a disconnect, events from that time may still arrive.
    const isNews = snapshot.revision !== last?.snapshot.revision || events.length > 0;
    this.#last = { snapshot, wall: isNews ? now : (last?.wall ?? now) };
    this.#add(events.reverse());
  }

  /** Adds a change of a row that the user watches. */
  addWatched(text: string, at: number): void {
    this.#add([{ at, kind: "watched", text: `watched  ${text}`, subject: undefined, tone: "held" }]);
  }

  #add(events: readonly SnapshotEvent[]): void {
    if (events.length > 0) this.list = [...events, ...this.list].slice(0, LENGTH);
  }
}
