/** The watchdog of a watch: what counts as silence. */
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../fixtures/manual-clock.ts";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { MemoryStore } from "../../../src/core/etcd/memory/memory-store.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import { runWatchdog, type WatchProgress } from "../../../src/site/observe/follow.ts";

/** Runs a watchdog for some ms. @param each  called every 500 ms @returns the state of the watchdog afterwards */
async function observeWatchdog(
  ms: number,
  course: WatchProgress,
  revision: () => bigint | StoreError,
  each = () => {},
) {
  const clock = new ManualClock();
  const store = MemoryStore.create(clock);
  store.readRange = async () => {
    const now = revision();
    if (typeof now !== "bigint") throw now;
    return {
      revision: now,
      raftTerm: 1n,
      memberId: 1n,
      clusterId: 1n,
      kvs: [],
      count: 0,
      more: false,
    };
  };
  const stop = new AbortController();
  const ports = {
    store,
    keys,
    clock,
    random: { generateFraction: () => 0.5, generateBytes: () => Buffer.of() },
  };
  let end: unknown = "stands by";
  void runWatchdog({ ...ports, settings: { connectTimeout: 1 } }, course, stop.signal).catch((error) => {
    end = error;
  });
  for (let at = 0; at < ms; at += 500) {
    await clock.advance(500);
    each();
  }
  const found = end;
  stop.abort(new Error("over"));
  return found instanceof StoreError ? found.message : found;
}

describe("a watchdog", () => {
  it("goes on where nothing happens, and where the watch comes along", async () => {
    expect(await observeWatchdog(20_000, { revision: 7n, reportsProgress: true }, () => 7n)).toBe(
      "stands by",
    );
    let now = 7n;
    const course = { revision: 7n, reportsProgress: true };
    const moveOn = () => {
      course.revision = now - 3n; // always behind, and always coming along
      now += 2n;
    };
    expect(await observeWatchdog(20_000, course, () => now, moveOn)).toBe("stands by");
  });

  it("ends where etcd is ahead and the watch tells nothing: it hangs on a member that is cut off", async () => {
    const course = { revision: 7n, reportsProgress: true };
    expect(await observeWatchdog(3_500, course, () => 9n)).toBe("stands by");
    expect(await observeWatchdog(6_000, course, () => 9n)).toBe("changes are no longer reported");
  });

  it("does not wonder at a watch that never says how far it is", async () => {
    expect(await observeWatchdog(20_000, { revision: 7n, reportsProgress: false }, () => 9n)).toBe(
      "stands by",
    );
  });

  it("ends with whatever etcd says instead of an answer", async () => {
    const withdrawn = new StoreError("permission", "permission denied");
    expect(await observeWatchdog(1_500, { revision: 7n, reportsProgress: true }, () => withdrawn)).toBe(
      "permission denied",
    );
  });
});
