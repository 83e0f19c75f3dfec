import { addMs, type Clock, type MonotonicTime, subtractTime, type WallTime } from "../base/clock.ts";
import type { QueueEntry } from "../protocol/ticket.ts";

/** When a mark whose ticket has vanished may be removed; undefined: now. */
export type RemovalTimes = ReadonlyMap<string, WallTime | undefined>;

/**
 * The vanished tickets that a process has read, and when it has read each one first. The mark of such a ticket may be removed
 *
 * - if the linearizable read that shows it states the raft term in which its session was granted, and none has stated a
 *   later one: no other leader knows the session, so the one that has granted it has counted its time; or
 * - when the time to live has passed since the first such read was received: no renewal counts afterwards.
 */
export class VanishedTickets {
  readonly #clock: Clock;
  /** When a mark was first read without its ticket, by its key. */
  readonly #firstRead = new Map<string, MonotonicTime>();
  /** The newest raft term of all reads. A member that was restored from a snapshot states an old one for a while. */
  #term = 0n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Records a read, and computes when the marks in it may be removed. A mark never gets its ticket back.
   * @param entries   of the marks, those that the read shows without their tickets
   * @param raftTerm  stated by the answer, which must be to a linearizable read
   */
  update(entries: readonly Pick<QueueEntry, "key" | "vanished">[], raftTerm: bigint): RemovalTimes {
    const now = this.#clock.now();
    if (raftTerm > this.#term) this.#term = raftTerm;
    const times = new Map<string, WallTime | undefined>();
    for (const { key, vanished } of entries) {
      if (vanished === undefined) continue;
      const firstRead = this.#firstRead.get(key) ?? now;
      this.#firstRead.set(key, firstRead);
      const left =
        vanished.term === this.#term ? 0 : subtractTime(addMs(firstRead, vanished.ttl * 1000), now);
      times.set(key, left <= 0 ? undefined : this.#clock.getWallTime() + left);
    }
    return times;
  }
}
