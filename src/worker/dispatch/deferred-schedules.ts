import type { WallTime } from "../../core/base/clock.ts";
import { TimerQueue } from "../timer-queue.ts";

/** Schedules that the same workers come first for. */
interface DeferredGroup {
  readonly id: string;
  readonly before: readonly string[];
  /** By name: since when its occurrence has been open. */
  readonly openSince: Map<string, WallTime>;
  /** When to consider the group. */
  at: WallTime;
}

/** Returns when an occurrence may be claimed at the earliest for which these workers come first. */
type ComputeTurn = (before: readonly string[], openSince: WallTime) => WallTime;

/**
 * Schedules that are due, and that this worker leaves to others. Those with the same workers before them wait as one group: as long as
 * these are late and claim one occurrence after the other, only the time of the group changes.
 */
export class DeferredSchedules {
  readonly #computeTurn: ComputeTurn;
  readonly #groups = new Map<string, DeferredGroup>();
  readonly #groupOf = new Map<string, DeferredGroup>();
  readonly #timers = new TimerQueue();

  constructor(computeTurn: ComputeTurn) {
    this.#computeTurn = computeTurn;
  }

  add(name: string, before: readonly string[], openSince: WallTime): void {
    this.delete(name);
    const group = this.#getOrCreateGroup(before);
    group.openSince.set(name, openSince);
    this.#groupOf.set(name, group);
    this.#setTime(group, Math.min(group.at, this.#computeTurn(before, openSince)));
  }

  delete(name: string): void {
    this.#groupOf.get(name)?.openSince.delete(name);
    this.#groupOf.delete(name);
  }

  /** When to call `take`; undefined if no schedule waits. */
  get next(): WallTime | undefined {
    return this.#timers.next;
  }

  /** Removes and returns all schedules of each group in which at least one may be claimed now. */
  take(now: WallTime): string[] {
    const names: string[] = [];
    for (let id = this.#timers.take(now); id !== undefined; id = this.#timers.take(now)) {
      const group = this.#groups.get(id) as DeferredGroup;
      const at = this.#computeTurn(group.before, findEarliest(group));
      if (at > now && group.openSince.size > 0) this.#setTime(group, at);
      else {
        this.#groups.delete(id);
        for (const name of group.openSince.keys()) {
          this.#groupOf.delete(name);
          names.push(name);
        }
      }
    }
    return names;
  }

  #setTime(group: DeferredGroup, at: WallTime): void {
    group.at = at;
    this.#timers.set(group.id, at);
  }

  #getOrCreateGroup(before: readonly string[]): DeferredGroup {
    const id = before.join();
    const group = this.#groups.get(id) ?? { id, before, openSince: new Map(), at: Infinity };
    this.#groups.set(id, group);
    return group;
  }
}

function findEarliest({ openSince }: DeferredGroup): WallTime {
  let earliest = Infinity;
  for (const since of openSince.values()) earliest = Math.min(earliest, since);
  return earliest;
}
