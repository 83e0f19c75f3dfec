import type { Clock, MonotonicTime } from "../core/base/clock.ts";
import type { Log } from "../core/base/log.ts";
import type { Random } from "../core/base/random.ts";
import { SessionLost, type SessionProof } from "../core/etcd/session/session.ts";
import { delegateStore, retryUnavailable, type Store } from "../core/etcd/store.ts";
import { guardRevision } from "../core/protocol/guards.ts";
import type { Keys } from "../core/protocol/keys.ts";
import { findFirstKey, type KeyValue, type Op, type Txn, type TxnResponse } from "../core/protocol/txn.ts";

/** The environment of an agent's sessions. */
export interface AgentPorts {
  /** Combines the transactions that are committed at the same time. */
  store: Store;
  /** Combines proofs of the sessions only: they do not wait for the transactions of runs. */
  proofStore: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  log: Log;
  /** Full name of this host. */
  host: string;
  /** Returns the value of a session's key: who owns the session. Differs from that of every other agent. */
  describeSession(session: bigint): string;
  /**
   * Kills all processes on this host of a run that no agent serves.
   * @returns whether it is certain that no process is left
   */
  killRun(run: string): Promise<boolean>;
}

/**
 * The key that names the agent that owns a session. It lives on that session. Its `mod_revision` changes when another
 * agent takes the session over, so a late transaction of the former owner fails.
 */
export interface Fence {
  key: string;
  revision: bigint;
}

/**
 * Writes the fence of a session.
 * @param before  revision of the fence to replace; 0n for a new session, which has none
 * @returns undefined if another agent has written it meanwhile, or the session is gone
 * @throws StoreError
 */
export async function writeFence(
  ports: AgentPorts,
  session: bigint,
  before: bigint,
  until: MonotonicTime,
): Promise<Fence | undefined> {
  const key = ports.keys.agentSession(ports.host, session);
  const value = ports.describeSession(session); // differs from that of every other agent
  const txn: Txn = {
    compare: [guardRevision(key, before)],
    success: [{ op: "put", key, value, session }],
    failure: [{ op: "range", key }],
  };
  const answer = await retryUnavailable(ports, until, (call) => ports.store.commitTxn(txn, call));
  if (answer.succeeded) return { key, revision: answer.revision };
  const found = findFirstKey(answer.results[0]);
  return found?.value === value ? { key, revision: found.modRevision } : undefined; // an earlier copy was applied
}

/** Checks with a linearizable read that a fence is unchanged. */
export async function inspectFence(
  store: Store,
  fence: Fence,
): Promise<SessionProof & { loss: SessionLost | undefined }> {
  const txn: Txn = { compare: [], success: [{ op: "range", key: fence.key }], failure: [] };
  const { raftTerm, results } = await store.commitTxn(txn);
  const loss = explainFence(fence, findFirstKey(results[0]));
  return { raftTerm, loss, fault: loss?.message };
}

function explainFence({ revision }: Fence, found: KeyValue | undefined): SessionLost | undefined {
  if (found === undefined) return new SessionLost("expired", "the session is gone");
  if (found.modRevision === revision) return undefined;
  return new SessionLost("moved", "another agent has taken the session over");
}

/**
 * Creates a store whose transactions are applied only while the fence is unchanged. Reads are not guarded, and neither
 * are transactions that write only history and marks: a run whose command is dead is recorded, and its marks are
 * removed, even if its session is gone.
 * @param onLost  called when a transaction fails for that reason
 */
export function createFencedStore(
  store: Store,
  keys: Keys,
  fence: Fence,
  onLost: (reason: SessionLost) => void,
): Store {
  const isUnfenced = (key: string) => ["history", "mark"].includes(keys.parse(key).kind);
  const commitTxn = async (txn: Txn, signal?: AbortSignal): Promise<TxnResponse> => {
    if (!listWrittenKeys(txn).some((key) => !isUnfenced(key))) return await store.commitTxn(txn, signal);
    const { revision, raftTerm, succeeded, results } = await store.commitTxn(addFence(txn, fence), signal);
    const [result] = results;
    if (succeeded && result?.op === "txn") {
      return { revision, raftTerm, succeeded: result.succeeded, results: result.results };
    }
    const reason =
      explainFence(fence, findFirstKey(result)) ?? new SessionLost("moved", "the fence was moved");
    onLost(reason);
    throw reason;
  };
  return delegateStore(store, { commitTxn });
}

function addFence(txn: Txn, { key, revision }: Fence): Txn {
  return {
    compare: [guardRevision(key, revision)],
    success: [{ op: "txn", txn }],
    failure: [{ op: "range", key }],
  };
}

function listWrittenKeys({ success, failure }: Txn): string[] {
  return [...success, ...failure].flatMap((op: Op) =>
    op.op === "txn" ? listWrittenKeys(op.txn) : op.op === "range" ? [] : [op.key],
  );
}
