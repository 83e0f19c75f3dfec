import { retryUnavailable } from "../../../etcd/retry.ts";
import { deleteMarks, guardAbsent } from "../../../protocol/guards.ts";
import type { Op } from "../../../protocol/txn.ts";
import type { ClaimPorts } from "../request.ts";

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
