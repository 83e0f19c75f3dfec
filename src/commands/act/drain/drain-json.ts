import type { DrainExtent } from "../../../model/preview/drain-extent.ts";
import type { Claim } from "../../../model/snapshot/claims.ts";
import { type Drain, type DrainTarget, formatAuditTarget } from "../../../protocol/drain.ts";
import { toClaimJson } from "../evict-json.ts";

/** Builds the JSON document of a drain that was applied or previewed. docs/maintenance.md describes the fields. */
export function buildDrainDocument(
  what: { revision: bigint; target: DrainTarget; extent: DrainExtent },
  drains: { drain: Drain | undefined; before: readonly Drain[] },
  holders: readonly Claim[],
  said: { outcome: string; messages: readonly string[] },
): object {
  const { revision, target, extent } = what;
  return {
    ...{ revision, action: "drain", target: formatAuditTarget(target), ...said },
    drain: drains.drain && toDrainDocument(drains.drain),
    before: drains.before.map(toDrainDocument),
    hosts: extent.hosts,
    holders: holders.map(toClaimJson),
    waiters: extent.waiters.map(({ claim, fate }) => ({ ...toClaimJson(claim), fate })),
  };
}

/** Converts a drain to JSON. Times are wall clock, in ms since the epoch; `revision` is that of its last change. */
export function toDrainDocument({ scope, name, by, at, why, until, modRevision }: Drain): object {
  return { scope, name, by, at, why, until, revision: modRevision };
}
