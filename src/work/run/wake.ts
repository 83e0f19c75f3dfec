import { quoted } from "../../base/text.ts";
import type { Drain } from "../../protocol/drain.ts";
import type { Basis } from "../../protocol/guards.ts";
import type { Keys } from "../../protocol/keys.ts";
import type { Place } from "../../protocol/ticket.ts";
import type { WatchRequest } from "../../protocol/txn.ts";
import { headOf } from "./queues.ts";
import type { ClaimRequest } from "./request.ts";
import type { ResourceSight, Step } from "./step.ts";
import type { View } from "./view.ts";

type Ranges = WatchRequest["ranges"];

/** What stops a claim that stands. */
export interface Obstacle {
  drains?: readonly Drain[];
  lockAhead?: Place | undefined;
  resources?: readonly ResourceSight[];
}

/**
 * Waits for exactly what can change the decision, so that a release wakes few: the own tickets, the configuration it was
 * computed from, and the obstacle. On a lock that is the one ticket ahead; on a resource too while that one waits
 * itself, and only the first waiter follows every release.
 */
export function waitStep(
  keys: Keys,
  request: ClaimRequest,
  view: View,
  basis: Basis,
  obstacle: Obstacle,
): Step {
  const own = [...view.own.keys()].map((key) => ({ key }));
  const config = basis.config.map(({ key }) => ({ key }));
  const groups = request.group !== undefined || basis.groupsMatter ? [keys.groups()] : [];
  return {
    kind: "wait",
    ranges: [...own, ...config, ...groups, ...obstacleRanges(keys, obstacle)],
    until: endOf(obstacle),
    depth: Math.max(0, ...(obstacle.resources ?? []).map(headOf)),
    why: describe(obstacle),
  };
}

function obstacleRanges(keys: Keys, { drains, lockAhead, resources = [] }: Obstacle): Ranges {
  const ranges: Ranges = resources.map(({ resource, ahead }) =>
    ahead?.ticket?.state === "waiting"
      ? { key: ahead.key }
      : { ...keys.queue("resource", resource), only: "deletes" },
  );
  if (drains !== undefined) ranges.push(keys.drains());
  if (lockAhead !== undefined) ranges.push({ key: lockAhead.key, only: "deletes" });
  return ranges;
}

/** When the obstacle ends by itself: a grace, or a drain with an end. Wall clock, ms since the epoch. */
function endOf({ drains = [], lockAhead }: Obstacle): number | undefined {
  const ends = [...drains.map(({ until }) => until), lockAhead?.ticket?.until].filter(
    (end) => end !== undefined,
  );
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function describe({ drains, lockAhead, resources = [] }: Obstacle): string {
  const [drain] = drains ?? [];
  if (drain !== undefined) return describeDrain(drain);
  if (lockAhead !== undefined) return `the lock is taken: ${describePlace(lockAhead)} is ahead`;
  const names = resources.map(
    ({ resource, count, total }) => `${quoted(resource)} (${count} of ${total} asked for)`,
  );
  return `waiting for ${names.join(", ")}`;
}

/** Who has a place, for a message. */
export function describePlace({ run, ticket }: Place): string {
  if (ticket === undefined) return `malformed ticket ${quoted(run)}`;
  return `${ticket.state} by ${quoted(ticket.host)} pid ${ticket.pid} (run ${run})`;
}

export function describeDrain({ scope, name, by, why }: Drain): string {
  const where = scope === "all" ? "everything" : `${scope} ${quoted(name)}`;
  return `${where} is drained by ${quoted(by)}${why === undefined ? "" : `: ${quoted(why)}`}`;
}
