import type { WallTime } from "../../core/base/clock.ts";
import {
  type Drain,
  type DrainTarget,
  formatAuditTarget,
  serializeDrain,
} from "../../core/protocol/drain.ts";
import { deleteKeys, guardRevision, guardUnchanged } from "../../core/protocol/guards.ts";
import type { Compare } from "../../core/protocol/txn.ts";
import {
  type ActionResult,
  executeAction,
  executeInChunks,
  formatOperator,
  type OperatorPorts,
} from "./operator-action.ts";

interface PutDrainOptions {
  target: DrainTarget;
  reason?: string | undefined;
  /** When the drain ends by itself. */
  until?: WallTime | undefined;
  /** Existing drains of the same target to replace, as they were read. */
  instead: readonly Drain[];
  /** Revision that the operator has read. */
  seen: bigint;
  /** Further conditions that must still hold. */
  compare?: readonly Compare[];
  outcome: string;
}

/**
 * Stops new claims and grants in a scope, from the transaction's revision on: a grant compares that no drain is newer
 * than the revision its decision is based on.
 * @returns `changed` when a drain of the same target was added, removed or changed since it was read; and the new drain
 * @throws SignalboxError 77, StoreError
 */
export async function putDrain(
  ports: OperatorPorts,
  options: PutDrainOptions,
): Promise<{ receipt: ActionResult; drain: Drain }> {
  const { target, instead, seen, reason, until, outcome } = options;
  const key = ports.keys.drain(target.scope, target.name);
  const details = {
    by: formatOperator(ports.operator),
    at: ports.clock.getWallTime(),
    ...(reason !== undefined && { why: reason }),
    ...(until !== undefined && { until }),
  };
  const isNew = !instead.some((drain) => drain.key === key);
  const absent = isNew ? [guardRevision(key, 0n)] : [];
  const old = instead.filter((drain) => drain.key !== key);
  const receipt = await executeAction(ports, {
    action: "drain",
    target: formatAuditTarget(target),
    seen,
    reason,
    outcome,
    compare: [...absent, ...guardUnchanged(instead), ...(options.compare ?? [])],
    ops: [{ op: "put", key, value: serializeDrain(details) }, ...deleteKeys(old)],
  });
  return { receipt, drain: { key, ...target, ...details, modRevision: receipt.revision } };
}

/**
 * Lifts drains, if they are unchanged since they were read.
 * @returns `changed` as soon as one was renewed or lifted in the meantime; undefined when there are none
 * @throws SignalboxError 77, StoreError
 */
export function liftDrains(
  ports: OperatorPorts,
  {
    target,
    drains,
    ...read
  }: { target: DrainTarget; drains: readonly Drain[]; seen: bigint; reason?: string | undefined },
): Promise<ActionResult | undefined> {
  const undrain = {
    ...read,
    action: "undrain",
    target: formatAuditTarget(target),
    outcome: "lifted",
    compare: [],
  } as const;
  return executeInChunks(ports, undrain, drains, deleteKeys);
}
