import { TimerQueue } from "../timer-queue.ts";

interface SerialQueue {
  /** The states that run, on any worker, or are about to, and until when they keep the others waiting: see `update`. */
  readonly running: Map<string, number>;
  /** Those that wait until nothing runs, by their order. */
  readonly waiting: TimerQueue;
}

/**
 * Knows which serial queues are busy, so that what cannot run yet takes no slot of the worker. That only one of a queue runs at a time
 * is up to its lease: another worker may claim at the same moment.
 */
export class SerialQueues {
  readonly #queues = new Map<string, SerialQueue>();
  /** The queue of each state that runs. */
  readonly #queueOf = new Map<string, string>();

  /** Forgets all. Call it before a full read is applied. */
  clear(): void {
    this.#queues.clear();
    this.#queueOf.clear();
  }

  /**
   * Returns whether a state has to wait for others of its queue. One that keeps others waiting itself waits only for those that run.
   * @param now  wall clock, ms
   */
  isBusy(queue: string, name: string, now: number): boolean {
    const { running } = this.#get(queue);
    const own = running.get(name) ?? 0;
    return isAnyAfter(running, own > now && own < Infinity ? Number.MAX_VALUE : now);
  }

  /** Lets a state wait until its queue is free. @param order  what is least is first */
  wait(queue: string, name: string, order: number): void {
    this.#get(queue).waiting.set(name, order);
  }

  /**
   * Notes until when a state keeps the others waiting. Nothing is asked of a state in no queue, as most are.
   * @param queue  the one that it is in by its definition; undefined for none, or if it is deleted
   * @param findEnd  wall clock, ms; `Infinity`: it runs
   */
  update(name: string, queue: string | undefined, findEnd: () => number): void {
    const before = this.#queueOf.get(name);
    const wanted = before ?? queue;
    const end = wanted === undefined ? 0 : findEnd();
    const current = end > 0 ? wanted : undefined;
    if (before !== undefined) {
      this.#queueOf.delete(name);
      this.#get(before).running.delete(name);
    }
    if (current !== undefined) {
      this.#queueOf.set(name, current);
      this.#get(current).running.set(name, end);
    }
  }

  /**
   * Takes the next state of each queue that is free. Call it again soon: one that was taken before may be left to another worker.
   * @param now  wall clock, ms
   * @param isDue  whether a state can still run: those that cannot are forgotten
   */
  takeNext(now: number, isDue: (name: string) => boolean): string[] {
    const names: string[] = [];
    for (const [queue, { running, waiting }] of this.#queues) {
      if (isAnyAfter(running, now)) continue;
      let name = waiting.take(Infinity);
      while (name !== undefined && !isDue(name)) name = waiting.take(Infinity);
      if (name === undefined) this.#queues.delete(queue);
      else names.push(name);
    }
    return names;
  }

  #get(queue: string): SerialQueue {
    let known = this.#queues.get(queue);
    if (known === undefined) {
      known = { running: new Map(), waiting: new TimerQueue() };
      this.#queues.set(queue, known);
    }
    return known;
  }
}

function isAnyAfter(ends: ReadonlyMap<string, number>, instant: number): boolean {
  for (const end of ends.values()) if (end > instant) return true;
  return false;
}
