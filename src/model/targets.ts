import { holds } from "../protocol/admission.ts";
import type { QueueKind } from "../protocol/keys.ts";
import type { Place } from "../protocol/ticket.ts";
import { type Picture, queueIn } from "./picture.ts";

/**
 * The tickets that a reset of a lock or resource is about: those that hold it; where nobody does, that of the run which
 * has the lock's turn and still waits for its leases. With `run`, that run's ticket, whatever its state.
 */
export function resetTargets(
  picture: Picture,
  kind: QueueKind,
  name: string,
  run?: string,
): readonly Place[] {
  const places = queueIn(picture, kind, name)?.places ?? [];
  if (run !== undefined) return places.filter((place) => place.run === run);
  const holding = places.filter((place) => holds(place) || place.ticket === undefined);
  if (holding.length > 0) return holding;
  return places.filter(({ ticket }) => kind === "lock" && ticket?.state === "admitted");
}
