import { type Clock, type Millis, NO_LONGER_NEEDED, type WallTime } from "../core/base/clock.ts";

/**
 * Timers by id, earliest first. A heap; an entry that was moved or removed stays in the heap until it reaches the top
 * or the heap is compacted.
 */
export class TimerQueue {
  readonly #when = new Map<string, number>();
  #heap: QueuedTimer[] = [];

  /**
   * Sets or removes a timer.
   * @param at undefined removes the timer
   */
  set(id: string, at: WallTime | undefined): void {
    if (this.#when.get(id) === at) return;
    if (at === undefined || at === Infinity) {
      this.#when.delete(id);
      return;
    }
    this.#when.set(id, at);
    this.#push({ at, id });
    if (this.#heap.length > 64 && this.#heap.length > 4 * this.#when.size) this.#compact();
  }

  /** Earliest instant; undefined if no timer is set. */
  get next(): number | undefined {
    return this.#peek()?.at;
  }

  /** Removes and returns the earliest timer that is due by `now`. Timers of the same instant have no order. */
  take(now: WallTime): string | undefined {
    const top = this.#peek();
    if (top === undefined || top.at > now) return undefined;
    this.#pop();
    this.#when.delete(top.id);
    return top.id;
  }

  #peek(): QueuedTimer | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (this.#when.get(top.id) === top.at) return top;
      this.#pop();
    }
    return undefined;
  }

  #compact(): void {
    this.#heap = [...this.#when].map(([id, at]) => ({ at, id })).sort((a, b) => a.at - b.at);
  }

  #push(item: QueuedTimer): void {
    const heap = this.#heap;
    let place = heap.push(item) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as QueuedTimer;
      if (above.at <= item.at) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = item;
  }

  #pop(): void {
    const heap = this.#heap;
    const item = heap.pop();
    if (item === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && right.at < (heap[child] as QueuedTimer).at) child += 1;
      const below = heap[child] as QueuedTimer;
      if (below.at >= item.at) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = item;
  }
}

interface QueuedTimer {
  readonly at: WallTime;
  readonly id: string;
}

/** How long to wait for more causes to wake, ms. */
const WAKE_DELAY_MS = 1;

/** A sleep that `wake` ends early. */
export class InterruptibleSleep {
  readonly #clock: Clock;
  #called = Promise.withResolvers<void>();
  #isAwake = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#isAwake = true;
    this.#called.resolve();
  }

  /** Discards earlier calls of `wake`. Call it before you handle their cause. */
  reset(): void {
    if (!this.#isAwake) return;
    this.#isAwake = false;
    this.#called = Promise.withResolvers();
  }

  /** Sleeps until `wake` is called, `ms` have passed, or the signal is aborted. Never rejects. */
  async sleep(ms: Millis, signal: AbortSignal): Promise<void> {
    // What wakes a busy worker comes in crowds, such as the answers to a batch: it handles them together.
    if (this.#isAwake) return await this.#clock.sleep(WAKE_DELAY_MS, signal).catch(() => {});
    const called = this.#called;
    const over = new AbortController();
    const wake = () => this.wake();
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted) wake();
    const timer = this.#clock.sleep(ms, over.signal).catch(() => {});
    await Promise.race([timer, called.promise]);
    signal.removeEventListener("abort", wake);
    over.abort(NO_LONGER_NEEDED);
  }
}
