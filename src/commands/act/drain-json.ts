import type { Claim } from "../../model/claims.ts";
import type { Extent } from "../../model/scope.ts";
import { type Drain, type DrainTarget, drainTarget } from "../../protocol/drain.ts";
import { claimJson } from "./evict-json.ts";

/** What a drain did or would do, for programs. docs/maintenance.md says what the fields mean. */
export function drainDocument(
  what: { revision: bigint; target: DrainTarget; extent: Extent },
  drains: { drain: Drain | undefined; before: readonly Drain[] },
  holders: readonly Claim[],
  said: { outcome: string; messages: readonly string[] },
): object {
  const { revision, target, extent } = what;
  return {
    ...{ revision, action: "drain", target: drainTarget(target), ...said },
    drain: drains.drain && drainJson(drains.drain),
    before: drains.before.map(drainJson),
    hosts: extent.hosts,
    holders: holders.map(claimJson),
    waiters: extent.waiters.map(({ claim, fate }) => ({ ...claimJson(claim), fate })),
  };
}

/** A drain. Wall clocks in ms since the epoch; `revision` is that of its last change. */
export function drainJson({ scope, name, by, at, why, until, modRevision }: Drain): object {
  return { scope, name, by, at, why, until, revision: modRevision };
}
