import { setTimeout as pause } from "node:timers/promises";
import { connect, type Held } from "../../../src/library/index.ts";
import type { BenchCluster } from "../bench-cluster.ts";
import { GrowthSeries } from "./growth-series.ts";

/** Waiters that are started at the same time. */
const AT_ONCE = 10;
/** Hand-overs at each size, and those before that are not measured. */
const HAND_OVERS = 30;
const WARM_UP = 5;
/** How long a new waiter may take to read the queue, ms: its coming is not what is measured. */
const ARRIVAL_MS = 100;
const LOCK = "bench-growth";

/** A waiter that holds the lock now. */
interface Grant {
  held: Held;
  at: number;
}

/** Measures the time from a release until the next waiter of a program holds the lock, by the number of waiters. */
export async function measureWaiters(
  cluster: BenchCluster,
  sizes: readonly number[],
): Promise<GrowthSeries[]> {
  const times = new GrowthSeries("time from a release to the next holder, ms", "constant");
  const signalbox = await connect({ endpoints: [...cluster.endpoints], connectTimeout: "60s", env: {} });
  const over = new AbortController();
  let granted = Promise.withResolvers<Grant>();
  let waiters = -1; // the first one gets the lock
  const startWaiter = () => {
    const claim = { lock: LOCK, wait: true, ttl: "10m", history: false, signal: over.signal };
    signalbox.acquire(claim).then(
      (held) => granted.resolve({ held, at: performance.now() }),
      (error: unknown) => over.signal.aborted || granted.reject(error),
    );
  };
  const addWaiters = async (count: number) => {
    for (let left = count; left > 0; left -= AT_ONCE) {
      const some = Math.min(left, AT_ONCE);
      for (let started = 0; started < some; started += 1) startWaiter();
      waiters += some;
      // etcd visits all keys to count them, so this is asked once for many.
      while ((await cluster.countKeys(`/signalbox/locks/${LOCK}/`)) <= waiters) await pause(10);
    }
  };
  await addWaiters(1);
  let { held } = await granted.promise;
  try {
    for (const size of sizes) {
      await addWaiters(size - waiters);
      for (let handOver = 0; handOver < WARM_UP + HAND_OVERS; handOver += 1) {
        granted = Promise.withResolvers<Grant>();
        waiters -= 1;
        const from = performance.now();
        const [grant] = await Promise.all([granted.promise, held.release()]);
        ({ held } = grant);
        if (handOver >= WARM_UP) times.add(size, grant.at - from);
        await addWaiters(1);
        await pause(ARRIVAL_MS);
      }
    }
  } finally {
    over.abort(new Error("all is measured"));
    await signalbox.close();
  }
  return [times];
}
