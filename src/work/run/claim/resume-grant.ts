import { retryUnavailable } from "../../../etcd/retry.ts";
import { type QueueEntry, toQueueEntry } from "../../../protocol/ticket.ts";
import type { Op } from "../../../protocol/txn.ts";
import type { ClaimPorts, ClaimRequest, ResumedAttempt } from "../request.ts";
import type { Grant } from "./acquire.ts";
import { type ClaimAttempt, createClaimAttempt, listOwnKeys } from "./attempt.ts";
import { getKeyValues } from "./queues.ts";

/**
 * Takes over a claim that another process holds. Its tickets are read after the renewal that proves its session.
 * @returns undefined if the session is gone, or a ticket is missing or is not held
 * @throws StoreError when etcd does not answer for a time to live: the session has expired by then
 */
export async function resumeGrant(
  ports: ClaimPorts,
  request: ClaimRequest,
  resumed: ResumedAttempt,
): Promise<Grant | undefined> {
  const until = ports.clock.now() + resumed.ttl * 1000;
  const found = await ports.sessions?.resume?.(resumed, until, new AbortController().signal);
  if (found === undefined) return undefined;
  const { session, store } = found;
  const attempt = createClaimAttempt({ ...ports, store }, request, session, { run: resumed.run, resumed });
  const places = await readOwnTickets(attempt, until);
  const isHeld = places.every(({ ticket }) => ticket?.state === "held");
  if (!isHeld || places.length < listOwnKeys(attempt).length) return undefined;
  const grantedAt = places[0]?.ticket?.grantedAt ?? ports.clock.getWallTime();
  return { attempt, places, grantedAt, history: undefined };
}

/** Reads the own tickets: that of the lock first. */
async function readOwnTickets(attempt: ClaimAttempt, until: number): Promise<QueueEntry[]> {
  const success = listOwnKeys(attempt).map((key): Op => ({ op: "range", key }));
  const txn = { compare: [], success, failure: [] };
  const { results } = await retryUnavailable(attempt.ports, until, (call) =>
    attempt.ports.store.commitTxn(txn, call),
  );
  return results.flatMap(getKeyValues).map(toQueueEntry);
}
