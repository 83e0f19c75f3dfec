import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Pages of the heap below this many bytes are not worth a collection. */
const LEAST_RELEASED_BYTES = 64 * 2 ** 20;
/** A heap with more bytes in use takes too long to collect: the program cannot do anything else meanwhile. */
const MOST_COLLECTED_BYTES = 256 * 2 ** 20;

/**
 * Gives memory back to the system. Call it after much work, when no more is expected soon. Node keeps pages of its heap that nothing
 * uses any more until the process ends: hundreds of megabytes, where twenty are in use. Only the collection that V8 makes before it
 * fails for lack of memory frees them. It takes some 0.1 s for each 50 MB in use, so a large heap is left alone.
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
