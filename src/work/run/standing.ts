import type { Place } from "../../protocol/ticket.ts";
import { type Attempt, ownKeys } from "./attempt.ts";
import type { ClaimRequest } from "./request.ts";
import type { Standing, View } from "./view.ts";

/**
 * What a view says of the own tickets: none stands, some do, all do; or they are no claim any more (`broken`):
 * one has gone or was replaced since it was seen, the resource tickets do not share one revision, or a ticket cannot be
 * read. A claim stands whole or not at all, except that a queueing run puts its lock's ticket first.
 */
export function ownStanding(
  request: ClaimRequest,
  attempt: Attempt,
  before: Standing,
  view: View,
): "none" | "partial" | "complete" | "broken" {
  const now = standingOf(attempt, view);
  if (now === "broken") return "broken";
  if (before.lock !== undefined && before.lock !== now.lock) return "broken";
  if (before.resources !== undefined && before.resources !== now.resources) return "broken";
  const wantsResources = attempt.resourceKeys.length > 0;
  const hasLock = attempt.lockKey === undefined || now.lock !== undefined;
  const hasResources = !wantsResources || now.resources !== undefined;
  if (view.own.size === 0) return "none";
  if (!hasLock) return "broken";
  if (request.patience.queues) return hasResources ? "complete" : "partial";
  const isOneClaim = !wantsResources || now.lock === undefined || now.lock === now.resources;
  return hasResources && isOneClaim ? "complete" : "broken";
}

/** The revisions at which the own tickets were put. */
export function standingOf(attempt: Attempt, view: View): Standing | "broken" {
  if (ownKeys(attempt).some((key) => isUnreadable(view.own.get(key)))) return "broken";
  const resources = attempt.resourceKeys.map((key) => view.own.get(key)?.createRevision);
  if (new Set(resources).size > 1) return "broken";
  return { lock: view.own.get(attempt.lockKey ?? "")?.createRevision, resources: resources[0] };
}

function isUnreadable(place: Place | undefined): boolean {
  return place !== undefined && place.ticket === undefined;
}
