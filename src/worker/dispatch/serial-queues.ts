import { TimerQueue } from "../timer-queue.ts";

interface SerialQueue {
  /** Names of the states that run, on any worker, or are about to. */
  readonly running: Set<string>;
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

  isBusy(queue: string): boolean {
    return (this.#queues.get(queue)?.running.size ?? 0) > 0;
  }

  /** Lets a state wait until its queue is free. @param order  what is least is first */
  wait(queue: string, name: string, order: number): void {
    this.#get(queue).waiting.set(name, order);
  }

  /**
   * Notes whether a state runs. Nothing is asked of a state in no queue, as most are.
   * @param queue  the one that it is in by its definition; undefined for none, or if it is deleted
   */
  update(name: string, queue: string | undefined, isRunning: () => boolean): void {
    const before = this.#queueOf.get(name);
    const wanted = before ?? queue;
    const current = wanted !== undefined && isRunning() ? wanted : undefined;
    if (current === before) return;
    if (before !== undefined) {
      this.#queueOf.delete(name);
      this.#get(before).running.delete(name);
    }
    if (current !== undefined) {
      this.#queueOf.set(name, current);
      this.#get(current).running.add(name);
    }
  }

  /**
   * Takes the next state of each queue that is free. Call it again soon: one that was taken before may be left to another worker.
   * @param isDue  whether a state can still run: those that cannot are forgotten
   */
  takeNext(isDue: (name: string) => boolean): string[] {
    const names: string[] = [];
    for (const [queue, { running, waiting }] of this.#queues) {
      if (running.size > 0) continue;
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
      known = { running: new Set(), waiting: new TimerQueue() };
      this.#queues.set(queue, known);
    }
    return known;
  }
}
