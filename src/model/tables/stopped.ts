import { groupsOf } from "../../fleet/groups.ts";
import { applies, type Drain } from "../../protocol/drain.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { Scene } from "./view.ts";

/** What a run touches: where it is, and the queues it stands in. */
export interface Touch {
  /** Undefined where its ticket cannot be read. */
  host: string | undefined;
  queues: readonly { kind: QueueKind; name: string }[];
}

/** Drains that stop a run which waits. Those that hold already are not touched by any. */
export function drainsOn({ host = "", queues }: Touch, scene: Scene): readonly Drain[] {
  if (scene.drains.length === 0) return scene.drains;
  const lock = queues.find(({ kind }) => kind === "lock")?.name;
  const resources = queues.filter(({ kind }) => kind === "resource").map(({ name }) => name);
  // Groups are many: who is in them is asked only where it matters.
  const groups = scene.drains.some(({ scope }) => scope === "group") ? groupsOf(scene.groups, host) : [];
  const reach = { ...(lock !== undefined && { lock }), resources, host, groups };
  return scene.drains.filter((drain) => applies(drain, reach));
}
