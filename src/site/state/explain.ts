import type { WallTime } from "../../core/base/clock.ts";
import { admit, isHolding, sumHeldUnits } from "../../core/protocol/admission.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import type { PastRun } from "../../core/protocol/history.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import type { QueueEntry, ResetRequest } from "../../core/protocol/ticket.ts";
import { type Claim, type ClaimEntry, findClaim, getHeldSince, isHolder } from "./claims.ts";
import { findPlainTotal } from "./eviction-preview.ts";
import { judgeRunnerLiveness, type RunnerLiveness, type SessionLiveness } from "./liveness.ts";
import type { Snapshot } from "./snapshot.ts";
import { computeSpread, computeTypicalHeld, type DurationSpread } from "./statistics.ts";
import { buildViewContext, listDrainsOnClaim } from "./view-context.ts";

/** The position of one ticket that is not granted yet, and what blocks it. */
export interface ClaimObstacle {
  kind: QueueKind;
  name: string;
  entry: QueueEntry;
  /** Position in the queue, from 1. */
  position: number;
  /** Units requested (`count`), held by other runs (`used`), and available in all (`total`). */
  count: number;
  used: number;
  total: number;
  /** Units that must become free; 0 if the ticket is admitted in this queue. */
  missing: number;
  /** Whether the ticket requests more units than the configured total. */
  isImpossible: boolean;
  /** Entries ahead of it, nearest first. */
  ahead: readonly QueueEntry[];
  /** Entries behind it that hold units. This happens when the total was lowered and raised again. */
  heldBehind: readonly QueueEntry[];
}

/**
 * The state of a run. `ready`: nothing blocks it, and it is about to be granted. `drained`: only drains block it.
 * `impossible`: it requests more than the total, and gives up at its next check. `malformed`: one of its tickets cannot
 * be read.
 */
type ExplanationState = "holds" | "waits" | "ready" | "drained" | "impossible" | "malformed";

/** Why a run waits. */
export interface Explanation {
  claim: Claim;
  state: ExplanationState;
  obstacles: readonly ClaimObstacle[];
  drains: readonly Drain[];
  reset: ResetRequest | undefined;
  /** If nobody holds a lock: the explanation of the first run in its queue, because it blocks all runs behind it. */
  first: Explanation | undefined;
  /** How long the wait for the lock may still take; undefined if too little is known, or if it waits for several. */
  estimate: WaitEstimate | undefined;
}

/** Explains why a run waits. */
export function explain(snapshot: Snapshot, claim: Claim, wall: WallTime): Explanation {
  const own = explainOne(snapshot, claim, wall);
  const first = findFirstInQueue(snapshot, own);
  if (first === undefined) return own;
  const before = explainOne(snapshot, first, wall);
  const isStopped = before.drains.length > 0 || before.state === "waits";
  return { ...own, first: before, ...(isStopped && { estimate: undefined }) };
}

function explainOne(snapshot: Snapshot, { run, entries }: Claim, wall: WallTime): Explanation {
  const isLock = ({ queue }: ClaimEntry) => queue.kind === "lock";
  const claim = {
    run,
    entries: [...entries.filter(isLock), ...entries.filter((claimEntry) => !isLock(claimEntry))],
  };
  const reset = claim.entries.find(({ entry }) => entry.ticket?.reset !== undefined)?.entry.ticket?.reset;
  const known = { claim, reset, first: undefined, estimate: undefined };
  if (claim.entries.some(({ entry }) => entry.ticket === undefined))
    return { ...known, state: "malformed", obstacles: [], drains: [] };
  if (isHolder(claim)) return { ...known, state: "holds", obstacles: [], drains: [] };
  const obstacles = claim.entries.flatMap((claimEntry) => findObstacle(snapshot, claimEntry) ?? []);
  const drains = listDrainsOnClaim(claim, buildViewContext(snapshot, wall));
  const state = computeState(obstacles, drains);
  const [lock, ...others] = listLockObstacles(obstacles);
  if (lock === undefined || others.length > 0 || state !== "waits" || drains.length > 0)
    return { ...known, state, obstacles, drains };
  const history = snapshot.histories.get(lock.name) ?? [];
  const estimate = estimateWait(lock.ahead, history, wall, lock.entry.ticket?.shared);
  return { ...known, state, obstacles, drains, estimate };
}

function computeState(obstacles: readonly ClaimObstacle[], drains: readonly Drain[]): ExplanationState {
  if (obstacles.some(({ isImpossible }) => isImpossible)) return "impossible";
  if (obstacles.some(({ missing }) => missing > 0)) return "waits";
  return drains.length > 0 ? "drained" : "ready";
}

/** Finds what blocks a ticket; undefined if the ticket is held or cannot be read. */
function findObstacle(snapshot: Snapshot, { queue, entry }: ClaimEntry): ClaimObstacle | undefined {
  const { kind, name, entries } = queue;
  const { ticket } = entry;
  if (ticket === undefined || isHolding(entry)) return undefined;
  const admission = admit(entries, entry.run, findConfiguredTotal(snapshot, { queue, entry }));
  if (admission.kind === "gone") return undefined;
  const isWaiting = admission.kind === "waiting";
  const index = entries.indexOf(entry);
  const others = entries.filter((other) => isHolding(other) && other !== entry);
  return {
    kind,
    name,
    entry,
    position: index + 1,
    count: ticket.count,
    total: admission.total,
    used: sumHeldUnits(others),
    missing: isWaiting ? admission.missing : 0,
    isImpossible: admission.kind === "impossible",
    ahead: isWaiting ? admission.ahead : [],
    heldBehind: isWaiting ? entries.slice(index + 1).filter(isHolding) : [],
  };
}

