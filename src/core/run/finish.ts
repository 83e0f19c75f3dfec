import { addMs, type MonotonicTime } from "../base/clock.ts";
import { generateSessionId } from "../base/ids.ts";
import { grantOnce, SessionLost } from "../etcd/session/session.ts";
import { isUnavailable, retryUnavailable } from "../etcd/store.ts";
import { toUnits } from "../fleet/lease-spec.ts";
import {
  deleteEntries,
  deleteMarks,
  guardOwned,
  guardUnchanged,
  putTickets,
  rewriteTickets,
} from "../protocol/guards.ts";
import { appendPastRun, type PastRun, parsePastRuns } from "../protocol/history.ts";
import {
  findFirstKey,
  type KeyValue,
  type Op,
  type Txn,
  type TxnResponse,
  type TxnResult,
} from "../protocol/txn.ts";
import type { ClaimPorts, ClaimSession } from "./request.ts";
import type { Grant } from "./step.ts";

/** How long to retry freeing a claim, in ms. After that, its session expires. */
const FREE_TIMEOUT_MS = 10_000;
/** How long to retry when the session is already lost, in ms. */
const FREE_LOST_WITHIN = 2_000;
/** How long to retry ending the session when the claim is already free, in ms. */
const REVOKE_WITHIN = 1_000;

/** The end of the work that held a claim. */
interface ClaimEnd {
  /** Exit code; 0 for success. */
  exit: number;
  reason: string | undefined;
  /** The end of the output, if it was kept. */
  tail?: string | undefined;
  /** Whether the locks stay taken for the grace of the request. */
  keepsGrace?: boolean;
  /** This process has not started the command, but another one may have: it may have continued the attempt meanwhile. */
  mayBeContinued?: boolean;
}

/** A claim that is being freed. */
interface Release {
  grant: Grant;
  /** The entries for the histories of the locks; empty when no history is kept. */
  updates: readonly HistoryUpdate[];
  /** How long calls are retried while etcd does not answer. */
  until: MonotonicTime;
}

/**
 * Frees a claim: deletes the tickets if they are still ours, writes the history in the same transaction, and ends the
 * session. Calls are retried for a limited time while etcd does not answer; the expiry of the session frees the claim
 * in any case. Never rejects.
 */
export async function finishClaim(grant: Grant, end: ClaimEnd): Promise<void> {
  const { ports, session } = grant.attempt;
  const until = addMs(ports.clock.now(), session.signal.aborted ? FREE_LOST_WITHIN : FREE_TIMEOUT_MS);
  const release = { grant, updates: buildHistoryUpdates(grant, end), until };
  let isContinued = isMoved(session.signal.reason);
  const handleError = (error: unknown) => {
    isContinued = canBeContinued(end, error);
    return isContinued ? [] : handleUnfreed(release, error);
  };
  try {
    if (isContinued) return;
    const isKept =
      end.keepsGrace && (await keepGrace(release).catch((error) => reportUnfreed(release, error)));
    const left = isKept ? [] : await freeClaim(release).catch(handleError);
    await endSession(ports, session, left);
  } catch (error) {
    const level = isUnavailable(error) ? "warn" : "error";
    ports.log[level]("the claim was not freed; it ends with its session", { error: String(error) });
  } finally {
    session.stopRenewing();
    if (!isContinued) for (const { lock, past } of release.updates) ports.archivePastRun?.(lock, past);
  }
}

/** Ends the session of a claim that is free. If etcd is too slow, the session expires; that is logged as info only. */
async function endSession(
  { clock, log }: ClaimPorts,
  session: ClaimSession,
  left: readonly string[],
): Promise<void> {
  await session.end(addMs(clock.now(), REVOKE_WITHIN), left).catch((error) => {
    log.info("the claim is freed; its empty session was not ended and expires", { error: String(error) });
  });
}

/**
 * Deletes the tickets and their marks. If a ticket is missing, deletes only the marks: the command is dead.
 * @returns the keys of tickets that may be left, because one of them was missing
 */
