import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Clock, type MonotonicTime, NO_LONGER_NEEDED, subtractTime } from "../../core/base/clock.ts";

/** Pages of the heap below this many bytes are not worth a collection. */
const LEAST_RELEASED_BYTES = 64 * 2 ** 20;
/** A heap with more bytes in use takes too long to collect: the program cannot do anything else meanwhile. */
const MOST_COLLECTED_BYTES = 256 * 2 ** 20;
/** A worker without a task for this long has done its burst. */
const IDLE_MS = 10_000;
/** Tasks that make a burst. */
const LEAST_TASKS = 1_000;

/**
 * Gives memory back to the system after a burst of tasks. Node keeps the pages of its young generation, and those that its collections
 * have emptied, as long as the process lives: hundreds of megabytes with a heap of twenty. Only a collection of the kind that V8 makes
 * before it gives up for lack of memory frees them. It takes some 0.1 s, so it comes once after a burst, and not for a program
 * whose own heap is large.
 */
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

function releaseMemory(): void {
  const { total_physical_size: held, used_heap_size: used } = getHeapStatistics();
  if (held < LEAST_RELEASED_BYTES || used > MOST_COLLECTED_BYTES) return;
  getCollector()?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** Returns V8's collector; undefined under Bun and Deno, which have others. */
function getCollector(): ((options: object) => void) | undefined {
  const { gc } = globalThis as { gc?: (options: object) => void };
  if (gc !== undefined) return gc;
  try {
    setFlagsFromString("--expose-gc"); // for the context that follows only
    const collect: unknown = runInNewContext("globalThis.gc");
    setFlagsFromString("--no-expose-gc");
    return typeof collect === "function" ? (collect as (options: object) => void) : undefined;
  } catch {
    return undefined;
  }
}
