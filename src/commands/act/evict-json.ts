import type { EvictionPreview } from "../../model/preview/eviction-preview.ts";
import type { Claim } from "../../model/snapshot/claims.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";

/** Builds the JSON document of an eviction that was done or previewed. docs/json.md describes the fields. */
export function toEvictionJson(
  plan: { snapshot: Snapshot; action: string; target: string },
  { evicted, freed, next }: EvictionPreview,
  runners: readonly object[],
  said: { outcome: string; messages: readonly string[] },
): object {
  const { snapshot, action, target } = plan;
  return {
    ...{ revision: snapshot.revision, action, target, ...said },
    evicted: evicted.map(toClaimJson),
    ...{ runners, freed },
    next: next.map(({ claim, drains }) => ({ ...toClaimJson(claim), drainedBy: drains.map(({ by }) => by) })),
  };
}

/** Converts a run and its tickets to JSON. */
export function toClaimJson({ run, entries }: Claim): object {
  const ticket = entries.find(({ entry }) => entry.ticket !== undefined)?.entry.ticket;
  const { host, pid, user, command, label } = ticket ?? {};
  return {
    ...{ run, host, pid, user, command, label },
    tickets: entries.map(({ queue, entry }) => ({
      ...{ kind: queue.kind, name: queue.name, state: entry.ticket?.state ?? "malformed" },
      ...{ units: entry.ticket?.count, token: entry.createRevision },
    })),
  };
}
