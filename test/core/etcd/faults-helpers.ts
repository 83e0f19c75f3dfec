import { put, write } from "../../../fixtures/etcd/store-calls.ts";
import { startStopwatch } from "../../../fixtures/steady.ts";
import type { Store } from "../../../src/core/etcd/store.ts";
import type { WatchBatch } from "../../../src/core/protocol/txn.ts";

/** Matches any request, because gRPC compresses the bytes that could be matched. */
export const ANYTHING = /[\s\S]/;
let last = 0;
export const createKey = () => `/faults/${++last}`;
export const createId = () => BigInt(++last) + (1n << 40n);

/** Maximum duration of a call that must not wait for the deadline of an attempt, and that much longer deadline, ms. */
export const [AT_ONCE, NEVER] = [20_000, 600_000];

/** Milliseconds that a call takes; those in which this process stood still do not count. */
export async function measureCall(call: Promise<unknown>): Promise<number> {
  const elapsed = startStopwatch();
  await call;
  return elapsed();
}

/** A watch that is known to run: it has delivered a first event. */
export async function startWatch(
  store: Store,
  writer: Store,
  { signal } = new AbortController(),
): Promise<AsyncIterator<WatchBatch>> {
  const key = createKey();
  const { revision } = await write(writer, put(key));
  const watch = store.watch({ ranges: [{ key }], from: revision }, signal)[Symbol.asyncIterator]();
  await watch.next();
  return watch;
}

/** Resolves once the condition holds. */
export async function waitForCondition(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
