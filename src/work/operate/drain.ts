import { type Drain, type DrainTarget, drainTarget, drainText } from "../../protocol/drain.ts";
import { sameRevision } from "../../protocol/guards.ts";
import type { Compare, Op } from "../../protocol/txn.ts";
import { act, type Receipt } from "./act.ts";
import { type OperatorPorts, signature } from "./ports.ts";

/** A drain to put. */
export interface DrainWish {
  target: DrainTarget;
  reason?: string | undefined;
  /** Wall clock, ms since the epoch: when it ends by itself. */
  until?: number | undefined;
  /** Drains of the same thing that it takes the place of, as they were seen. */
  instead: readonly Drain[];
  /** Revision of what was seen. */
  seen: bigint;
  /** What else must still be as it was seen. */
  compare?: readonly Compare[];
  outcome: string;
}

/**
 * Stops new claims and grants in a scope, from the transaction's revision on: grants compare that no drain is newer than
 * what they were decided on.
 * @returns `changed` when a drain of the same thing came, went or changed since it was seen; and the drain as it was put
 * @throws SignalboxError 77, StoreError
 */
export async function putDrain(
  ports: OperatorPorts,
  wish: DrainWish,
): Promise<{ receipt: Receipt; drain: Drain }> {
  const { target, instead, seen, reason, until, outcome } = wish;
  const key = ports.keys.drain(target.scope, target.name);
  const details = {
    ...{ by: signature(ports.operator), at: ports.clock.wall() },
    ...(reason !== undefined && { why: reason }),
    ...(until !== undefined && { until }),
  };
  const isNew = !instead.some((drain) => drain.key === key);
  const absent: Compare[] = isNew ? [{ key, target: "create", is: "equal", value: 0n }] : [];
  const old = instead.filter((drain) => drain.key !== key);
  const receipt = await act(ports, {
    ...{ action: "drain", target: drainTarget(target), seen, reason, outcome },
    compare: [...absent, ...instead.map(asSeen), ...(wish.compare ?? [])],
    ops: [{ op: "put", key, value: drainText(details) }, ...old.map(removal)],
  });
  return { receipt, drain: { key, ...target, ...details, modRevision: receipt.revision } };
}

/** Drains lifted in one transaction: with the compares, below etcd's 128 operations. */
const CHUNK = 50;

/**
 * Lifts drains exactly as they were seen.
 * @returns `changed` as soon as one is not: somebody else renewed or lifted it; undefined where there are none
 * @throws SignalboxError 77, StoreError
 */
export async function liftDrains(
  ports: OperatorPorts,
  lift: { target: DrainTarget; drains: readonly Drain[]; seen: bigint; reason?: string | undefined },
): Promise<Receipt | undefined> {
  const { target, drains, seen, reason } = lift;
  let receipt: Receipt | undefined;
  for (let start = 0; start < drains.length; start += CHUNK) {
    const chunk = drains.slice(start, start + CHUNK);
    receipt = await act(ports, {
      ...{ action: "undrain", target: drainTarget(target), seen, reason, outcome: "lifted" },
      compare: chunk.map(asSeen),
      ops: chunk.map(removal),
    });
    if (receipt.kind === "changed") return receipt;
  }
  return receipt;
}

function asSeen({ key, modRevision }: Drain): Compare {
  return sameRevision(key, modRevision);
}

function removal({ key }: Drain): Op {
  return { op: "delete", key };
}
