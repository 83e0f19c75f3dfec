import type { Claim } from "../../model/claims.ts";
import type { Explanation } from "../../model/explain.ts";
import { type Picture, queueIn } from "../../model/picture.ts";
import { holds } from "../../protocol/admission.ts";
import type { Place } from "../../protocol/ticket.ts";
import { only, sightOf } from "../sight.ts";
import type { Desk } from "../with-store.ts";

/**
 * As much as tells why nobody gets a lock that somebody holds: those behind wait with one ticket each, and come to their
 * leases only when it is their turn. So nothing else need be read, however much there is.
 * @returns undefined where that is not how it stands: then everything must be read
 */
export async function sightOfLock(desk: Desk, name: string): Promise<Picture | undefined> {
  const { keys } = desk;
  const queues = [keys.queue("lock", name), keys.queue("resource", name), only(keys.history(name))];
  const picture = await sightOf(desk, ["resourceConfigs", "groups", "drains"], queues);
  const [first, second] = queueIn(picture, "lock", name)?.places ?? [];
  const isPlain = holds(first) && !holds(second) && picture.queues.size === 1;
  return isPlain ? picture : undefined;
}

/** A picture with the histories of the locks that these runs wait for, as of its own revision: estimates rest on them. */
export async function withHistories(
  desk: Desk,
  picture: Picture,
  claims: readonly Claim[],
): Promise<Picture> {
  const stands = claims.flatMap((claim) => claim.stands);
  const locks = new Set(stands.flatMap(({ queue }) => (queue.kind === "lock" ? [queue.name] : [])));
  if (locks.size === 0) return picture;
  const keys = [...locks].map((name) => only(desk.keys.history(name)));
  const past = await sightOf(desk, [], keys, picture.revision);
  return { ...picture, histories: past.histories };
}

/** The tickets whose runners an explanation depends on, those that matter most first. */
export function concerned(explanations: readonly Explanation[]): Place[] {
  const own = explanations.flatMap(({ claim }) => claim.stands.map(({ place }) => place));
  const obstacles = explanations.flatMap((explanation) => explanation.obstacles);
  const holders = obstacles.flatMap(({ ahead, heldBehind }) => [...ahead.filter(holds), ...heldBehind]);
  return [...own, ...holders, ...obstacles.flatMap(({ ahead }) => ahead)];
}
