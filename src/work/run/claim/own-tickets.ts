import { isHolding } from "../../../protocol/admission.ts";
import type { QueueEntry } from "../../../protocol/ticket.ts";
import { type ClaimAttempt, listOwnKeys } from "./attempt.ts";
import type { ClaimView, OwnTicketRevisions } from "./claim-view.ts";

/**
 * Classifies the own tickets in a view: none, some or all of them exist, or the claim is `broken`: a ticket has gone or
 * was replaced since the last read, the resource tickets do not share one revision, or a ticket cannot be parsed. A claim
 * exists completely or not at all, except that a queueing run puts the lock's ticket first.
 */
export function judgeOwnTickets(
  attempt: ClaimAttempt,
  before: OwnTicketRevisions,
  view: ClaimView,
): "none" | "partial" | "complete" | "broken" {
  const now = getOwnRevisions(attempt, view);
  if (now === "broken") return "broken";
  if (before.lock !== undefined && before.lock !== now.lock) return "broken";
  if (before.resources !== undefined && before.resources !== now.resources) return "broken";
  const wantsResources = attempt.resourceKeys.length > 0;
  const hasLock = attempt.lockKey === undefined || now.lock !== undefined;
  const hasResources = !wantsResources || now.resources !== undefined;
  if (view.own.size === 0) return "none";
  if (!hasLock || (!hasResources && isGranted(view))) return "broken";
  if (attempt.request.patience.queues) return hasResources ? "complete" : "partial";
  const isOneClaim = !wantsResources || now.lock === undefined || now.lock === now.resources;
  return hasResources && isOneClaim ? "complete" : "broken";
}

/** Whether a ticket is held: all were, so one that is missing was removed. */
function isGranted({ own }: ClaimView): boolean {
  return [...own.values()].some(isHolding);
}

/** Returns the revisions at which the own tickets were created. */
export function getOwnRevisions(attempt: ClaimAttempt, view: ClaimView): OwnTicketRevisions | "broken" {
  if (listOwnKeys(attempt).some((key) => isUnreadable(view.own.get(key)))) return "broken";
  const resources = attempt.resourceKeys.map((key) => view.own.get(key)?.createRevision);
  if (new Set(resources).size > 1) return "broken";
  return { lock: view.own.get(attempt.lockKey ?? "")?.createRevision, resources: resources[0] };
}

function isUnreadable(place: QueueEntry | undefined): boolean {
  return place !== undefined && place.ticket === undefined;
}
