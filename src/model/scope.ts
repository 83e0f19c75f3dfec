import { groupsOf, hostsOf } from "../fleet/groups.ts";
import {
  applies,
  type Drain,
  type DrainTarget,
  hasEnded,
  isSameTarget,
  type Reach,
  stopsAllOf,
} from "../protocol/drain.ts";
import type { Place } from "../protocol/ticket.ts";
import { type Claim, claimsOf, isHolder } from "./claims.ts";
import { membersOf, type Picture } from "./picture.ts";

/**
 * What becomes of a waiter under a drain. `leaves`: its place would be in the way of others, so it claims again once it
 * may. `depends`: it waits for leases; its ticket does not say whether it was started with --wait and keeps its place, or
 * without and gives up.
 */
export type Fate = "stays" | "leaves" | "depends";

/** Who is in the scope of a drain: its blast radius. */
export interface Extent {
  /** Runs whose command may be running. They go on: a drain alone ends nobody. */
  readonly holders: readonly Claim[];
  readonly waiters: readonly { readonly claim: Claim; readonly fate: Fate }[];
  /** Hosts that it names, directly or as a group. */
  readonly hosts: readonly string[];
}

type Sight = Pick<Picture, "queues" | "groups" | "drains">;

/**
 * Who a drain is about, in the order of claims.
 * @param wall  wall clock, ms since the epoch: other drains decide too which waiters keep their places
 */
export function extentOf(picture: Sight, target: DrainTarget, wall: number): Extent {
  const others = [...picture.drains.values()].filter(
    (drain) => !hasEnded(drain, wall) && !isSameTarget(drain, target),
  );
  const inScope = claimsIn(picture, target);
  const waiters = inScope.flatMap(({ claim, reach }) => {
    if (mayRun(claim) || isHolder(claim)) return [];
    const drains = [target, ...others.filter((drain) => applies(drain, reach))];
    return [{ claim, fate: fateOf(reach, claim, drains) }];
  });
  return {
    holders: inScope.flatMap(({ claim }) => (mayRun(claim) ? [claim] : [])),
    waiters,
    hosts: hostsIn(picture, target),
  };
}

/** Every ticket of those in scope, whatever its state. */
export function placesIn(picture: Sight, target: DrainTarget): Place[] {
  return claimsIn(picture, target).flatMap(({ claim }) => claim.stands.map(({ place }) => place));
}

/** The drains of exactly this, however their keys spell it; also those that have ended by themselves. */
export function drainsOf(picture: Pick<Picture, "drains">, target: DrainTarget): Drain[] {
  return [...picture.drains.values()].filter((drain) => isSameTarget(drain, target));
}

/** Other drains that stop something of this too: undraining it alone does not set it free. */
export function otherDrains(picture: Sight, target: DrainTarget, wall: number): Drain[] {
  const groups = membersOf(picture);
  const hosts = hostsIn(picture, target);
  const reaches = [
    ...hosts.map((host) => ({ resources: [], host, groups: groupsOf(groups, host) })),
    ...(target.scope === "lock" ? [{ lock: target.name, resources: [], host: "", groups: [] }] : []),
    ...(target.scope === "resource" ? [{ resources: [target.name], host: "", groups: [] }] : []),
  ];
  return [...picture.drains.values()].filter(
    (drain) =>
      !hasEnded(drain, wall) &&
      !isSameTarget(drain, target) &&
      (drain.scope === "all" || reaches.some((reach) => applies(drain, reach))),
  );
}

/** The hosts that a drain names; none where it is about something else, or a group that is not there. */
function hostsIn(picture: Sight, { scope, name }: DrainTarget): readonly string[] {
  if (scope === "host") return [name];
  return scope === "group" && picture.groups.has(name) ? hostsOf(membersOf(picture), name) : [];
}

function claimsIn(picture: Sight, target: DrainTarget): { claim: Claim; reach: Reach }[] {
  const groupsOfHost = groupsByHost(picture);
  return [...claimsOf(picture).values()]
    .map((claim) => ({ claim, reach: reachOf(claim, groupsOfHost) }))
    .filter(({ claim, reach }) => applies(target, reach) || standsIn(claim, target))
    .sort((a, b) => byTurn(a.claim, b.claim));
}

/** Keys put by hand may stand in several locks. */
function standsIn({ stands }: Claim, { scope, name }: DrainTarget): boolean {
  return stands.some(({ queue }) => queue.kind === scope && queue.name === name);
}

/** Everything that the tickets of a claim show a drain could name. It may be about to ask for more. */
function reachOf({ stands }: Claim, groupsOfHost: (host: string) => readonly string[]): Reach {
  const lock = stands.find(({ queue }) => queue.kind === "lock")?.queue.name;
  const resources = stands.flatMap(({ queue }) => (queue.kind === "resource" ? [queue.name] : []));
  const host = stands.find(({ place }) => place.ticket !== undefined)?.place.ticket?.host ?? "";
  return { ...(lock !== undefined && { lock }), resources, host, groups: groupsOfHost(host) };
}

/** Many runs share a host; its groups are looked for once. */
function groupsByHost(picture: Sight): (host: string) => readonly string[] {
  const groups = membersOf(picture);
  const known = new Map<string, readonly string[]>();
  return (host) => {
    const found = known.get(host) ?? (groups.size === 0 ? [] : groupsOf(groups, host));
    known.set(host, found);
    return found;
  };
}

/** Whether a run's command may be running: it holds, or has a ticket that cannot be read. A place in grace is only kept. */
function mayRun(claim: Claim): boolean {
  return heldPlaces(claim).length > 0;
}

function fateOf(reach: Reach, { stands }: Claim, drains: readonly DrainTarget[]): Fate {
  if (!drains.every((drain) => stopsAllOf(drain, reach))) return "leaves";
  return stands.some(({ queue }) => queue.kind === "resource") ? "depends" : "stays";
}

/** The tickets that make a run a holder. */
export function heldPlaces({ stands }: Claim): Place[] {
  return stands
    .map(({ place }) => place)
    .filter(({ ticket }) => ticket === undefined || ticket.state === "held");
}

function byTurn(a: Claim, b: Claim): number {
  const [first, second] = [turnOf(a), turnOf(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function turnOf({ stands }: Claim): bigint {
  return stands.reduce(
    (least, { place }) => (place.createRevision < least ? place.createRevision : least),
    1n << 63n,
  );
}
