import { extentOf, heldPlaces } from "../../model/scope.ts";
import { type DrainTarget, drainTarget } from "../../protocol/drain.ts";
import type { Place } from "../../protocol/ticket.ts";
import { requestResets } from "../../work/operate/reset.ts";
import { pictureOf } from "../look.ts";
import type { Desk } from "../with-store.ts";

/**
 * Asks those who hold something in the scope to end, once each. Tickets that cannot be read cannot be asked.
 * @returns how many runs were asked
 * @throws SignalboxError 77, StoreError
 */
export async function resetHolders(
  desk: Desk,
  target: DrainTarget,
  reason: string | undefined,
): Promise<number> {
  const asked = new Set<string>();
  for (;;) {
    const picture = await pictureOf(desk, ["locks", "resources", "groups", "drains"]);
    const { holders } = extentOf(picture, target, desk.clock.wall());
    const places = holders.flatMap(heldPlaces).filter(isToBeAsked);
    for (const { run } of places) asked.add(run);
    const eviction = { target: drainTarget(target), places, seen: picture.revision, reason };
    const receipt = await requestResets(desk, { action: "drain", ...eviction });
    if (receipt?.kind !== "changed") return asked.size; // else one of them has just gone: look again
  }
}

function isToBeAsked({ ticket }: Place): boolean {
  return ticket !== undefined && ticket.reset === undefined;
}
