import { admit, holds } from "../protocol/admission.ts";
import type { Drain } from "../protocol/drain.ts";
import type { QueueKind } from "../protocol/keys.ts";
import type { Place, ResetRequest } from "../protocol/ticket.ts";
import { type Claim, isHolder, type Stand } from "./claims.ts";
import { drainsOn, plainTotal } from "./foresee.ts";
import type { Picture } from "./picture.ts";
import { typicalHeld } from "./statistics.ts";

/** Why one ticket is not granted yet. */
export interface Obstacle {
  kind: QueueKind;
  name: string;
  /** From 1. */
  position: number;
  /** Units asked for, held by others, and there. */
  count: number;
  used: number;
  total: number;
  /** Units that must become free; 0 where its turn has come here. */
  missing: number;
  /** Those before it, nearest first. */
  ahead: readonly Place[];
}

/** Why a run waits. */
export interface Explanation {
  claim: Claim;
  /** `ready`: nothing stands in its way, it is about to be granted. */
  state: "holds" | "waits" | "ready" | "drained" | "malformed";
  obstacles: readonly Obstacle[];
  drains: readonly Drain[];
  reset: ResetRequest | undefined;
  /** How long it may still wait for its lock, ms, judged by the lock's history; undefined where that is too short. */
  estimate: { p50: number; p95: number } | undefined;
}

/** Fewer remembered runs than this say nothing about the next one. */
const ENOUGH = 3;

/** @param wall  wall clock, ms since the epoch */
export function explain(picture: Picture, claim: Claim, wall: number): Explanation {
  const reset = claim.stands.find(({ place }) => place.ticket?.reset !== undefined)?.place.ticket?.reset;
  const known = { claim, reset };
  if (claim.stands.every(({ place }) => place.ticket === undefined))
    return { ...known, state: "malformed", obstacles: [], drains: [], estimate: undefined };
  if (isHolder(claim)) return { ...known, state: "holds", obstacles: [], drains: [], estimate: undefined };
  const obstacles = claim.stands.flatMap((stand) => obstacleOf(picture, stand) ?? []);
  const drains = drainsOn(picture, claim, wall);
  const isHeldUp = obstacles.some(({ missing }) => missing > 0);
  const state = isHeldUp ? "waits" : drains.length > 0 ? "drained" : "ready";
  return { ...known, state, obstacles, drains, estimate: estimateOf(picture, obstacles, wall) };
}

/** What stands before a ticket; undefined for one that is held already, or cannot be read. */
function obstacleOf(picture: Picture, { queue, place }: Stand): Obstacle | undefined {
  const { kind, name, places } = queue;
  if (place.ticket === undefined || holds(place)) return undefined;
  const configured = kind === "lock" ? 1 : plainTotal(picture, name);
  const admission = admit(places, place.run, configured);
  const index = places.findIndex(({ key }) => key === place.key);
  const others = places.filter((other) => holds(other) && other.key !== place.key);
  return {
    ...{ kind, name, position: index + 1, count: place.ticket.count },
    used: others.reduce((sum, { ticket }) => sum + (ticket?.count ?? 0), 0),
    total: admission.kind === "gone" ? 0 : admission.total,
    missing: admission.kind === "waiting" ? admission.missing : 0,
    ahead: admission.kind === "waiting" ? admission.ahead : [],
  };
}

/** What is left of the holder's usual time, and the usual time of everybody between. */
function estimateOf(picture: Picture, obstacles: readonly Obstacle[], wall: number): Explanation["estimate"] {
  const lock = obstacles.find(({ kind, missing }) => kind === "lock" && missing > 0);
  const history = lock === undefined ? [] : (picture.histories.get(lock.name) ?? []);
  const usual = typicalHeld(history);
  if (lock === undefined || usual === undefined || history.length < ENOUGH) return undefined;
  const holder = lock.ahead.find(holds);
  const since = holder?.ticket?.grantedAt;
  const spent = since === undefined ? 0 : Math.max(0, wall - since);
  const between = lock.ahead.filter((place) => !holds(place)).length;
  const rest = (held: number) => (holder === undefined ? 0 : Math.max(0, held - spent)) + between * held;
  return { p50: rest(usual.p50), p95: rest(usual.p95) };
}
