import type { WallTime } from "../base/clock.ts";
import { quoteText } from "../base/text.ts";
import { admit, canShare, isHolding } from "../protocol/admission.ts";
import { type Drain, hasEnded, isEveryQueueStopped } from "../protocol/drain.ts";
import type { ReadBasis } from "../protocol/guards.ts";
import type { Keys } from "../protocol/keys.ts";
import { describeVanished, type QueueEntry } from "../protocol/ticket.ts";
import type { WatchRequest } from "../protocol/txn.ts";
import { type ClaimAttempt, listOwnKeys } from "./attempt.ts";
import {
  type ClaimView,
  computeHeadSize,
  type LockQueueView,
  type OwnTicketRevisions,
  type ResourceQueueView,
} from "./claim-view.ts";
import { type ClaimEligibility, computeEligibility, type ResourceTotal } from "./eligibility.ts";
import type { ClaimRequest } from "./request.ts";
import { type ClaimRefusal, type ClaimStep, canJoinQueue, type ResourcePosition } from "./step.ts";

/** Maximum number of entries that one transaction deletes. With their marks, they stay below etcd's 128 operations. */
const MAX_SWEPT_ENTRIES = 50;

/**
 * Decides the next step of an attempt.
 * @param before  revisions of this run's tickets at the last read
 * @throws ConfigError when the claim can never be granted
 */
export function decideStep(
  attempt: ClaimAttempt,
  before: OwnTicketRevisions,
  view: ClaimView,
  wall: WallTime,
): ClaimStep {
  const own = judgeOwnTickets(attempt, before, view);
  if (own === "broken") return { kind: "leave", refusal: { kind: "gone" } };
  const entries = [...view.own.values()];
  const reset = entries.find(({ ticket }) => ticket?.reset)?.ticket?.reset;
  if (reset !== undefined) return { kind: "leave", refusal: { kind: "evicted", by: reset.by } };
  if (own === "complete" && entries.every(isHolding)) return { kind: "granted", entries };
  const eligibility = computeEligibility(attempt.ports, attempt.request, view.inputs, wall);
  if (eligibility.kind === "outside") {
    return { kind: "leave", refusal: { kind: "outside", group: eligibility.group } };
  }
  if (eligibility.kind === "drained") return decideUnderDrain(attempt, view, eligibility);
  return own === "none"
    ? decideClaim(attempt, view, eligibility, wall)
    : decideAdvance(attempt, view, eligibility, wall);
}

const NO_LOCK_READ_YET: LockQueueView = { queue: [], hasMoreAhead: false, isAheadKnown: false };
const NOTHING_READ_YET: ResourceQueueView = { reach: "whole", queue: [], ahead: undefined };

type OpenEligibility = Extract<ClaimEligibility, { kind: "open" }>;
type DrainedEligibility = Extract<ClaimEligibility, { kind: "drained" }>;

/** Keeps queue entries under a drain only if they block no other run: if each drain stops all queues that the run is in. */
function decideUnderDrain(
  attempt: ClaimAttempt,
  view: ClaimView,
  { drains, basis }: DrainedEligibility,
): ClaimStep {
  const { request } = attempt;
  const isIn = (key: string | undefined) => key !== undefined && view.own.has(key);
  const locks = request.locks.filter((_, index) => isIn(attempt.lockKeys[index]));
  const resources = request.leases
    .map(({ resource }) => resource)
    .filter((_, index) => isIn(attempt.resourceKeys[index]));
  const mayStay =
    view.own.size > 0 && drains.every((drain) => isEveryQueueStopped(drain, { locks, resources }));
  if (!request.waitLimits.queues || !mayStay) return { kind: "leave", refusal: { kind: "drained", drains } };
  return buildWaitStep(attempt, view, basis, { drains });
}

