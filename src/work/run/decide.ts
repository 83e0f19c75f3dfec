import { admit, holds } from "../../protocol/admission.ts";
import { hasEnded, stopsAllOf } from "../../protocol/drain.ts";
import type { Basis } from "../../protocol/guards.ts";
import type { Place } from "../../protocol/ticket.ts";
import type { Attempt } from "./attempt.ts";
import type { Sight } from "./queues.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import { type Outlook, outlook, type ResourceTotal } from "./situation.ts";
import { ownStanding } from "./standing.ts";
import type { ResourceSight, Step } from "./step.ts";
import type { Standing, View } from "./view.ts";
import { waitStep } from "./wake.ts";

/**
 * The next step of an attempt.
 * @param standing  where the own tickets stood when last seen
 * @param wall      wall clock, ms since the epoch
 * @throws ConfigError where the claim can never be granted
 */
export function decide(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: Attempt,
  standing: Standing,
  view: View,
  wall: number,
): Step {
  const own = ownStanding(request, attempt, standing, view);
  if (own === "broken") return { kind: "leave", refusal: { kind: "gone" } };
  const places = [...view.own.values()];
  const reset = places.find(({ ticket }) => ticket?.reset)?.ticket?.reset;
  if (reset !== undefined) return { kind: "leave", refusal: { kind: "evicted", by: reset.by } };
  if (own === "complete" && places.every(holds)) return { kind: "granted", places };
  const prospect = outlook(ports, request, view.situation, wall);
  if (prospect.kind === "outside") {
    return { kind: "leave", refusal: { kind: "outside", group: prospect.group } };
  }
  if (prospect.kind === "drained") return underDrain(ports, request, attempt, view, prospect);
  return own === "none"
    ? toClaim(request, view, prospect, wall)
    : toAdvance(ports, request, attempt, view, prospect, wall);
}

const NOTHING: Sight = { reach: "whole", queue: [], ahead: undefined };

type Open = Extract<Outlook, { kind: "open" }>;
type Drained = Extract<Outlook, { kind: "drained" }>;

/** A place is kept under a drain only where it is in nobody's way: where the drain stops every queue it stands in. */
function underDrain(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: Attempt,
  view: View,
  { drains, basis }: Drained,
): Step {
  const lock = attempt.lockKey !== undefined && view.own.has(attempt.lockKey) ? request.lock : undefined;
  const resources = request.leases
    .map(({ resource }) => resource)
    .filter((_, index) => view.own.has(attempt.resourceKeys[index] ?? ""));
  const stands = { resources, ...(lock !== undefined && { lock }) };
  const mayStay = view.own.size > 0 && drains.every((drain) => stopsAllOf(drain, stands));
  if (!request.patience.queues || !mayStay) return { kind: "leave", refusal: { kind: "drained", drains } };
  return waitStep(ports.keys, request, view, basis, { drains });
}

function toClaim(request: ClaimRequest, view: View, { basis, totals }: Open, wall: number): Step {
  const { lockQueue } = view;
  if (lockQueue.length > 0 && lockQueue.every((place) => isOver(place, wall))) {
    return { kind: "sweep", places: lockQueue };
  }
  if (lockQueue.length > 0 && !request.patience.queues) {
    return { kind: "leave", refusal: { kind: "busy", holder: lockQueue[0] } };
  }
  return { kind: "claim", basis, totals };
}

/** Some or all of the tickets stand: find out what they may do. */
function toAdvance(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: Attempt,
  view: View,
  { basis, totals }: Open,
  wall: number,
): Step {
  const lock = view.own.get(attempt.lockKey ?? "");
  const lockAdmission = lock === undefined ? undefined : admit(view.lockQueue, attempt.run, 1);
  if (lockAdmission?.kind === "waiting") {
    const ahead = lockAdmission.ahead[0];
    if (ahead !== undefined && isOver(ahead, wall)) return { kind: "sweep", places: [ahead] };
    return waitStep(ports.keys, request, view, basis, { lockAhead: ahead });
  }
  const isPlaced = attempt.resourceKeys.some((key) => view.own.has(key));
  if (lock !== undefined && !isPlaced && totals.length > 0) return { kind: "join", basis, totals, lock };
  return onResources(ports, request, attempt, view, { basis, totals });
}

function onResources(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: Attempt,
  view: View,
  { basis, totals }: { basis: Basis; totals: readonly ResourceTotal[] },
): Step {
  const places = [...view.own.values()];
  const sights = totals.map((total) => resourceSight(attempt, view, total));
  if (sights.some(({ admission }) => admission === "unsure")) return { kind: "closer" };
  const waiting = sights.filter(({ admission }) => admission === "waiting");
  if (waiting.length === 0) return { kind: "grant", basis, places };
  const blocked = new Set(waiting.map(({ resource }) => ports.keys.resource(resource, attempt.run)));
  const unmarked = places.filter(({ key, ticket }) => !blocked.has(key) && ticket?.state === "waiting");
  if (unmarked.length > 0) return { kind: "mark", places: unmarked };
  return waitStep(ports.keys, request, view, basis, { resources: waiting });
}

/**
 * Behind a place that waits itself, nothing more need be read: it is not admitted, so neither are we. Nor behind the first
 * places where they leave no room already: what else there is only adds to their units, and takes from the total.
 */
function resourceSight(
  attempt: Attempt,
  view: View,
  { lease, configured, total }: ResourceTotal,
): ResourceSight {
  const { reach, queue, ahead } = view.resourceQueues.get(lease.resource) ?? NOTHING;
  const base = { resource: lease.resource, count: lease.count, total, ahead };
  if (reach === "near")
    return { ...base, admission: ahead?.ticket?.state === "waiting" ? "waiting" : "unsure" };
  if (admit(queue, attempt.run, configured).kind !== "admitted") return { ...base, admission: "waiting" };
  return { ...base, admission: reach === "whole" ? "admitted" : "unsure" };
}

/** A grace ticket whose time has passed: its session may outlive it by a leader change, so anyone may delete it. */
function isOver({ ticket }: Place, wall: number): boolean {
  return ticket?.state === "grace" && hasEnded(ticket, wall);
}
