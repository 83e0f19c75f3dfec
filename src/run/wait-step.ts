import { quoteText } from "../base/text.ts";
import type { Drain } from "../protocol/drain.ts";
import type { ReadBasis } from "../protocol/guards.ts";
import type { Keys } from "../protocol/keys.ts";
import { describeVanished, type QueueEntry } from "../protocol/ticket.ts";
import type { WatchRequest } from "../protocol/txn.ts";
import type { ClaimAttempt } from "./attempt.ts";
import type { ClaimView } from "./claim-view.ts";
import { computeHeadSize } from "./claim-view.ts";
import type { ClaimRequest } from "./request.ts";
import type { ClaimStep, ResourcePosition } from "./step.ts";

type Ranges = WatchRequest["ranges"];

/** The obstacles of a claim whose tickets are in the queues. */
export interface WaitObstacle {
  drains?: readonly Drain[];
  /** The nearest ticket ahead of each lock that is not admitted. */
  locksAhead?: readonly QueueEntry[];
  resources?: readonly ResourcePosition[];
}

/**
 * Builds a wait for the changes that can affect the decision, so that a release wakes few runs: those of the run's tickets,
 * of the configuration that it depends on, and of the obstacle. For a lock, the obstacle is one ticket ahead. For a
 * resource too, while that ticket is waiting; only the first waiter watches every release.
 */
export function buildWaitStep(
  { ports: { keys }, request }: Pick<ClaimAttempt, "ports" | "request">,
  view: ClaimView,
  basis: ReadBasis,
  obstacle: WaitObstacle,
): ClaimStep {
  const own = [...view.own.keys()].map((key) => ({ key }));
  const config = basis.config.map(({ key }) => ({ key }));
  const groups = request.group !== undefined || basis.groupsMatter ? [keys.groups()] : [];
  const [ahead, ...others] = obstacle.locksAhead ?? [];
  // The holder of a shared lock may not be the only one.
  const isSole = ahead?.vanished === undefined && ahead?.ticket?.shared !== true;
  const isAheadKnown = [...view.lockQueues.values()].every((lock) => lock.isAheadKnown);
  const isOnlyAhead =
    isSole &&
    others.length === 0 &&
    isAheadKnown &&
    request.leases.length === 0 &&
    request.conditions === undefined;
  const next = ahead && isOnlyAhead ? { ahead, basis, entries: [...view.own.values()] } : undefined;
  return {
    kind: "wait",
    next,
    ranges: [...own, ...config, ...groups, ...buildObstacleRanges(keys, obstacle, request)],
    until: computeObstacleEnd(view, obstacle),
    depth: Math.max(0, ...(obstacle.resources ?? []).map(computeHeadSize)),
    why: describeObstacle(keys, obstacle),
  };
}

function buildObstacleRanges(
  keys: Keys,
  { drains, locksAhead = [], resources = [] }: WaitObstacle,
  { isShared, locks }: Pick<ClaimRequest, "isShared" | "locks">,
): Ranges {
  const ranges: Ranges = resources.map(({ resource, ahead }) =>
    ahead?.ticket?.state === "waiting"
      ? { key: ahead.key }
      : { ...keys.getQueueRange("resource", resource), only: "deletes" },
  );
  if (drains !== undefined) ranges.push(keys.drains());
  // If one of the locks is drained, the run leaves the other queues, where it would block other runs.
  else if (locks.length > 1) ranges.push(...locks.map((lock) => ({ key: keys.drain("lock", lock) })));
  for (const { key, ticket } of locksAhead) {
    // If the run ahead shares the lock too, its admission also matters: see `findLockObstacle`.
    const awaitsGrant = isShared && ticket?.shared;
    ranges.push({ key, ...(!awaitsGrant && { only: "deletes" as const }) });
  }
  return ranges;
}

/**
 * Returns when the obstacle ends by itself (a grace, a drain with an end, the time of a vanished ticket): wall clock, ms
 * since the epoch.
 */
function computeObstacleEnd(
  { removals }: ClaimView,
  { drains = [], locksAhead = [], resources = [] }: WaitObstacle,
): number | undefined {
  const vanished = [
    ...locksAhead,
    ...resources.flatMap((position) => [position.ahead, ...position.vanished]),
  ];
  const ends = [
    ...drains.map(({ until }) => until),
    ...locksAhead.map(({ ticket }) => ticket?.until),
    ...vanished.map((entry) => removals.get(entry?.key ?? "")),
  ].filter((end) => end !== undefined);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function describeObstacle(keys: Keys, { drains, locksAhead = [], resources = [] }: WaitObstacle): string {
  const [ahead] = locksAhead;
  const [drain] = drains ?? [];
  if (drain !== undefined) return describeDrain(drain);
  if (ahead !== undefined) {
    const lock = quoteText(keys.parseQueueKey(ahead.key)?.name ?? "");
    return `lock ${lock} is taken; the ticket ahead is ${describeQueueEntry(ahead)}`;
  }
  const names = resources.map(
    ({ resource, count, total }) => `${quoteText(resource)} (${count} of ${total} asked for)`,
  );
  return `waiting for ${names.join(", ")}`;
}

/** Describes the owner of a queue entry, for a message. */
export function describeQueueEntry({ run, ticket, vanished }: QueueEntry): string {
  if (ticket === undefined) return `malformed ticket ${quoteText(run)}`;
  if (vanished !== undefined)
    return `held by ${quoteText(ticket.host)} pid ${ticket.pid} (run ${run}): ${describeVanished(vanished)}`;
  const state = ticket.state === "grace" ? "kept for its grace" : ticket.state;
  return `${state} by ${quoteText(ticket.host)} pid ${ticket.pid} (run ${run})`;
}

export function describeDrain({ scope, name, by, why }: Drain): string {
  const where = scope === "all" ? "everything" : `${scope} ${quoteText(name)}`;
  return `${where} is drained by ${quoteText(by)}${why === undefined ? "" : `: ${quoteText(why)}`}`;
}