async function freeClaim(release: Release): Promise<readonly string[]> {
  const { attempt, entries } = release.grant;
  const { keys } = attempt.ports;
  const history = buildHistoryOps(release.updates);
  const offer = offerToSuccessor(release.grant);
  const txn = {
    compare: guardOwned(entries),
    // The grant comes last: it reads the history for the next release.
    success: [...deleteEntries(keys, entries), ...history, ...(offer === undefined ? [] : [offer.op])],
    failure: [...history, ...deleteMarks(keys, entries)],
  };
  const committing = commitRelease(release, txn, (answer) => offer?.settle(answer));
  const { succeeded } = await committing.finally(() => offer?.settle(undefined));
  return succeeded ? [] : entries.map(({ key }) => key);
}

/**
 * Maximum number of tickets that one transaction frees while it also grants a claim of 16 locks, within etcd's 128
 * operations.
 */
const MOST_BEFORE_GRANT = 30;

/** Lets the transaction that frees the locks also grant one of them to the next run, if that run is in this process. */
function offerToSuccessor({ attempt, entries }: Grant) {
  const { ports, session, lockKeys } = attempt;
  if (entries.length > MOST_BEFORE_GRANT) return undefined;
  for (const lock of entries.slice(0, lockKeys.length)) {
    const offer = ports.successors?.offer(lock, session.id);
    if (offer !== undefined) return offer;
  }
  return undefined;
}

/** Whether another process has taken over the session. It then also records how the runs end. */
function isMoved(reason: unknown): boolean {
  return reason instanceof SessionLost && reason.kind === "moved";
}

/**
 * Whether a command that another process started may still run. The marks then keep the claim until their time has
 * passed.
 */
function canBeContinued({ mayBeContinued = false }: ClaimEnd, error: unknown): boolean {
  return isMoved(error) || (mayBeContinued && error instanceof SessionLost);
}

/**
 * Frees a claim whose release failed. If etcd refused it, tries again without the history. If the session is gone, and
 * its tickets with it, records the run in the history and deletes the marks.
 */
async function handleUnfreed(release: Release, error: unknown): Promise<readonly string[]> {
  if (!(error instanceof SessionLost)) {
    reportUnfreed(release, error);
    return await freeClaim({ ...release, updates: [] });
  }
  const { attempt, entries } = release.grant;
  const success = [...buildHistoryOps(release.updates), ...deleteMarks(attempt.ports.keys, entries)];
  await commitRelease(release, { compare: [], success, failure: [] });
  return [];
}

/** Logs a refused write (etcd is full, the role may not write history), which must not keep the lock taken. */
function reportUnfreed({ grant }: Release, error: unknown): false {
  if (isUnavailable(error)) throw error;
  grant.attempt.ports.log.warn("the history or the grace could not be written", { error: String(error) });
  return false;
}

/**
 * Leaves the tickets of the locks in state `grace`, on a separate session that is never renewed, until the grace of the
 * request is over. Runs that wait then remove them as obsolete (decide.ts). The write is guarded by their
 * `mod_revision`: if a reset request was written in the meantime, the reset wins and frees the locks.
 * @returns whether the locks are kept
 */
async function keepGrace(release: Release): Promise<boolean> {
  const { attempt, entries, grantedAt } = release.grant;
  const { store, keys, clock, random } = attempt.ports;
  const { grace, graceFrom = grantedAt } = attempt.request;
  if (grace === undefined) return false;
  const count = attempt.lockKeys.length;
  const [locks, resources] = [entries.slice(0, count), entries.slice(count)];
  const [first] = locks;
  const end = graceFrom + grace;
  const left = end - clock.getWallTime();
  if (first === undefined || left <= 0) return false;
  const id = generateSessionId(random);
  await retryUnavailable(attempt.ports, release.until, (call) =>
    grantOnce(store, id, Math.ceil(left / 1000), call),
  );
  const txn: Txn = {
    compare: [...guardUnchanged(locks), ...guardOwned(resources)],
    success: [
      ...putTickets(rewriteTickets(locks, { state: "grace", until: end }), id),
      ...deleteMarks(keys, locks),
      ...deleteEntries(keys, resources),
      ...buildHistoryOps(release.updates),
    ],
    failure: [{ op: "range", key: first.key }],
  };
  const answer = await commitRelease(release, txn);
  // A repeated call may find the grace ticket it has already written: that counts as success.
  return answer.succeeded || findFirstKey(answer.results[0])?.session === id;
}

