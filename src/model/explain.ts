import { admit, holds } from "../protocol/admission.ts";
import type { Drain } from "../protocol/drain.ts";
import type { QueueKind } from "../protocol/keys.ts";
import type { Place, ResetRequest } from "../protocol/ticket.ts";
import { type Claim, claimsOf, isHolder, type Stand } from "./claims.ts";
import { type Estimate, estimateOf } from "./explain-estimate.ts";
import { drainsOnClaim, plainTotal } from "./foresee.ts";
import type { Picture } from "./picture.ts";

/** How one ticket stands that is not granted yet. */
export interface Obstacle {
  kind: QueueKind;
  name: string;
  place: Place;
  /** From 1. */
  position: number;
  /** Units asked for, held by others, and there. */
  count: number;
  used: number;
  total: number;
  /** Units that must become free; 0 where its turn has come here. */
  missing: number;
  /** Operators allow fewer than it asks for. */
  isImpossible: boolean;
  /** Those before it, nearest first. */
  ahead: readonly Place[];
  /** Those behind it that hold all the same: the total was lowered, and raised again. */
  heldBehind: readonly Place[];
}

/**
 * How a run stands. `ready`: nothing stands in its way, it is about to be granted. `drained`: nothing but drains does.
 * `impossible`: it asks for more than there is, and gives up when it looks. `malformed`: a ticket of it cannot be read.
 */
export type Standing = "holds" | "waits" | "ready" | "drained" | "impossible" | "malformed";

/** Why a run waits. */
export interface Explanation {
  claim: Claim;
  state: Standing;
  obstacles: readonly Obstacle[];
  drains: readonly Drain[];
  reset: ResetRequest | undefined;
  /** Of whoever is first in the lock's queue, where nobody holds it: what keeps that one keeps everybody behind. */
  first: Explanation | undefined;
  /** How long the lock may still be out of reach; undefined where too little is known. */
  estimate: Estimate | undefined;
}

/** @param wall  wall clock, ms since the epoch */
export function explain(picture: Picture, claim: Claim, wall: number): Explanation {
  const own = explainOne(picture, claim, wall);
  const first = firstBefore(picture, own);
  if (first === undefined) return own;
  const before = explainOne(picture, first, wall);
  const isStopped = before.drains.length > 0 || before.state === "waits";
  return { ...own, first: before, ...(isStopped && { estimate: undefined }) };
}

function explainOne(picture: Picture, { run, stands }: Claim, wall: number): Explanation {
  const isLock = ({ queue }: Stand) => queue.kind === "lock";
  const claim = { run, stands: [...stands.filter(isLock), ...stands.filter((stand) => !isLock(stand))] };
  const reset = claim.stands.find(({ place }) => place.ticket?.reset !== undefined)?.place.ticket?.reset;
  const known = { claim, reset, first: undefined, estimate: undefined };
  if (claim.stands.some(({ place }) => place.ticket === undefined))
    return { ...known, state: "malformed", obstacles: [], drains: [] };
  if (isHolder(claim)) return { ...known, state: "holds", obstacles: [], drains: [] };
  const obstacles = claim.stands.flatMap((stand) => obstacleOf(picture, stand) ?? []);
  const drains = drainsOnClaim(picture, claim, wall);
  const state = stateOf(obstacles, drains);
  const lock = obstacles.find(({ kind, missing }) => kind === "lock" && missing > 0);
  if (lock === undefined || state !== "waits" || drains.length > 0)
    return { ...known, state, obstacles, drains };
  const history = picture.histories.get(lock.name) ?? [];
  return { ...known, state, obstacles, drains, estimate: estimateOf(lock.ahead, history, wall) };
}

function stateOf(obstacles: readonly Obstacle[], drains: readonly Drain[]): Standing {
  if (obstacles.some(({ isImpossible }) => isImpossible)) return "impossible";
  if (obstacles.some(({ missing }) => missing > 0)) return "waits";
  return drains.length > 0 ? "drained" : "ready";
}

/** What stands before a ticket; undefined for one that is held already. */
function obstacleOf(picture: Picture, { queue, place }: Stand): Obstacle | undefined {
  const { kind, name, places } = queue;
  const { ticket } = place;
  if (ticket === undefined || holds(place)) return undefined;
  const admission = admit(places, place.run, configuredTotal(picture, { queue, place }));
  if (admission.kind === "gone") return undefined;
  const isWaiting = admission.kind === "waiting";
  const index = places.indexOf(place);
  const others = places.filter((other) => holds(other) && other !== place);
  return {
    ...{ kind, name, place, position: index + 1, count: ticket.count, total: admission.total },
    used: others.reduce((sum, other) => sum + (other.ticket?.count ?? 0), 0),
    missing: isWaiting ? admission.missing : 0,
    isImpossible: admission.kind === "impossible",
    ahead: isWaiting ? admission.ahead : [],
    heldBehind: isWaiting ? places.slice(index + 1).filter(holds) : [],
  };
}

/**
 * The total by which a ticket is judged, where operators set one. An expression, or a name with macros, means another
 * number on each host: a run that does not state its total itself wrote into its ticket what it means there.
 */
function configuredTotal(picture: Picture, { queue: { kind, name }, place: { ticket } }: Stand) {
  if (kind === "lock") return 1;
  const plain = plainTotal(picture, name);
  if (plain !== undefined || ticket === undefined || ticket.isStated) return plain;
  const isExpression = picture.resources.get(name)?.value?.total !== undefined;
  const isByMacro = [...picture.resources.keys()].some((other) => /[A-Z]/.test(other));
  return isExpression || isByMacro ? ticket.total : undefined;
}

/** The run that is first in the queue of the lock that a run waits for, where nobody holds it. */
function firstBefore(picture: Picture, { obstacles }: Explanation): Claim | undefined {
  const lock = obstacles.find(({ kind, missing }) => kind === "lock" && missing > 0);
  const first = lock?.ahead.at(-1);
  if (first === undefined || lock?.ahead.some(holds)) return undefined;
  return claimsOf(picture).get(first.run);
}