/**
 * Returns the total that applies to a ticket, if one is configured. An expression, or a name with macros, has a
 * different value on each host. A run without a stated total stores the value for its host in its ticket.
 */
function findConfiguredTotal(snapshot: Snapshot, { queue: { kind, name }, entry: { ticket } }: ClaimEntry) {
  if (kind === "lock") return 1;
  const plain = findPlainTotal(snapshot, name);
  if (plain !== undefined || ticket === undefined || ticket.isStated) return plain;
  const isExpression = snapshot.resources.get(name)?.value?.total !== undefined;
  const isByMacro = [...snapshot.resources.keys()].some((other) => /[A-Z]/.test(other));
  return isExpression || isByMacro ? ticket.total : undefined;
}

/** Returns the first run in the queue of a lock that a run waits for and nobody holds; undefined if all are held. */
function findFirstInQueue(snapshot: Snapshot, { obstacles }: Explanation): Claim | undefined {
  const free = listLockObstacles(obstacles).find(({ ahead }) => !ahead.some(isHolding));
  const first = free?.ahead.at(-1);
  return first === undefined ? undefined : findClaim(snapshot, first.run);
}

/** Lists the locks that a run waits for. */
function listLockObstacles(obstacles: readonly ClaimObstacle[]): readonly ClaimObstacle[] {
  return obstacles.filter(({ kind, missing }) => kind === "lock" && missing > 0);
}

/**
 * How long the wait for a lock may still take, estimated from how long its last runs held it. `overdue`: the holder has
 * held it longer than any of them, so there is no estimate. Durations in ms.
 */
export type WaitEstimate =
  | { kind: "usual"; runs: number; p50: number; p95: number }
  | { kind: "overdue"; runs: number; longest: number };

/** Minimum number of runs in the history for an estimate. */
const MIN_PAST_RUNS = 3;

/**
 * Estimates the wait: the remaining time of the holder, from past runs that held longer, plus the usual time of each
 * waiter ahead; those that share the lock count together. Undefined if the history is too short, or if the wait does not
 * depend on the holder: the first ticket cannot be read, or it is admitted to the lock and waits elsewhere.
 * @param ahead    entries ahead in the queue of the lock, nearest first
 * @param isShared  whether the waiting run shares the lock
 */
export function estimateWait(
  ahead: readonly QueueEntry[],
  history: readonly PastRun[],
  wall: WallTime,
  isShared = false,
): WaitEstimate | undefined {
  const usual = computeTypicalHeld(history);
  const first = ahead.at(-1);
  const runs = history.length;
  if (usual === undefined || runs < MIN_PAST_RUNS || first === undefined) return undefined;
  if (first.ticket === undefined || first.ticket.state === "admitted") return undefined;
  const holders = ahead.filter(isHolding);
  const others = countTurns(ahead, isShared);
  const rests = holders.map((holder) => estimateRemaining(holder, history, wall));
  const rest = rests.reduce(
    (most, one) => most && one && { p50: Math.max(most.p50, one.p50), p95: Math.max(most.p95, one.p95) },
    { p50: 0, p95: 0 },
  );
  if (rest === undefined) {
    const longest = history.reduce((most, { held }) => Math.max(most, held), 0);
    return { kind: "overdue", runs, longest };
  }
  // The sum of p95 values is a safe upper estimate: it is unlikely that all runs reach their p95.
  return { kind: "usual", runs, p50: rest.p50 + others * usual.p50, p95: rest.p95 + others * usual.p95 };
}

/** Counts how often the lock is held until the turn of a run has come, without the present holders. @param ahead  as above */
function countTurns(ahead: readonly QueueEntry[], isShared: boolean): number {
  const follower = (at: number) => (at === 0 ? isShared : ahead[at - 1]?.ticket?.shared);
  const isLast = ({ ticket }: QueueEntry, at: number) => !(ticket?.shared && follower(at));
  return ahead.filter((entry, at) => !isHolding(entry) && isLast(entry, at)).length;
}

/** Estimates the remaining time of a holder from past runs that held longer. Undefined if no run held longer. */
function estimateRemaining(
  { ticket }: QueueEntry,
  history: readonly PastRun[],
  wall: WallTime,
): DurationSpread | undefined {
  if (ticket === undefined) return { p50: 0, p95: 0 };
  if (ticket.state === "grace") {
    const left = Math.max(0, (ticket.until ?? wall) - wall);
    return { p50: left, p95: left };
  }
  const spent = Math.max(0, wall - getHeldSince(ticket));
  return computeSpread(history.map(({ held }) => held - spent).filter((rest) => rest > 0));
}

/** Liveness of sessions by session id; null if the session could not be read. */
export type SessionLivenessMap = ReadonlyMap<bigint, SessionLiveness | null>;

/** Returns the liveness of the runner of a ticket; undefined if its session was not queried. */
export function findRunnerLiveness(
  { session }: Pick<QueueEntry, "session">,
  sessions: SessionLivenessMap,
): RunnerLiveness | undefined {
  const liveness = sessions.get(session);
  return sessions.has(session) ? judgeRunnerLiveness(liveness) : undefined;
}
