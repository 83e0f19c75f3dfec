import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";

/**
 * Ends the session of the holder of a lock as if its time to live had passed. Its mark is removed too: of a session that was
 * granted slowly, as on a busy machine, nobody knows that no election came in between, so that others wait for the time to
 * live that they see.
 */
export async function expireSession(namespace: TestNamespace, lock: string): Promise<void> {
  const [holder] = await namespace.readQueue(lock);
  if (holder?.ticket?.state !== "held") throw new Error(`nobody holds the lock ${lock}`);
  await namespace.store.revoke(holder.session);
  await namespace.delete(namespace.keys.mark(holder.key));
}
