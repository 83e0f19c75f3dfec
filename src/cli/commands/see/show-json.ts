import { isHolding } from "../../../core/protocol/admission.ts";
import type { QueueEntry } from "../../../core/protocol/ticket.ts";
import { toSingleKeyRange } from "../../../core/protocol/txn.ts";
import type { Claim } from "../../../site/state/claims.ts";
import type { ClaimObstacle, Explanation } from "../../../site/state/explain.ts";
import { findRunnerLiveness, type SessionLivenessMap } from "../../../site/state/explain.ts";
import { findNamedQueue, type Snapshot } from "../../../site/state/snapshot.ts";
import type { ViewContext } from "../../../site/state/view-context.ts";
import type { RunnerRecord } from "../../frame/outcome.ts";
import { readSnapshotRanges } from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { formatTicketOwner } from "../../views/claims.ts";
import type { Detail } from "../../views/detail.ts";
import { buildClaimRow, listDrainsOnWaiter, RUN_JSON, TICKET_JSON } from "../../views/runs.ts";

/** The details of an object, as text and as JSON. docs/json.md describes the fields. */
export interface DetailDocument {
  revision: bigint;
  createDetail(): Detail;
  /** Lists of runs are made as they are taken: there may be a hundred thousand. */
  createDocument(): object;
}

/** Converts the liveness of a runner to JSON, with the seconds left and granted of its session, if known. */
export function toRunnerJson(entry: QueueEntry, liveness: SessionLivenessMap): RunnerRecord {
  const { verdict = "unknown" } = findRunnerLiveness(entry, liveness) ?? {};
  const { left, ttl } = liveness.get(entry.session) ?? {};
  return { run: entry.run, who: formatTicketOwner(entry), verdict, left, ttl };
}

/** Converts the liveness of the runners that were checked. */
export function toRunnersJson(entries: readonly QueueEntry[], liveness: SessionLivenessMap): RunnerRecord[] {
  return entries.filter(({ session }) => liveness.has(session)).map((entry) => toRunnerJson(entry, liveness));
}

/** Converts a run to a row of `ls runs`. */
export function toClaimRow(claim: Claim, viewContext: ViewContext): object {
  return RUN_JSON.toJson(buildClaimRow(claim, listDrainsOnWaiter(claim, viewContext)));
}

/** Converts runs as they are taken. */
export function* makeClaimRows(claims: readonly Claim[], viewContext: ViewContext): Generator<object> {
  for (const claim of claims) yield toClaimRow(claim, viewContext);
}

export function toExplanationJson(explanation: Explanation, liveness: SessionLivenessMap): object {
  const { claim, state, obstacles, drains, estimate, first } = explanation;
  return {
    ...RUN_JSON.toJson(buildClaimRow(claim, drains)),
    verdict: state,
    obstacles: obstacles.map((obstacle) => toObstacleJson(obstacle, liveness)),
    estimate,
    first: first && { run: first.claim.run, verdict: first.state },
  };
}

function toObstacleJson(obstacle: ClaimObstacle, liveness: SessionLivenessMap): object {
  const { entry: _, isImpossible, used, total, ahead, heldBehind, ...rest } = obstacle;
  const toEntryJson = (entry: QueueEntry) => ({
    ...TICKET_JSON.toJson(entry),
    runner: findRunnerLiveness(entry, liveness)?.verdict,
  });
  return {
    ...rest,
    used,
    free: Math.max(0, total - used),
    total,
    impossible: isImpossible,
    ahead: ahead.map(toEntryJson),
    heldBehind: heldBehind.map(toEntryJson),
  };
}

/**
 * Reads what explains why nothing else gets a held lock. Runs behind the holder wait with one ticket each, and ask for
 * their leases only when it is their turn, so no other queue is needed.
 * @returns undefined if the queue is not in this state: then everything must be read
 */
export async function readLockSnapshot(context: CommandContext, name: string): Promise<Snapshot | undefined> {
  const { keys } = context;
  const queues = [
    keys.getQueueRange("lock", name),
    keys.getQueueRange("resource", name),
    toSingleKeyRange(keys.history(name)),
  ];
  const snapshot = await readSnapshotRanges(context, ["resourceConfigs", "groups", "drains"], queues);
  const [first, second] = findNamedQueue(snapshot, "lock", name)?.entries ?? [];
  const isPlain = isHolding(first) && !isHolding(second) && snapshot.queues.size === 1;
  return isPlain ? snapshot : undefined;
}

/** Adds the histories of the locks that these runs wait for, at the revision of the snapshot: estimates need them. */
export async function addHistories(
  context: CommandContext,
  snapshot: Snapshot,
  claims: readonly Claim[],
): Promise<Snapshot> {
  const stands = claims.flatMap((claim) => claim.entries);
  const locks = new Set(stands.flatMap(({ queue }) => (queue.kind === "lock" ? [queue.name] : [])));
  if (locks.size === 0) return snapshot;
  const keys = [...locks].map((name) => toSingleKeyRange(context.keys.history(name)));
  const past = await readSnapshotRanges(context, [], keys, snapshot.revision);
  return { ...snapshot, histories: past.histories };
}

/** Lists the tickets whose runners an explanation depends on, most important first. */
export function listConcernedEntries(explanations: readonly Explanation[]): QueueEntry[] {
  const own = explanations.flatMap(({ claim }) => claim.entries.map(({ entry }) => entry));
  const obstacles = explanations.flatMap((explanation) => explanation.obstacles);
  const holders = obstacles.flatMap(({ ahead, heldBehind }) => [...ahead.filter(isHolding), ...heldBehind]);
  return [...own, ...holders, ...obstacles.flatMap(({ ahead }) => ahead)];
}