function decideClaim(
  attempt: ClaimAttempt,
  view: ClaimView,
  { basis, totals }: OpenEligibility,
  wall: WallTime,
): ClaimStep {
  const { waitLimits, isShared } = attempt.request;
  const entries = [...view.lockQueues.values()].flatMap(({ queue }) => queue);
  const stops = entries.filter(({ ticket }) => !(isShared && ticket?.shared));
  if (stops.length > 0 && stops.every((entry) => isObsolete(attempt, view, entry, wall))) {
    return createSweep(stops);
  }
  if (stops.length > 0 && !waitLimits.queues) {
    const holder = stops.find(
      (entry) => entry.vanished === undefined && !isObsolete(attempt, view, entry, wall),
    );
    if (holder !== undefined) return { kind: "leave", refusal: buildBusyRefusal(attempt, holder) };
    // Wait and remove the marks: possibly no other run ever will.
    return buildWaitStep(attempt, view, basis, { locksAhead: stops.filter(({ vanished }) => vanished) });
  }
  return { kind: "claim", basis, totals };
}

function createSweep(entries: readonly QueueEntry[]): ClaimStep {
  return { kind: "sweep", entries: entries.slice(0, MAX_SWEPT_ENTRIES) };
}

function buildBusyRefusal({ ports: { keys } }: ClaimAttempt, holder: QueueEntry): ClaimRefusal {
  return { kind: "busy", lock: keys.parseQueueKey(holder.key)?.name, holder };
}

/** Decides how to proceed when some or all tickets of this run exist. */
function decideAdvance(
  attempt: ClaimAttempt,
  view: ClaimView,
  { basis, totals }: OpenEligibility,
  wall: WallTime,
): ClaimStep {
  const locks = attempt.lockKeys.flatMap((key) => view.own.get(key) ?? []);
  const waiting = locks.flatMap((own) => {
    const ahead = findLockObstacle(view, own);
    return ahead === undefined ? [] : [{ own, ahead }];
  });
  if (waiting.length > 0) return decideOnLocks(attempt, view, { basis, locks, waiting }, wall);
  // Remains of runs that shared the lock do not block this run, but possibly no other run will ever remove them.
  const obsolete = [...view.lockQueues.values()]
    .flatMap(({ queue }) => queue)
    .filter((entry) => isObsolete(attempt, view, entry, wall));
  if (obsolete.length > 0) return createSweep(obsolete);
  const isPlaced = attempt.resourceKeys.some((key) => view.own.has(key));
  if (locks.length > 0 && !isPlaced && totals.length > 0) return { kind: "join", basis, totals, locks };
  return decideOnResources(attempt, view, { basis, totals }, wall);
}

/** This run's tickets for locks, and those of them that wait for another ticket. */
interface LockPositions {
  basis: ReadBasis;
  locks: readonly QueueEntry[];
  waiting: readonly { own: QueueEntry; ahead: QueueEntry }[];
}

/** Decides how to proceed while tickets for some locks wait for those ahead. */
function decideOnLocks(
  attempt: ClaimAttempt,
  view: ClaimView,
  { basis, locks, waiting }: LockPositions,
  wall: WallTime,
): ClaimStep {
  const locksAhead = waiting.map(({ ahead }) => ahead);
  const obsolete = locksAhead.filter((entry) => isObsolete(attempt, view, entry, wall));
  if (obsolete.length > 0) return createSweep(obsolete);
  if (!attempt.request.waitLimits.queues) {
    const stops = locksAhead.filter(({ vanished }) => vanished === undefined);
    const holder = stops.find(({ ticket }) => !ticket?.shared);
    if (holder !== undefined) return { kind: "leave", refusal: buildBusyRefusal(attempt, holder) };
    if (stops.length > 0) return { kind: "closer" };
  }
  const unannounced = locks.filter(
    (own) => own.ticket?.state === "waiting" && waiting.every((other) => other.own !== own),
  );
  if (unannounced.length > 0) return { kind: "announce", entries: unannounced };
  return buildWaitStep(attempt, view, basis, { locksAhead });
}

/**
 * Finds the ticket that keeps this run from a lock: the nearest ticket ahead that it cannot share the lock with. If only
 * tickets that share were read, and there are more ahead, an admitted one proves that all before it share too. Without
 * such a proof, the run waits for the first ticket that was read, until that is admitted or gone.
 */
