import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Pages of the heap below this many bytes are not worth a collection. */
const LEAST_RELEASED_BYTES = 64 * 2 ** 20;
/** A heap with more bytes in use takes too long to collect: the program cannot do anything else meanwhile. */
const MOST_COLLECTED_BYTES = 256 * 2 ** 20;

/**
 * Gives memory back to the system, after much was done that will not come again soon. Node keeps the pages of its young generation,
 * and those that its collections have emptied, as long as the process lives: hundreds of megabytes with a heap of twenty. Only a
 * collection of the kind that V8 makes before it gives up for lack of memory frees them. It takes some 0.1 s for each 50 MB in use,
 * so it is not for a program whose own heap is large.
 */
export function releaseMemory(): void {
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
