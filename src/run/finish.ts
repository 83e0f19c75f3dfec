import { generateSessionId } from "../base/ids.ts";
import { isUnavailable, retryUnavailable } from "../etcd/retry.ts";
import { grantOnce } from "../etcd/session/grant.ts";
import { SessionLost } from "../etcd/session/session-lost.ts";
import {
  deleteEntries,
  deleteMarks,
  guardOwned,
  guardUnchanged,
  putTickets,
  rewriteTickets,
} from "../protocol/guards.ts";
import { findFirstKey, type Txn, type TxnResponse } from "../protocol/txn.ts";
import type { Grant } from "./acquire.ts";
import type { ClaimSession } from "./claim-session.ts";
import { appendToHistory, buildHistoryOps, type HistoryUpdate } from "./history-update.ts";
import type { ClaimPorts } from "./request.ts";
import type { Offer } from "./successors.ts";

/** How long to retry freeing a claim, in ms. After that, its session expires. */
const FREE_WITHIN = 10_000;
/** How long to retry when the session is already lost, in ms. */
const FREE_LOST_WITHIN = 2_000;
/** How long to retry ending the session when the claim is already free, in ms. */
const REVOKE_WITHIN = 1_000;

/** The remaining work for a claim whose command has ended. */
interface ClaimCompletion {
  grant: Grant;
  /** The entry for the history; undefined when no history is kept. */
  historyUpdate: HistoryUpdate | undefined;
  /** Wall clock, ms since the epoch, until which the lock remains taken; undefined frees it now. */
  graceUntil: number | undefined;
  /** This process has not started the command, but another one may have: it can have continued the attempt in the meantime. */
  mayBeContinued?: boolean;
}

/**
 * Frees a claim: deletes the tickets if they are still ours, writes the history in the same transaction, and ends the
 * session. Calls are retried for a limited time while etcd does not answer; the expiry of the session frees the claim
 * in any case.
 */
export async function finishClaim(done: ClaimCompletion): Promise<void> {
  const { ports, session } = done.grant.attempt;
  const patience = session.signal.aborted ? FREE_LOST_WITHIN : FREE_WITHIN;
  const until = ports.clock.now() + patience;
  try {
    if (isMoved(session.signal.reason)) return;
    const isKept = await keepGrace(ports, done, until).catch((error) => reportUnfreed(ports, error));
    const left = isKept
      ? []
      : await freeClaim(ports, done, until).catch((error) => handleUnfreed(ports, done, until, error));
    await endSession(ports, session, left);
  } catch (error) {
    const level = isUnavailable(error) ? "warn" : "error";
    ports.log[level]("the claim was not freed; it ends with its session", { error: String(error) });
  } finally {
    session.stopRenewing();
  }
}

function listKeys({ entries }: Grant): string[] {
  return entries.map(({ key }) => key);
}

/** The claim is free. If etcd is too slow to end the session, it expires; this is logged as info only. */
async function endSession(
  { clock, log }: ClaimPorts,
  session: ClaimSession,
  left: readonly string[],
): Promise<void> {
  await session.end(clock.now() + REVOKE_WITHIN, left).catch((error) => {
    log.info("the claim is freed; its empty session was not ended and expires", { error: String(error) });
  });
}

/**
 * Deletes the tickets and their marks. If a ticket is missing, deletes the marks: the command is dead.
 * @returns the keys that may be left: those of a claim of which a ticket was missing
 */
async function freeClaim(
  ports: ClaimPorts,
  { grant, historyUpdate }: Pick<ClaimCompletion, "grant" | "historyUpdate">,
  until: number,
): Promise<readonly string[]> {
  const history = buildHistoryOps(historyUpdate);
  const offer = offerToSuccessor(ports, grant);
  const txn = {
    compare: guardOwned(grant.entries),
    // The grant comes last: it reads the history for the next release.
    success: [
      ...deleteEntries(ports.keys, grant.entries),
      ...history,
      ...(offer === undefined ? [] : [offer.op]),
    ],
    failure: [...history, ...deleteMarks(ports.keys, grant.entries)],
  };
  const passOn = (answer: TxnResponse) =>
    offer?.settle(answer.succeeded ? answer.results.at(-1) : undefined, answer);
  const release = commitRelease(ports, historyUpdate, txn, until, passOn);
  const { succeeded } = await release.finally(() => offer?.settle(undefined));
  return succeeded ? [] : listKeys(grant);
}

