import { StoreError } from "../../etcd/store.ts";
import type { ObserverPorts } from "./ports.ts";

/** Seconds left and granted, whole numbers; undefined: the session is gone; null: the read failed. */
export type SessionTimeToLive = { left: number; ttl: number } | undefined | null;

/** Number of concurrent reads. */
const AT_ONCE = 8;

/**
 * Reads the remaining time of sessions. A failed read of one session does not affect the others.
 * @param sessions  0n, from a key without a session, is ignored
 * @throws the signal's reason
 */
export async function readSessionLiveness(
  ports: Pick<ObserverPorts, "store">,
  sessions: Iterable<bigint>,
  signal?: AbortSignal,
): Promise<Map<bigint, SessionTimeToLive>> {
  const wanted = [...new Set(sessions)].filter((id) => id !== 0n);
  const found = new Map<bigint, SessionTimeToLive>();
  const next = wanted.values();
  const readNext = async () => {
    for (const id of next) found.set(id, await readLiveness(ports, id, signal));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return found;
}

async function readLiveness(
  { store }: Pick<ObserverPorts, "store">,
  id: bigint,
  signal?: AbortSignal,
): Promise<SessionTimeToLive> {
  try {
    return await store.readTimeToLive(id, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof StoreError)) throw error;
    return null;
  }
}