/** Retries a freeing transaction until it is answered, then appends to the histories that it could not append to. */
async function commitRelease(
  { grant, updates, until }: Release,
  txn: Txn,
  onAnswer?: (answer: TxnResponse) => void,
): Promise<TxnResponse> {
  const { ports } = grant.attempt;
  const answer = await retryUnavailable(ports, until, (call) => ports.store.commitTxn(txn, call));
  onAnswer?.(answer);
  for (const update of updates) {
    const nested = findAppendResult(update, txn, answer);
    if (nested?.op === "txn" && !nested.succeeded) await appendToHistory(ports, update, nested, until);
  }
  return answer;
}

/** Returns the result of the nested transaction that appends to the history. */
function findAppendResult({ key }: HistoryUpdate, txn: Txn, { succeeded, results }: TxnResponse) {
  const ops = succeeded ? txn.success : txn.failure;
  return results[
    ops.findIndex((op) => op.op === "txn" && op.txn.compare.some((compare) => compare.key === key))
  ];
}

/** Builds the history entries of a claim that ends now; empty when no history is kept. */
function buildHistoryUpdates(grant: Grant, { exit, reason, tail }: ClaimEnd): HistoryUpdate[] {
  const { ports, request } = grant.attempt;
  if (!request.history) return [];
  const { attempt, grantedAt, entries } = grant;
  const { host, pid, command, label } = request.identity;
  const endedAt = ports.clock.getWallTime();
  const past: PastRun = {
    run: attempt.run,
    host,
    pid,
    command,
    exit,
    ...(label !== undefined && { label }),
    ...(request.isShared && { shared: true }),
    ...(request.leases.length > 0 && { leases: toUnits(request.leases) }),
    ...(reason !== undefined && { reason }),
    ...(tail !== undefined && { tail }),
    token: String(entries[0]?.createRevision),
    enqueuedAt: attempt.enqueuedAt,
    grantedAt,
    endedAt,
    waited: grantedAt - attempt.enqueuedAt,
    held: endedAt - grantedAt,
  };
  const { histories } = grant;
  return request.locks.map((lock, index) => ({
    lock,
    key: ports.keys.history(lock),
    past,
    known: histories && { kv: histories[index] },
  }));
}

/** How often to retry an append while other runs append to the same history. */
const MAX_APPEND_TRIES = 5;

/** A run to append to the history of its lock. */
interface HistoryUpdate {
  lock: string;
  /** The history's key. */
  key: string;
  past: PastRun;
  /** The history as read at the grant; undefined when it was not read. */
  known: { kv: KeyValue | undefined } | undefined;
}

/**
 * Builds nested transactions that append inside the transaction that frees the locks. If a nested one fails, the
 * release still succeeds. A history that was not read has no revision to compare: its append fails, which reads it.
 */
function buildHistoryOps(updates: readonly HistoryUpdate[]): Op[] {
  return updates.map(({ key, past, known }) => {
    const revision = known === undefined ? -1n : (known.kv?.modRevision ?? 0n);
    return { op: "txn", txn: buildAppendTxn(key, known?.kv, past, revision) };
  });
}

/**
 * Appends after the release, based on what the failed nested transaction has read.
 * @param refused  the result of the failed transaction: its only operation read the history
 * @param until  how long calls are retried while etcd does not answer
 * @throws StoreError
 */
async function appendToHistory(
  ports: ClaimPorts,
  update: HistoryUpdate,
  refused: TxnResult,
  until: MonotonicTime,
): Promise<void> {
  const { key, past } = update;
  for (let result = refused, tries = 0; !result.succeeded && tries < MAX_APPEND_TRIES; tries += 1) {
    const kv = findFirstKey(result.results[0]);
    if (parsePastRuns(kv?.value).some(({ run }) => run === past.run)) return; // an earlier copy of the call was applied
    const txn = buildAppendTxn(key, kv, past, kv?.modRevision ?? 0n);
    result = await retryUnavailable(ports, until, (call) => ports.store.commitTxn(txn, call));
  }
}

function buildAppendTxn(key: string, kv: KeyValue | undefined, past: PastRun, revision: bigint): Txn {
  return {
    compare: [{ key, target: "mod", is: "equal", value: revision }],
    success: [{ op: "put", key, value: appendPastRun(kv?.value, past) }],
    failure: [{ op: "range", key }],
  };
}
