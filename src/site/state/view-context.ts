import type { WallTime } from "../../core/base/clock.ts";
import { memoize, memoizeWeakly } from "../../core/base/memoize.ts";
import { createHostGroupLookup } from "../../core/fleet/groups.ts";
import type { HostRecord } from "../../core/fleet/host-record.ts";
import { type Drain, hasEnded, isDrainApplicable, type RunTargets } from "../../core/protocol/drain.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import { type Claim, findClaimTicket } from "./claims.ts";
import { buildGroupMembers, type Collection, type Snapshot } from "./snapshot.ts";

/** Data from small collections that views need in addition to queues. It is read before the queues. */
export interface ViewContext {
  wall: WallTime;
  /** Drains that have not ended. */
  drains: readonly Drain[];
  /** Members by group. */
  groups: ReadonlyMap<string, readonly string[]>;
  resources: Snapshot["resources"];
  hosts: ReadonlyMap<string, HostRecord>;
  /** Finished runs by lock, newest first, where they were read. */
  histories?: Snapshot["histories"];
  /** Rows of earlier snapshots, by what they were built from: queues, or lists of claims. All else that they depend on is the same. */
  builtRows?: WeakMap<object, unknown>;
}

export const CONTEXT_COLLECTIONS: readonly Collection[] = ["resourceConfigs", "groups", "drains", "hosts"];

/** Builds the context for views from a snapshot. */
export function buildViewContext(snapshot: Snapshot, wall: WallTime): ViewContext {
  return {
    wall,
    drains: [...snapshot.drains.values()].filter((drain) => !hasEnded(drain, wall)),
    groups: buildGroupMembers(snapshot),
    resources: snapshot.resources,
    hosts: snapshot.hosts,
    histories: snapshot.histories,
  };
}

/** Finds the groups of a host, for each host of a view once: there may be thousands of hosts, groups and runs. */
const getGroupLookup = memoizeWeakly((groups: ViewContext["groups"]) =>
  memoize(createHostGroupLookup(groups)),
);

/** Lists the drains that prevent the grant of a claim. */
export function listDrainsOnClaim(claim: Claim, viewContext: ViewContext): readonly Drain[] {
  const queues = claim.entries.map(({ queue }) => queue);
  return listStoppingDrains({ host: findClaimTicket(claim)?.host, queues }, viewContext);
}

/** Returns what a drain must apply to for runs on a host without a claim. @param groups  members by group */
export function buildHostReach(groups: ViewContext["groups"], host: string): RunTargets {
  return { locks: [], resources: [], host, groups: getGroupLookup(groups)(host) };
}

/** The host of a run and its queues. */
interface RunLocation {
  /** Undefined if its ticket cannot be read. */
  host: string | undefined;
  queues: readonly { kind: QueueKind; name: string }[];
}

/** Lists the drains that stop a waiting run. Drains do not affect holders. */
export function listStoppingDrains(
  { host = "", queues }: RunLocation,
  viewContext: ViewContext,
): readonly Drain[] {
  if (viewContext.drains.length === 0) return viewContext.drains;
  const listNames = (wanted: QueueKind) =>
    queues.flatMap(({ kind, name }) => (kind === wanted ? [name] : []));
  // There may be many groups: compute membership only for group drains.
  const groups = viewContext.drains.some(({ scope }) => scope === "group")
    ? getGroupLookup(viewContext.groups)(host)
    : [];
  const reach = { locks: listNames("lock"), resources: listNames("resource"), host, groups };
  return viewContext.drains.filter((drain) => isDrainApplicable(drain, reach));
}
