import type { Snapshot } from "../snapshot/snapshot.ts";
import { listEventsBetween } from "./between.ts";
import { listEarlierEvents } from "./earlier-events.ts";
import type { SnapshotEvent } from "./event.ts";

/** Maximum number of events in the log. */
const LENGTH = 1_000;

/** Collects the events of consecutive snapshots. */
export class EventLog {
  /** Newest first. A new array replaces it when events are added. */
  list: readonly SnapshotEvent[] = [];
  /** What happened before, as the first snapshot tells, newest first. */
  earlier: readonly SnapshotEvent[] = [];
  #last: { snapshot: Snapshot; wall: number } | undefined;

  /** Number of all events, earlier ones included. */
  get length(): number {
    return this.list.length + this.earlier.length;
  }

  /** Returns some of all events, newest first. */
  slice(from: number, to: number): readonly SnapshotEvent[] {
    const own = this.list.slice(from, to);
    const { length } = this.list;
    return [...own, ...this.earlier.slice(Math.max(0, from - length), Math.max(0, to - length))];
  }

  /**
   * Adds the events since the previous snapshot. Ignores a snapshot with revision 0, before the first read.
   * @param wall  wall clock, ms since the epoch
   */
  addSnapshot(snapshot: Snapshot, wall: number): void {
    const last = this.#last;
    if (snapshot.revision === 0n || last?.snapshot === snapshot) return;
    if (last === undefined) this.earlier = listEarlierEvents(snapshot, wall);
    const now = Math.max(last?.wall ?? wall, wall);
    const events =
      last === undefined ? [] : listEventsBetween(last.snapshot, snapshot, { from: last.wall, to: now });
    // Without a new revision keep the old time: after a disconnect, events from that time may still arrive.
    const isNews = snapshot.revision !== last?.snapshot.revision || events.length > 0;
    this.#last = { snapshot, wall: isNews ? now : (last?.wall ?? now) };
    if (events.length > 0) this.list = [...events.reverse(), ...this.list].slice(0, LENGTH);
  }
}
