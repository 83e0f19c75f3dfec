import { type Store, StoreError } from "../store.ts";

/**
 * Grants a session. A repeated grant finds its own id taken, which counts as success; the time to live is then at least
 * the requested one.
 */
export async function grantOnce(
  store: Store,
  id: bigint,
  ttl: number,
  signal?: AbortSignal,
): Promise<{ ttl: number; raftTerm: bigint }> {
  try {
    return await store.grant(id, ttl, signal);
  } catch (error) {
    if (error instanceof StoreError && error.kind === "exists") return { ttl, raftTerm: 0n };
    throw error;
  }
}
