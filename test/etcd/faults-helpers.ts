import type { Op, Store, WatchBatch } from "../../src/etcd/store.ts";
import { write } from "./contract/index.ts";

export const put = (key: string, value = ""): Op => ({ op: "put", key, value });
/** Whatever is sent next: gRPC compresses what could be looked for. */
export const ANYTHING = /[\s\S]/;
let last = 0;
export const newKey = () => `/faults/${++last}`;
export const newId = () => BigInt(++last) + (1n << 40n);

/** Milliseconds that a call takes. */
export async function timed(call: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call;
  return performance.now() - start;
}

/** A watch that is known to run: it has delivered a first event. */
export async function runningWatch(
  store: Store,
  writer: Store,
  signal: AbortSignal,
): Promise<AsyncIterator<WatchBatch>> {
  const key = newKey();
  const { revision } = await write(writer, put(key));
  const watch = store.watch({ ranges: [{ key }], from: revision }, signal)[Symbol.asyncIterator]();
  await watch.next();
  return watch;
}

/** Resolves once the condition holds. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
