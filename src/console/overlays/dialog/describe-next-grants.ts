import type { OperationResult } from "../../../commands/outcome/operation-result.ts";
import { canPredictGrants, formatNextGrants } from "../../../model/insight/next-grants.ts";
import {
  computeDrainEffect,
  computeResetEffect,
  computeTotalEffect,
  type DirectEffect,
} from "../../../model/insight/what-if.ts";
import { findPlainTotal } from "../../../model/preview/eviction-preview.ts";
import type { Snapshot } from "../../../model/snapshot/snapshot.ts";

/** When a change would be made, and by whom. */
interface ChangeOrigin {
  by: string;
  /** Wall clock, ms since the epoch. */
  wall: number;
}

/**
 * Describes in one line which runs would be granted after what a dry run shows.
 * @returns undefined if the change concerns no queue, if nobody waits, or if the cluster is too large
 */
export function describeNextGrants(
  result: OperationResult,
  snapshot: Snapshot,
  origin: ChangeOrigin,
): string | undefined {
  if (!("outcome" in result) || result.outcome !== "dry-run" || !canPredictGrants(snapshot)) return undefined;
  const effect = computeEffect(result, snapshot, origin);
  return effect && formatNextGrants(effect, origin.wall);
}

function computeEffect(
  result: OperationResult,
  snapshot: Snapshot,
  { by, wall }: ChangeOrigin,
): DirectEffect | undefined {
  switch (result.kind) {
    case "eviction":
      return computeResetEffect(snapshot, result.preview.evicted);
    case "drain":
      return computeDrainEffect(snapshot, result.target, { by, wall });
    case "configuration": {
      const [change, ...others] = result.changes;
      if (change?.kind !== "resource" || others.length > 0) return undefined;
      const value = change.after && { value: change.after, modRevision: 0n };
      const total = value && findPlainTotal({ resources: new Map([[change.name, value]]) }, change.name);
      if (total === undefined) return undefined; // an expression: its value differs by host
      return computeTotalEffect(snapshot, { resource: change.name, total }, wall);
    }
    default:
      return undefined;
  }
}
