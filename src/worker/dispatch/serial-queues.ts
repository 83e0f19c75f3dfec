import type { WallTime } from "../../core/base/clock.ts";
import { TimerQueue } from "../timer-queue.ts";

/** The place of a state in its serial queue: those after it wait. */
interface QueuePlace {
  /** Wall clock, ms. */
  readonly until: WallTime;
  /** What is least is first. */
  readonly order: number;
}

/** The place of a state that runs, on any worker, or is about to. */
export const RUNNING_PLACE: QueuePlace = { until: Infinity, order: -Infinity };

interface SerialQueue {
  /** The places by the names of their states. */
  readonly places: Map<string, QueuePlace>;
  /** The states that wait, by their order. */
  readonly waiting: TimerQueue;
}

/**
 * Knows which serial queues are busy, so that what cannot run yet takes no slot of the worker. That only one of a queue runs at a time
 * is up to its lease: another worker may claim at the same moment.
 */
export class SerialQueues {
  readonly #queues = new Map<string, SerialQueue>();
  /** The queue of each state that has a place. */
  readonly #queueOf = new Map<string, string>();

  /** Forgets all. Call it before a full read is applied. */
  clear(): void {
    this.#queues.clear();
    this.#queueOf.clear();
  }

  /** Returns whether a state has to wait for others of its queue. */
  isBusy(queue: string, order: number, now: WallTime): boolean {
    for (const place of this.#get(queue).places.values())
      if (place.until > now && place.order < order) return true;
    return false;
  }

  /** Lets a state wait until its queue is free. @param order  what is least is first */
  wait(queue: string, name: string, order: number): void {
    this.#get(queue).waiting.set(name, order);
  }

  /**
   * Notes the place of a state. Nothing is asked of a state in no queue, as most are.
   * @param queue  the one that it is in by its definition; undefined for none, or if it is deleted
   * @param findPlace  undefined for none
   */
  update(name: string, queue: string | undefined, findPlace: () => QueuePlace | undefined): void {
    const before = this.#queueOf.get(name);
    const current = before ?? queue;
    const place = current === undefined ? undefined : findPlace();
    if (before !== undefined) {
      this.#queueOf.delete(name);
      this.#get(before).places.delete(name);
    }
    if (current !== undefined && place !== undefined) {
      this.#queueOf.set(name, current);
      this.#get(current).places.set(name, place);
    }
  }

  /**
   * Takes the next state of each queue that is free. Call it again soon: one that was taken before may be left to another worker.
   * @param isDue  whether a state can still run: those that cannot are forgotten
   */
  takeNext(now: WallTime, isDue: (name: string) => boolean): string[] {
    const names: string[] = [];
    for (const [queue, { waiting }] of this.#queues) {
      if (this.isBusy(queue, waiting.next ?? Infinity, now)) continue;
      let name = waiting.take(Infinity);
      while (name !== undefined && !isDue(name)) name = waiting.take(Infinity);
      if (name !== undefined) names.push(name);
      else if (!this.isBusy(queue, Infinity, now)) this.#queues.delete(queue);
    }
    return names;
  }

  #get(queue: string): SerialQueue {
    let known = this.#queues.get(queue);
    if (known === undefined) {
      known = { places: new Map(), waiting: new TimerQueue() };
      this.#queues.set(queue, known);
    }
    return known;
  }
}
