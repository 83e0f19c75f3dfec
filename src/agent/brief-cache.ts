import type { Clock } from "../base/clock.ts";

/** How long a value is kept, ms: the jobs of one minute share it, and those of the next minute see changes. */
const KEPT_MS = 2_000;

/** Caches values that cost system calls for a short time, because many calls arrive at the same time. */
export class BriefCache<T> {
  readonly #clock: Clock;
  readonly #values = new Map<string, T>();
  #until = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the value of a key. Reads it if it is not cached. @throws what `read` throws */
  get(key: string, read: () => T): T {
    const now = this.#clock.now();
    if (now >= this.#until) {
      this.#values.clear();
      this.#until = now + KEPT_MS;
    }
    const kept = this.#values.get(key);
    if (kept !== undefined) return kept;
    const value = read();
    this.#values.set(key, value);
    return value;
  }
}