function findLockObstacle(
  { lockQueues }: ClaimView,
  { key, run, ticket }: QueueEntry,
): QueueEntry | undefined {
  const { queue, hasMoreAhead } = lockQueues.get(key) ?? NO_LOCK_READ_YET;
  const admission = admit(queue, run, 1);
  if (admission.kind === "waiting") return admission.ahead.find((entry) => !canShare(ticket, entry.ticket));
  const isProven =
    !hasMoreAhead || queue.some((entry) => isHolding(entry) || entry.ticket?.state === "admitted");
  return isProven ? undefined : queue[0];
}

function decideOnResources(
  attempt: ClaimAttempt,
  view: ClaimView,
  { basis, totals }: Omit<OpenEligibility, "kind">,
  wall: WallTime,
): ClaimStep {
  const entries = [...view.own.values()];
  const positions = totals.map((total) => buildResourcePosition(attempt, view, total));
  if (positions.some(({ admission }) => admission === "unsure")) return { kind: "closer" };
  const waiting = positions.filter(({ admission }) => admission === "waiting");
  if (waiting.length === 0) return { kind: "grant", basis, entries };
  const obsolete = waiting
    .flatMap(({ ahead, vanished }) => [...(ahead === undefined ? [] : [ahead]), ...vanished])
    .filter((entry) => isObsolete(attempt, view, entry, wall));
  if (obsolete.length > 0) return createSweep(obsolete);
  const blocked = new Set(waiting.map(({ resource }) => attempt.ports.keys.resource(resource, attempt.run)));
  const unannounced = entries.filter(({ key, ticket }) => !blocked.has(key) && ticket?.state === "waiting");
  if (unannounced.length > 0) return { kind: "announce", entries: unannounced };
  return buildWaitStep(attempt, view, basis, { resources: waiting });
}

/**
 * Computes the position in one resource queue. If the entry directly ahead is waiting, no more reads are needed: it is
 * not admitted, so this run's entry is not admitted either. The same applies if the first entries leave too few units: the
 * rest of the queue can only add to the units in use and lower the total.
 */
function buildResourcePosition(
  attempt: ClaimAttempt,
  view: ClaimView,
  { lease, configured, total }: ResourceTotal,
): ResourcePosition {
  const { reach, queue, ahead } = view.resourceQueues.get(lease.resource) ?? NOTHING_READ_YET;
  const vanished = queue.filter((entry) => entry.vanished !== undefined && entry !== ahead);
  const base = { resource: lease.resource, count: lease.count, total, ahead, vanished };
  if (reach === "near")
    return { ...base, admission: ahead?.ticket?.state === "waiting" ? "waiting" : "unsure" };
  if (admit(queue, attempt.run, configured).kind !== "admitted") return { ...base, admission: "waiting" };
  return { ...base, admission: reach === "whole" ? "admitted" : "unsure" };
}

/**
 * Returns whether this attempt may delete an entry: a grace ticket whose time has passed (its session may outlive it after
 * a leader change), a ticket of an earlier attempt of the same call, or a mark whose time has passed.
 */
function isObsolete(
  { ports, number }: ClaimAttempt,
  view: ClaimView,
  entry: QueueEntry,
  wall: WallTime,
): boolean {
  if (entry.vanished !== undefined)
    return view.removals.has(entry.key) && view.removals.get(entry.key) === undefined;
  if (entry.ticket?.state === "grace") return isGraceOver(entry, wall);
  return number !== undefined && ports.attempts?.isEarlier(entry.ticket, number) === true;
}

function isGraceOver({ ticket }: QueueEntry, wall: WallTime): boolean {
  return ticket?.state === "grace" && hasEnded(ticket, wall);
}

/**
 * Classifies this run's tickets in a view: none, some or all of them exist, or the claim is `broken`: a ticket has gone
 * or was replaced since the last read, the tickets of the locks or of the resources do not share one revision, or a
 * ticket cannot be parsed. A claim exists completely or not at all, except that a queueing run puts the tickets of the
 * locks first.
 */
