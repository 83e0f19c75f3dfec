import { type Clock, type MonotonicTime, NO_LONGER_NEEDED, subtractTime } from "../../core/base/clock.ts";
import { releaseMemory } from "../../core/process/release-memory.ts";

/** A worker without a task for this long has done its burst. */
const IDLE_MS = 10_000;
/** Tasks that make a burst. */
const LEAST_TASKS = 1_000;

/** Gives memory back to the system once after each burst of tasks. */
export class MemoryRelease {
  readonly #clock: Clock;
  readonly #isIdle: () => boolean;
  readonly #over = new AbortController();
  #count = 0;
  #lastEnd: MonotonicTime;
  #isWaiting = false;

  constructor(clock: Clock, isIdle: () => boolean) {
    this.#clock = clock;
    this.#isIdle = isIdle;
    this.#lastEnd = clock.now();
  }

  /** Call it when a task has ended. */
  handleEnd(): void {
    this.#count += 1;
    this.#lastEnd = this.#clock.now();
    if (this.#count < LEAST_TASKS || this.#isWaiting) return;
    this.#isWaiting = true;
    void this.#releaseWhenIdle().catch(() => {}); // closed
  }

  /** Ends the wait. */
  close(): void {
    this.#over.abort(NO_LONGER_NEEDED);
  }

  async #releaseWhenIdle(): Promise<void> {
    let left = IDLE_MS;
    while (left > 0) {
      await this.#clock.sleep(left, this.#over.signal);
      left = this.#isIdle() ? IDLE_MS - subtractTime(this.#clock.now(), this.#lastEnd) : IDLE_MS;
    }
    this.#count = 0;
    this.#isWaiting = false;
    releaseMemory();
  }
}
