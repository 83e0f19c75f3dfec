import { StoreError } from "../../etcd/store.ts";
import type { ObserverPorts } from "./ports.ts";

/** Whole seconds left and granted; undefined: the session is gone; null: it could not be asked. */
export type Beat = { left: number; ttl: number } | undefined | null;

/** Sessions asked at the same time. */
const AT_ONCE = 8;

/**
 * How much is left of sessions. Never fails for one that cannot be asked: what is known of the others is worth showing.
 * @param sessions  0n, of a key without one, is passed over
 * @throws the signal's reason
 */
export async function pulses(
  ports: Pick<ObserverPorts, "store">,
  sessions: Iterable<bigint>,
  signal?: AbortSignal,
): Promise<Map<bigint, Beat>> {
  const wanted = [...new Set(sessions)].filter((id) => id !== 0n);
  const found = new Map<bigint, Beat>();
  const next = wanted.values();
  const ask = async () => {
    for (const id of next) found.set(id, await beatOf(ports, id, signal));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return found;
}

async function beatOf(
  { store }: Pick<ObserverPorts, "store">,
  id: bigint,
  signal?: AbortSignal,
): Promise<Beat> {
  try {
    return await store.remaining(id, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof StoreError)) throw error;
    return null;
  }
}
