import { hasEnded } from "../../protocol/drain.ts";
import { buildGroupMembers, type Snapshot } from "../snapshot/snapshot.ts";
import type { ViewContext } from "./view.ts";

/** Builds the context for views from a snapshot. @param wall  wall clock, ms since the epoch */
export function buildViewContext(snapshot: Snapshot, wall: number): ViewContext {
  return {
    wall,
    drains: [...snapshot.drains.values()].filter((drain) => !hasEnded(drain, wall)),
    groups: buildGroupMembers(snapshot),
    resources: snapshot.resources,
    hosts: snapshot.hosts,
    histories: snapshot.histories,
  };
}
