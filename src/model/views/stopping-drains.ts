import { listHostGroups } from "../../fleet/groups.ts";
import { type Drain, isDrainApplicable } from "../../protocol/drain.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { ViewContext } from "./view.ts";

/** The host of a run and its queues. */
interface RunLocation {
  /** Undefined if its ticket cannot be read. */
  host: string | undefined;
  queues: readonly { kind: QueueKind; name: string }[];
}

/** Lists the drains that stop a waiting run. Drains do not affect holders. */
export function listStoppingDrains(
  { host = "", queues }: RunLocation,
  viewContext: ViewContext,
): readonly Drain[] {
  if (viewContext.drains.length === 0) return viewContext.drains;
  const lock = queues.find(({ kind }) => kind === "lock")?.name;
  const resources = queues.filter(({ kind }) => kind === "resource").map(({ name }) => name);
  // There may be many groups: compute membership only for group drains.
  const groups = viewContext.drains.some(({ scope }) => scope === "group")
    ? listHostGroups(viewContext.groups, host)
    : [];
  const reach = { ...(lock !== undefined && { lock }), resources, host, groups };
  return viewContext.drains.filter((drain) => isDrainApplicable(drain, reach));
}
