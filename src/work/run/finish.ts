import { newSessionId } from "../../base/ids.ts";
import { isUnavailable, persist } from "../../etcd/persist.ts";
import { grantOnce } from "../../etcd/session.ts";
import { ours, putTickets, rewritten, untouched } from "../../protocol/guards.ts";
import type { Op, OpResult, Txn, TxnAnswer } from "../../protocol/txn.ts";
import type { Grant } from "./acquire.ts";
import { historyOps, type Memory, remember } from "./remember.ts";
import type { ClaimPorts } from "./request.ts";

/** How long freeing a claim is tried, in ms. After that its session expires by itself. */
const FREE_WITHIN = 10_000;
/** How long it is tried when the session is lost anyway, in ms. */
const FREE_LOST_WITHIN = 2_000;
/** How long the end of the session, which frees nothing more, is tried, in ms. */
const REVOKE_WITHIN = 1_000;

/** What remains to be done for a claim whose command has ended. */
export interface Finish {
  grant: Grant;
  /** What to remember; undefined where no history is kept. */
  memory: Memory | undefined;
  /** Wall clock, ms since the epoch, until which the lock stays taken; undefined frees it now. */
  graceUntil: number | undefined;
}

/**
 * Frees a claim: deletes the tickets while they are still ours, remembers the run in the same transaction, ends the
 * session. An etcd that does not answer is tried for a while; the session's expiry frees the claim in any case.
 */
export async function finish(ports: ClaimPorts, done: Finish): Promise<void> {
  const { session } = done.grant.attempt;
  const patience = session.signal.aborted ? FREE_LOST_WITHIN : FREE_WITHIN;
  const until = ports.clock.now() + patience;
  try {
    const isKept = await keepGrace(ports, done, until).catch((error) => unfreed(ports, error));
    const isFreed = isKept || (await free(ports, done, until).catch((error) => unfreed(ports, error)));
    await session.revoke(isFreed ? ports.clock.now() + REVOKE_WITHIN : until);
  } catch (error) {
    const level = isUnavailable(error) ? "warn" : "error";
    ports.log[level]("the claim was not freed, it ends with its session", { error: String(error) });
  } finally {
    session.rest();
  }
}

/** @returns false where ending the session is all there is to do, which spares a transaction */
async function free(ports: ClaimPorts, { grant, memory }: Finish, until: number): Promise<boolean> {
  if (memory === undefined) return false;
  const deletes = grant.places.map(({ key }): Op => ({ op: "delete", key }));
  const history = historyOps(memory);
  const txn = { compare: ours(grant.places), success: [...deletes, ...history], failure: history };
  await settle(ports, memory, txn, until);
  return true;
}

/** What is refused (etcd is full, the role may not write history) must not keep the lock: the session's end frees it. */
function unfreed({ log }: ClaimPorts, error: unknown): false {
  if (isUnavailable(error)) throw error;
  log.warn("the history or the grace could not be written", { error: String(error) });
  return false;
}

/**
 * Leaves the lock's ticket as `grace`, on a session of its own that nobody renews. It is guarded by the ticket's
 * `mod_revision`: a reset request that was written meanwhile wins, and frees the lock.
 * @returns whether the lock is kept
 */
async function keepGrace(
  ports: ClaimPorts,
  { grant, memory, graceUntil }: Finish,
  until: number,
): Promise<boolean> {
  const [lock, ...resources] = grant.places;
  const left = (graceUntil ?? 0) - ports.clock.wall();
  if (lock === undefined || lock.key !== grant.attempt.lockKey || left <= 0) return false;
  const id = newSessionId(ports.random);
  await persist(ports, until, (call) => grantOnce(ports.store, id, Math.ceil(left / 1000), call));
  const puts = putTickets(rewritten([lock], { state: "grace", until: graceUntil ?? 0 }), id);
  const deletes = resources.map(({ key }): Op => ({ op: "delete", key }));
  const compare = [...untouched([lock]), ...ours(resources)];
  const txn: Txn = {
    compare,
    success: [...puts, ...deletes, ...historyOps(memory)],
    failure: [{ op: "range", key: lock.key }],
  };
  const answer = await settle(ports, memory, txn, until);
  return answer.succeeded || holdsKey(answer.results[0], id);
}

/** A repeated call finds its own grace ticket: that is success. */
function holdsKey(own: OpResult | undefined, session: bigint): boolean {
  return own?.op === "range" && own.kvs[0]?.session === session;
}

/** Runs a freeing transaction until it is answered, and makes up for a history that could not be appended in it. */
async function settle(
  ports: ClaimPorts,
  memory: Memory | undefined,
  txn: Txn,
  until: number,
): Promise<TxnAnswer> {
  const answer = await persist(ports, until, (call) => ports.store.txn(txn, call));
  const nested = answer.results.at(-1);
  if (memory !== undefined && nested?.op === "txn" && !nested.succeeded) {
    await remember(ports, memory, nested, until);
  }
  return answer;
}