function judgeOwnTickets(
  attempt: ClaimAttempt,
  before: OwnTicketRevisions,
  view: ClaimView,
): "none" | "partial" | "complete" | "broken" {
  const now = getOwnRevisions(attempt, view);
  if (now === "broken") return "broken";
  if (before.lock !== undefined && before.lock !== now.lock) return "broken";
  if (before.resources !== undefined && before.resources !== now.resources) return "broken";
  const wantsResources = attempt.resourceKeys.length > 0;
  const hasLock = attempt.lockKeys.length === 0 || now.lock !== undefined;
  const hasResources = !wantsResources || now.resources !== undefined;
  if (view.own.size === 0) return "none";
  if (!hasLock || (!hasResources && isGranted(view))) return "broken";
  if (canJoinQueue(attempt.request)) return hasResources ? "complete" : "partial";
  const isOneClaim = !wantsResources || now.lock === undefined || now.lock === now.resources;
  return hasResources && isOneClaim ? "complete" : "broken";
}

/** Whether a ticket is held. A grant makes all tickets held at once, so one that is missing was removed. */
function isGranted({ own }: ClaimView): boolean {
  return [...own.values()].some(isHolding);
}

/** Returns the revisions at which this run's tickets were created. */
export function getOwnRevisions(attempt: ClaimAttempt, view: ClaimView): OwnTicketRevisions | "broken" {
  if (listOwnKeys(attempt).some((key) => isUnreadable(view.own.get(key)))) return "broken";
  const findRevisions = (keys: readonly string[]) => [
    ...new Set(keys.map((key) => view.own.get(key)?.createRevision)),
  ];
  const [locks, resources] = [findRevisions(attempt.lockKeys), findRevisions(attempt.resourceKeys)];
  if (locks.length > 1 || resources.length > 1) return "broken";
  return { lock: locks[0], resources: resources[0] };
}

function isUnreadable(entry: QueueEntry | undefined): boolean {
  return entry !== undefined && entry.ticket === undefined;
}

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
  { ports: { keys, successors }, request }: Pick<ClaimAttempt, "ports" | "request">,
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
  const lockQueues = [...view.lockQueues.values()];
  const isAheadKnown = lockQueues.every((lock) => lock.isAheadKnown);
  const needsProof = successors === undefined && lockQueues.some((lock) => lock.hasMoreAhead);
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
    ranges: [...own, ...config, ...groups, ...buildObstacleRanges(keys, obstacle, request, needsProof)],
    until: computeObstacleEnd(view, obstacle),
    depth: Math.max(0, ...(obstacle.resources ?? []).map(computeHeadSize)),
    why: describeObstacle(keys, obstacle),
  };
}

function buildObstacleRanges(
  keys: Keys,
  { drains, locksAhead = [], resources = [] }: WaitObstacle,
  { isShared, locks }: Pick<ClaimRequest, "isShared" | "locks">,
  needsProof: boolean,
): Ranges {
  // The admission of a run ahead matters if both share the lock: see `findLockObstacle`. If neither does, it proves that nobody is ahead
  // of that run, so that the queue need not be read when its ticket is gone. A successor needs no such proof.
  const awaitsGrant = ({ ticket }: QueueEntry) =>
    isShared ? ticket?.shared : needsProof && ticket?.shared !== true;
  const ranges: Ranges = resources.map(({ resource, ahead }) =>
    ahead?.ticket?.state === "waiting"
      ? { key: ahead.key }
      : { ...keys.getQueueRange("resource", resource), only: "deletes" },
  );
  if (drains !== undefined) ranges.push(keys.drains());
  // If one of the locks is drained, the run leaves the other queues, where it would block other runs.
  else if (locks.length > 1) ranges.push(...locks.map((lock) => ({ key: keys.drain("lock", lock) })));
  for (const entry of locksAhead)
    ranges.push({ key: entry.key, ...(!awaitsGrant(entry) && { only: "deletes" as const }) });
  return ranges;
}

/** Returns when the obstacle ends by itself (a grace, a drain with an end, the time of a vanished ticket). */
function computeObstacleEnd(
  { removals }: ClaimView,
  { drains = [], locksAhead = [], resources = [] }: WaitObstacle,
): WallTime | undefined {
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
