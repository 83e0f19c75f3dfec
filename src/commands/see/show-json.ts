import { type Claim, isHolder, whoIs } from "../../model/claims.ts";
import type { Detail } from "../../model/detail/detail.ts";
import type { Explanation, Obstacle } from "../../model/explain.ts";
import { livenessOf, type Pulses } from "../../model/explain-text.ts";
import { occupant } from "../../model/queue-row.ts";
import { drainJson, occupantJson } from "../../model/tables/cells.ts";
import { claimState, runJson } from "../../model/tables/runs.ts";
import { drainsOn } from "../../model/tables/stopped.ts";
import type { Scene } from "../../model/tables/view.ts";
import type { Place } from "../../protocol/ticket.ts";

/** What is shown of a thing, for people and for programs. docs/json.md says what the fields mean. */
export interface Shown {
  revision: bigint;
  detail: Detail;
  document: object;
}

/** How a runner is, and of its session the seconds left and granted, where that is known. */
export function runnerJson(place: Place, pulses: Pulses): object {
  const { verdict = "unknown" } = livenessOf(place, pulses) ?? {};
  const { left, ttl } = pulses.get(place.session) ?? {};
  return { run: place.run, who: whoIs(place), verdict, left, ttl };
}

/** Runners of those that were asked. */
export function runnersJson(places: readonly Place[], pulses: Pulses): object[] {
  return places.filter(({ session }) => pulses.has(session)).map((place) => runnerJson(place, pulses));
}

/** A run as `ls runs` has it. */
export function claimRow(claim: Claim, scene: Scene): object {
  const host = claim.stands.find(({ place }) => place.ticket !== undefined)?.place.ticket?.host;
  const queues = claim.stands.map(({ queue }) => queue);
  const drains = isHolder(claim) ? [] : drainsOn({ host, queues }, scene);
  return { ...runJson(claim, claimState(claim)), drains: drains.map(drainJson) };
}

export function explanationJson(explanation: Explanation, pulses: Pulses): object {
  const { claim, state, obstacles, drains, estimate, first } = explanation;
  return {
    ...{ ...runJson(claim, claimState(claim)), verdict: state },
    obstacles: obstacles.map((obstacle) => obstacleJson(obstacle, pulses)),
    drains: drains.map(drainJson),
    estimate,
    first: first && { run: first.claim.run, verdict: first.state },
  };
}

function obstacleJson(obstacle: Obstacle, pulses: Pulses): object {
  const { place: _, isImpossible, used, total, ahead, heldBehind, ...rest } = obstacle;
  const told = (place: Place) => ({
    ...occupantJson(occupant(place)),
    runner: livenessOf(place, pulses)?.verdict,
  });
  return {
    ...{ ...rest, used, free: Math.max(0, total - used), total, impossible: isImpossible },
    ...{ ahead: ahead.map(told), heldBehind: heldBehind.map(told) },
  };
}
