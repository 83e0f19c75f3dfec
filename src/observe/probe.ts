import { OVER } from "../base/wait.ts";
import { StoreError } from "../etcd/store.ts";
import type { ObserverPorts } from "./ports.ts";

/** Timeout of a probe, ms. */
const PATIENCE = 1_500;

/** The result of a probe. */
export interface ProbeAnswer {
  /** Round trip, ms. */
  ms: number;
  /** The revision of etcd when the probe was sent, or a later one. */
  revision: bigint;
}

/**
 * Sends one cheap linearizable read: one key, without its value. Before the member answers, it confirms that a majority
 * still follows the same leader. So an answer proves that changes are possible and that `revision` is current; a member
 * that is cut off from the others, and still serves its own data, cannot answer. The probe says nothing about what
 * watches have delivered.
 * @throws StoreError `unavailable` when there is no answer within 1.5 s, independent of other timeouts
 */
export async function probeEtcd(
  { store, keys, clock }: ObserverPorts,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const stop = new AbortController();
  const over = new AbortController();
  const abortLate = () => stop.abort(new StoreError("unavailable", `no answer within ${PATIENCE} ms`));
  void clock.sleep(PATIENCE, over.signal).then(abortLate, () => {}); // rejected: the answer arrived
  const start = clock.now();
  try {
    const either = AbortSignal.any([signal, stop.signal]);
    const { revision } = await store.readRange({ key: keys.prefix, keysOnly: true, limit: 1 }, either);
    return { ms: clock.now() - start, revision };
  } finally {
    over.abort(OVER);
  }
}
