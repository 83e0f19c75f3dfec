import { EXIT, SignalboxError } from "../../base/errors.ts";
import { StoreError } from "../../etcd/store.ts";
import { type AuditAction, type AuditRecord, auditText, newAuditId } from "../../protocol/audit.ts";
import type { Compare, Op, Txn } from "../../protocol/txn.ts";
import { patiently } from "../observe/ports.ts";
import type { OperatorPorts } from "./ports.ts";

/** One action of an operator: a guarded change, and what the audit says of it. */
export interface Deed {
  action: AuditAction;
  /** What it is done to, as in `AuditRecord`. */
  target: string;
  /** Revision of what the operator saw. */
  seen: bigint;
  reason?: string | undefined;
  /** What the record says became of it, should it be done. */
  outcome: string;
  /** What must still be as the operator saw it. */
  compare: readonly Compare[];
  ops: readonly Op[];
}

/**
 * What became of a deed. `done`: the revision is that of its keys. `changed`: something moved since it was seen, and
 * nothing was done.
 */
export type Receipt =
  | { kind: "done"; record: AuditRecord; revision: bigint }
  | { kind: "changed"; revision: bigint };

/**
 * Does a deed and appends its audit record in one transaction: whatever is done is on record, and nothing is on record
 * that was not done. The record's key, new for every deed, tells a repeated call that an earlier copy was applied.
 * @throws SignalboxError 77 where the operator may not, StoreError
 */
export async function act(ports: OperatorPorts, deed: Deed): Promise<Receipt> {
  if (ports.settings.readOnly) {
    throw new SignalboxError(EXIT.permission, "readOnly is set, nothing was changed; see: signalbox config");
  }
  const at = ports.clock.wall();
  const { action, target, seen, reason, outcome } = deed;
  const record: AuditRecord = {
    ...{ id: newAuditId(at, ports.random), at, ...ports.operator, action, target, seen, outcome },
    ...(reason !== undefined && { reason }),
  };
  const txn = auditedTxn(ports, deed, record);
  const answer = await permitted(ports, txn, () =>
    patiently(ports, (signal) => ports.store.txn(txn, signal)),
  );
  const [own] = answer.results;
  const earlier = own?.op === "range" ? own.kvs[0]?.createRevision : undefined; // a copy whose answer was lost
  const { revision } = answer;
  if (answer.succeeded || earlier !== undefined)
    return { kind: "done", record, revision: earlier ?? revision };
  return { kind: "changed", revision };
}

function auditedTxn({ keys }: OperatorPorts, deed: Deed, record: AuditRecord): Txn {
  const key = keys.audit(record.id);
  return {
    compare: [{ key, target: "create", is: "equal", value: 0n }, ...deed.compare],
    success: [{ op: "put", key, value: auditText(record) }, ...deed.ops],
    failure: [{ op: "range", key }],
  };
}

/** Writes into a record what is known of its outcome only now. */
export async function conclude(ports: OperatorPorts, record: AuditRecord, outcome: string): Promise<void> {
  const key = ports.keys.audit(record.id);
  const value = auditText({ ...record, outcome });
  const stands = { key, target: "create", is: "greater", value: 0n } as const; // it may have been pruned
  const txn: Txn = { compare: [stands], success: [{ op: "put", key, value }], failure: [] };
  await patiently(ports, (signal) => ports.store.txn(txn, signal));
}

async function permitted<T>(ports: OperatorPorts, txn: Txn, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== "permission") throw error;
    const rooms = writtenRooms(ports, txn).join(", ");
    throw new SignalboxError(
      EXIT.permission,
      `etcd refused the permission, nothing was changed: this needs readwrite on ${rooms} (as prefixes), ` +
        "which the role signalbox-operator of docs/etcd.md has",
      { cause: error },
    );
  }
}

/** The prefixes under which a transaction writes. */
function writtenRooms({ keys }: OperatorPorts, txn: Txn): string[] {
  const rooms = writtenKeys(txn).map(
    (key) => /^(?:config\/)?[^/]*\//.exec(key.slice(keys.prefix.length))?.[0] ?? "",
  );
  return [...new Set(rooms)].map((room) => keys.prefix + room);
}

function writtenKeys({ success }: Txn): string[] {
  return success.flatMap((op) => (op.op === "txn" ? writtenKeys(op.txn) : op.op === "range" ? [] : [op.key]));
}
