import type { WallTime } from "../../core/base/clock.ts";
import { memoize } from "../../core/base/memoize.ts";
import { canonicalizeHost } from "../../core/base/text.ts";
import { createHostGroupLookup, listGroupHosts } from "../../core/fleet/groups.ts";
import {
  type Drain,
  type DrainTarget,
  hasEnded,
  isDrainApplicable,
  isEveryQueueStopped,
  isSameTarget,
  type RunTargets,
} from "../../core/protocol/drain.ts";
import type { QueueEntry } from "../../core/protocol/ticket.ts";
import { listStates } from "../../schedule/state/host-states.ts";
import { type Claim, compareClaims, findClaimTicket, isHolder, listRuns } from "./claims.ts";
import { buildGroupMembers, type Snapshot } from "./snapshot.ts";
import { buildHostReach } from "./view-context.ts";

/**
 * What a drain does to a waiter. `stays`: it keeps its queue entry. `leaves`: its entry would block other runs, so it
 * removes the entry and claims again after the drain. `depends`: it waits for leases. With --wait it keeps its queue
 * entry, without --wait it gives up; the ticket does not store this option.
 */
export type WaiterFate = "stays" | "leaves" | "depends";

/** The runs and hosts in the scope of a drain. */
export interface DrainExtent {
  /** Runs whose command may be running. They continue: a drain does not end commands. */
  readonly holders: readonly Claim[];
  readonly waiters: readonly { readonly claim: Claim; readonly fate: WaiterFate }[];
  /** Hosts that the drain names, directly or through a group. */
  readonly hosts: readonly string[];
}

type ExtentSnapshot = Pick<Snapshot, "queues" | "executions" | "groups" | "drains">;

/**
 * Computes which runs and hosts a drain affects. Runs are in the order of claims.
 * @param wall  Other active drains also decide which waiters keep their queue entries
 */
export function computeDrainExtent(
  snapshot: ExtentSnapshot,
  target: DrainTarget,
  wall: WallTime,
): DrainExtent {
  const others = [...snapshot.drains.values()].filter(
    (drain) => !hasEnded(drain, wall) && !isSameTarget(drain, target),
  );
  const inScope = listClaimsInScope(snapshot, target);
  const waiters = inScope.flatMap(({ claim, reach }) => {
    if (canBeRunning(claim) || isHolder(claim)) return [];
    const drains = [target, ...others.filter((drain) => isDrainApplicable(drain, reach))];
    return [{ claim, fate: judgeFate(reach, claim, drains) }];
  });
  return {
    holders: inScope.flatMap(({ claim }) => (canBeRunning(claim) ? [claim] : [])),
    waiters,
    hosts: listHostsInScope(snapshot, target),
  };
}

/** Finds the drains of exactly this target, for any spelling in their keys. Includes expired drains. */
export function findDrainsOfTarget(snapshot: Snapshot, target: DrainTarget): Drain[] {
  return [...snapshot.drains.values()].filter((drain) => isSameTarget(drain, target));
}

/** Finds other active drains that apply to the target: they still stop it after an undrain of the target. */
export function findOtherDrains(snapshot: ExtentSnapshot, target: DrainTarget, wall: WallTime): Drain[] {
  const groups = buildGroupMembers(snapshot);
  const hosts = listHostsInScope(snapshot, target);
  const reaches = [
    ...hosts.map((host) => buildHostReach(groups, host)),
    {
      locks: target.scope === "lock" ? [target.name] : [],
      resources: target.scope === "resource" ? [target.name] : [],
      host: "",
      groups: [],
    },
  ];
  return [...snapshot.drains.values()].filter(
    (drain) =>
      !hasEnded(drain, wall) &&
      !isSameTarget(drain, target) &&
      (drain.scope === "all" || reaches.some((reach) => isDrainApplicable(drain, reach))),
  );
}

/** Lists the hosts that a drain names; empty for other scopes and for a group that does not exist. */
function listHostsInScope(snapshot: ExtentSnapshot, { scope, name }: DrainTarget): readonly string[] {
  if (scope === "host") return [name];
  return scope === "group" && snapshot.groups.has(name)
    ? listGroupHosts(buildGroupMembers(snapshot), name)
    : [];
}

