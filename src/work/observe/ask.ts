import { StoreError } from "../../etcd/store.ts";
import type { ObserverPorts } from "./ports.ts";

/** A question that has no answer after this counts as unanswered, ms. */
const PATIENCE = 1_500;

/** What a question costs and proves. */
export interface Answer {
  /** Round trip, ms. */
  ms: number;
  /** That of etcd when it was asked, or a later one. */
  revision: bigint;
}

/**
 * Asks etcd one cheap linearizable question: one key, without its value. The member that answers has made sure, after it was
 * asked, that a majority still follows the same leader. So an answer proves that changes can be made and that `revision` is
 * of now; one member that was cut off from the others, and still serves what it knew, cannot give it. It says nothing of
 * what watches have delivered.
 * @throws StoreError `unavailable` when there is no answer within 1.5 s, whatever calls wait for elsewhere
 */
export async function ask({ store, keys, clock }: ObserverPorts, signal: AbortSignal): Promise<Answer> {
  const stop = new AbortController();
  const over = new AbortController();
  const late = () => stop.abort(new StoreError("unavailable", `no answer within ${PATIENCE} ms`));
  void clock.sleep(PATIENCE, over.signal).then(late, () => {}); // rejected: it was answered
  const start = clock.now();
  try {
    const either = AbortSignal.any([signal, stop.signal]);
    const { revision } = await store.range({ key: keys.prefix, keysOnly: true, limit: 1 }, either);
    return { ms: clock.now() - start, revision };
  } finally {
    over.abort();
  }
}
