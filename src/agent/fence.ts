import { delegateStore } from "../etcd/delegate-store.ts";
import { retryUnavailable } from "../etcd/retry.ts";
import { SessionLost } from "../etcd/session/session-lost.ts";
import type { Store } from "../etcd/store.ts";
import { guardRevision } from "../protocol/guards.ts";
import type { Keys } from "../protocol/keys.ts";
import { findFirstKey, type KeyValue, type Op, type Txn, type TxnResponse } from "../protocol/txn.ts";
import type { AgentPorts } from "./ports.ts";

/**
 * The key that names the agent that owns a session. It lives on that session. Its `mod_revision` changes when another
 * agent takes the session over, so a late transaction of the former owner fails.
 */
export interface Fence {
  key: string;
  revision: bigint;
}

type FencePorts = Pick<AgentPorts, "store" | "keys" | "clock" | "random" | "host" | "describeSession">;

/**
 * Writes the fence of a new session.
 * @returns undefined if the session is gone
 * @throws StoreError
 */
export async function writeNewFence(
  ports: FencePorts,
  session: bigint,
  until: number,
): Promise<Fence | undefined> {
  return await writeFence(ports, session, 0n, until);
}

/**
 * Writes the fence of a session of another agent. It replaces the fence that was read: a late copy of this call must not
 * take the session from an agent that has taken it over since.
 * @returns undefined if the session has no fence: it is gone
 * @throws StoreError
 */
export async function moveFence(
  ports: FencePorts,
  session: bigint,
  until: number,
): Promise<Fence | undefined> {
  const key = ports.keys.agentSession(ports.host, session);
  const read: Txn = { compare: [], success: [{ op: "range", key }], failure: [] };
  for (;;) {
    const { results } = await retryUnavailable(ports, until, (call) => ports.store.commitTxn(read, call));
    const found = findFirstKey(results[0]);
    if (found === undefined) return undefined;
    if (found.value === ports.describeSession(session)) return { key, revision: found.modRevision };
    const fence = await writeFence(ports, session, found.modRevision, until);
    if (fence !== undefined) return fence; // otherwise yet another agent was faster, or the session has ended
  }
}

/** @param before  revision of the fence to replace; 0n: there is none */
async function writeFence(
  ports: FencePorts,
  session: bigint,
  before: bigint,
  until: number,
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

/** Reads whether a fence is as it was written. Linearizable. */
export async function inspectFence(
  store: Store,
  fence: Fence,
  signal?: AbortSignal,
): Promise<{ raftTerm: bigint; loss: SessionLost | undefined }> {
  const txn: Txn = { compare: [], success: [{ op: "range", key: fence.key }], failure: [] };
  const { raftTerm, results } = await store.commitTxn(txn, signal);
  const [result] = results;
  return { raftTerm, loss: explainFence(fence, findFirstKey(result)) };
}

function explainFence({ revision }: Fence, found: KeyValue | undefined): SessionLost | undefined {
  if (found === undefined) return new SessionLost("expired", "the session is gone");
  if (found.modRevision === revision) return undefined;
  return new SessionLost("moved", "another agent has taken the session over");
}

/**
 * Creates a store whose transactions are applied only while the fence is as it was written. Reads are not guarded, and
 * neither are transactions that write only history and marks: a run whose command is dead is recorded, and its marks are
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
