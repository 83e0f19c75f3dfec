import { isUnavailable, retryUnavailable } from "../etcd/retry.ts";
import { deleteMarks, guardAbsent } from "../protocol/guards.ts";
import { type QueueEntry, toQueueEntry } from "../protocol/ticket.ts";
import type { Op } from "../protocol/txn.ts";
import type { Grant } from "./acquire.ts";
import { type ClaimAttempt, createClaimAttempt, listOwnKeys } from "./attempt.ts";
import { getKeyValues } from "./claim-view.ts";
import type { ClaimPorts, ClaimRequest, ResumedAttempt } from "./request.ts";

/** How long to retry removing what is left of a claim, ms. After that, it ends with its session. */
const LEAVE_WITHIN = 2_000;

/** What is left of a claim that another process held. */
interface ResumedClaim {
  /** The claim; undefined if the session is gone, or a ticket is missing or is not held. */
  grant: Grant | undefined;
  /** Removes what is left of a claim that is not complete. Call it when nothing of the command is left. Never rejects. */
  leave(): Promise<void>;
}

/**
 * Takes over a claim that another process holds. Its tickets are read after the renewal that proves its session. If etcd
 * does not answer for a time to live, the session has expired, and the claim is gone.
 */
export async function resumeGrant(
  ports: ClaimPorts,
  request: ClaimRequest,
  resumed: ResumedAttempt,
): Promise<ResumedClaim> {
  const until = ports.clock.now() + resumed.ttl * 1000;
  const found = await ports.sessions
    ?.resume?.(resumed, until, new AbortController().signal)
    .catch((error) => reportSilence(ports, error));
  if (found === undefined) return { grant: undefined, leave: () => leaveUnclaimed(ports, request, resumed) };
  const { session, store } = found;
  const attempt = createClaimAttempt({ ...ports, store }, request, session, { run: resumed.run, resumed });
  if (attempt.announced !== undefined) await attempt.announced;
  const entries = await readOwnTickets(attempt, until).catch((error) => reportSilence(ports, error) ?? []);
  const isHeld = entries.every(({ ticket }) => ticket?.state === "held");
  const isWhole = isHeld && entries.length === listOwnKeys(attempt).length;
  const grantedAt = entries[0]?.ticket?.grantedAt ?? ports.clock.getWallTime();
  const leave = async () => {
    await session
      .end(ports.clock.now() + LEAVE_WITHIN, listOwnKeys(attempt))
      .catch((error) => ports.log.info("a ticket is left to expire", { error: String(error) }));
    await leaveUnclaimed(ports, request, resumed);
  };
  return { grant: isWhole ? { attempt, entries, grantedAt, history: undefined } : undefined, leave };
}

/** Removes the marks: the tickets are gone, and so is the command. Never rejects. */
async function leaveUnclaimed(
  ports: ClaimPorts,
  { lock, leases }: ClaimRequest,
  { run }: ResumedAttempt,
): Promise<void> {
  const tickets = leases.map(({ resource }) => ports.keys.resource(resource, run));
  if (lock !== undefined) tickets.push(ports.keys.lock(lock, run));
  await removeMarks(ports, tickets, ports.clock.now() + LEAVE_WITHIN).catch((error) =>
    ports.log.info("a mark is left until its time has passed", { error: String(error) }),
  );
}

/** @throws any error other than that etcd does not answer */
function reportSilence({ log }: ClaimPorts, error: unknown): undefined {
  if (!isUnavailable(error)) throw error;
  log.warn("the claim cannot be resumed", { error: String(error) });
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

/**
 * Removes the marks of tickets that are gone, and whose command is dead, or has never started. A ticket that is still there
 * keeps its mark: another process may have taken the run over.
 * @param tickets  keys of the tickets
 * @param until    instant on the clock, ms, until which an unreachable etcd is retried
 * @throws StoreError
 */
export async function removeMarks(
  ports: Pick<ClaimPorts, "store" | "keys" | "clock" | "random" | "log">,
  tickets: readonly string[],
  until: number,
): Promise<void> {
  const success = tickets.map((key): Op => {
    const deletes = deleteMarks(ports.keys, [{ key }]);
    return { op: "txn", txn: { compare: guardAbsent([key]), success: deletes, failure: [] } };
  });
  const txn = { compare: [], success, failure: [] };
  await retryUnavailable(ports, until, (call) => ports.store.commitTxn(txn, call));
}