function listClaimsInScope(
  snapshot: ExtentSnapshot,
  target: DrainTarget,
): { claim: Claim; reach: RunTargets }[] {
  const groupsOfHost = createGroupLookup(snapshot);
  return listRuns(snapshot)
    .map((claim) => ({ claim, reach: buildReach(claim, groupsOfHost) }))
    .filter(({ claim, reach }) => isDrainApplicable(target, reach) || isQueuedIn(claim, target))
    .sort((a, b) => compareClaims(a.claim, b.claim));
}

/** Whether a drain covers tasks without leases. The others have tickets, which leave marks. */
export function coversTasks({ scope }: DrainTarget): boolean {
  return scope !== "lock" && scope !== "resource";
}

/**
 * Lists the tasks in the scope of a drain that may still run although their running keys are missing. A task does not state its
 * host, unless its schedule runs on every host.
 */
export function listLostTasks(snapshot: Snapshot, target: DrainTarget): Claim[] {
  if (!coversTasks(target)) return [];
  const known = new Set(listRuns(snapshot).map(({ run }) => run));
  const hosts = new Set(listHostsInScope(snapshot, target).map(canonicalizeHost));
  const isInScope = (host: string | undefined) =>
    target.scope === "all" || host === undefined || hosts.has(canonicalizeHost(host));
  return [...snapshot.dues].flatMap(([id, { value }]) =>
    listStates(value)
      .flatMap(([host, { open }]) => (isInScope(host) ? open : []))
      .flatMap(({ session }): Claim[] => {
        if (session === undefined || known.has(session.run)) return [];
        return [{ run: session.run, entries: [], lost: { id, ttl: session.ttl } }];
      }),
  );
}

/** Checks all entries: a run id put by hand may be in the queues of several locks. */
function isQueuedIn({ entries }: Claim, { scope, name }: DrainTarget): boolean {
  return entries.some(({ queue }) => queue.kind === scope && queue.name === name);
}

/** Collects the drainable targets that the tickets of a claim show. The run may still add tickets. */
function buildReach(claim: Claim, groupsOfHost: (host: string) => readonly string[]): RunTargets {
  const { entries, task } = claim;
  const locks = entries.flatMap(({ queue }) => (queue.kind === "lock" ? [queue.name] : []));
  const resources = entries.flatMap(({ queue }) => (queue.kind === "resource" ? [queue.name] : []));
  const { host = "" } = findClaimTicket(claim) ?? task?.value ?? {};
  return { locks, resources, host, groups: groupsOfHost(host) };
}

/** Caches the groups of each host, because many runs share a host. */
function createGroupLookup(snapshot: ExtentSnapshot): (host: string) => readonly string[] {
  return memoize(createHostGroupLookup(buildGroupMembers(snapshot)));
}

/** Whether the command of a run may be running: a ticket is held or cannot be read. In grace, the command has ended. */
function canBeRunning(claim: Claim): boolean {
  return listHeldKeys(claim).length > 0;
}

function judgeFate(reach: RunTargets, { entries }: Claim, drains: readonly DrainTarget[]): WaiterFate {
  if (!drains.every((drain) => isEveryQueueStopped(drain, reach))) return "leaves";
  return entries.some(({ queue }) => queue.kind === "resource") ? "depends" : "stays";
}

/** Lists the entries that make a run a holder: tickets that are held or cannot be read. */
export function listHeldEntries({ entries }: Claim): QueueEntry[] {
  return entries
    .map(({ entry }) => entry)
    .filter(({ ticket }) => ticket === undefined || ticket.state === "held");
}

/**
 * Lists the keys that make a run a holder: of its held entries, or of a task without any, which is its run if the key is missing.
 * A task that waits for leases has not started.
 */
export function listHeldKeys(claim: Claim): string[] {
  const { run, entries, task, lost } = claim;
  if (lost !== undefined) return [run];
  return entries.length === 0 && task !== undefined
    ? [task.key]
    : listHeldEntries(claim).map(({ key }) => key);
}
