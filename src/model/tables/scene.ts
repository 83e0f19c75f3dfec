import { hasEnded } from "../../protocol/drain.ts";
import { membersOf, type Picture } from "../picture.ts";
import type { Scene } from "./view.ts";

/** @param wall  wall clock, ms since the epoch */
export function sceneOf(picture: Picture, wall: number): Scene {
  return {
    wall,
    drains: [...picture.drains.values()].filter((drain) => !hasEnded(drain, wall)),
    groups: membersOf(picture),
    resources: picture.resources,
    hosts: picture.hosts,
    histories: picture.histories,
  };
}