/** The transaction that frees a lock can grant it to the next run, if that is one of this process. */
function offerToSuccessor({ successors }: ClaimPorts, { attempt, entries }: Grant): Offer | undefined {
  const [lock] = entries;
  if (lock === undefined || lock.key !== attempt.lockKey) return undefined;
  return successors?.offer(lock, attempt.session.id);
}

/** Whether the runs of a session are those of another process now. It writes their ends too. */
function isMoved(reason: unknown): boolean {
  return reason instanceof SessionLost && reason.kind === "moved";
}

/**
 * Frees a claim without a history that etcd refuses. If its session is gone, and its tickets with it, records the run in
 * the history and deletes the marks, unless the command of another process may be alive.
 */
async function handleUnfreed(
  ports: ClaimPorts,
  { grant, historyUpdate, mayBeContinued }: ClaimCompletion,
  until: number,
  error: unknown,
): Promise<readonly string[]> {
  if (isMoved(error)) return [];
  if (!(error instanceof SessionLost)) {
    reportUnfreed(ports, error);
    return await freeClaim(ports, { grant, historyUpdate: undefined }, until);
  }
  if (mayBeContinued) return []; // the marks keep the claim until their time has passed
  const success = [...buildHistoryOps(historyUpdate), ...deleteMarks(ports.keys, grant.entries)];
  await commitRelease(ports, historyUpdate, { compare: [], success, failure: [] }, until);
  return [];
}

/** Reports a refused write (etcd is full, the role may not write history). It must not keep the lock. */
function reportUnfreed({ log }: ClaimPorts, error: unknown): false {
  if (isUnavailable(error)) throw error;
  log.warn("the history or the grace could not be written", { error: String(error) });
  return false;
}

/**
 * Leaves the lock's ticket in state `grace`, on a separate session that is never renewed. The write is guarded by the
 * ticket's `mod_revision`: if a reset request was written in the meantime, the reset wins and frees the lock.
 * @returns whether the lock is kept
 */
async function keepGrace(
  ports: ClaimPorts,
  { grant, historyUpdate, graceUntil }: ClaimCompletion,
  until: number,
): Promise<boolean> {
  const [lock, ...resources] = grant.entries;
  const left = (graceUntil ?? 0) - ports.clock.getWallTime();
  if (lock === undefined || lock.key !== grant.attempt.lockKey || left <= 0) return false;
  const id = generateSessionId(ports.random);
  await retryUnavailable(ports, until, (call) => grantOnce(ports.store, id, Math.ceil(left / 1000), call));
  const puts = putTickets(rewriteTickets([lock], { state: "grace", until: graceUntil ?? 0 }), id);
  const compare = [...guardUnchanged([lock]), ...guardOwned(resources)];
  const txn: Txn = {
    compare,
    success: [
      ...puts,
      ...deleteMarks(ports.keys, [lock]),
      ...deleteEntries(ports.keys, resources),
      ...buildHistoryOps(historyUpdate),
    ],
    failure: [{ op: "range", key: lock.key }],
  };
  const answer = await commitRelease(ports, historyUpdate, txn, until);
  // A repeated call may find the grace ticket it has already written: that counts as success.
  return answer.succeeded || findFirstKey(answer.results[0])?.session === id;
}

/** Retries a freeing transaction until it is answered, then appends the history if the transaction could not. */
async function commitRelease(
  ports: ClaimPorts,
  update: HistoryUpdate | undefined,
  txn: Txn,
  until: number,
  onAnswer: (answer: TxnResponse) => void = () => {},
): Promise<TxnResponse> {
  const answer = await retryUnavailable(ports, until, (call) => ports.store.commitTxn(txn, call));
  onAnswer(answer);
  const nested = update && findAppendResult(update, txn, answer);
  if (update !== undefined && nested?.op === "txn" && !nested.succeeded) {
    await appendToHistory(ports, update, nested, until);
  }
  return answer;
}

/** Returns the result of the nested transaction that appends to the history. */
function findAppendResult({ key }: HistoryUpdate, txn: Txn, { succeeded, results }: TxnResponse) {
  const ops = succeeded ? txn.success : txn.failure;
  return results[ops.findIndex((op) => op.op === "txn" && op.txn.compare.some((one) => one.key === key))];
}
