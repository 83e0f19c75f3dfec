import type { Picture } from "../picture.ts";
import { eventsBetween } from "./between.ts";
import type { PictureEvent } from "./event.ts";

/** Events that are remembered. */
const LENGTH = 1_000;

/** What happened in one picture after the other. */
export class EventLog {
  /** The newest first; another array when something was added. */
  list: readonly PictureEvent[] = [];
  #last: { picture: Picture; wall: number } | undefined;

  /**
   * Takes the next picture; one that is of no revision yet tells nothing.
   * @param wall  wall clock, ms since the epoch
   */
  see(picture: Picture, wall: number): void {
    const last = this.#last;
    if (picture.revision === 0n || last?.picture === picture) return;
    const now = Math.max(last?.wall ?? wall, wall);
    const events =
      last === undefined ? [] : eventsBetween(last.picture, picture, { from: last.wall, to: now });
    // The same revision proves nothing: etcd may be away, and what happens meanwhile is told when it is back.
    const isNews = picture.revision !== last?.picture.revision || events.length > 0;
    this.#last = { picture, wall: isNews ? now : (last?.wall ?? now) };
    if (events.length > 0) this.list = [...events.reverse(), ...this.list].slice(0, LENGTH);
  }
}
