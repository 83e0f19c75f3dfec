import { admit, isHolding } from "../../protocol/admission.ts";
import type { Drain } from "../../protocol/drain.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { QueueEntry, ResetRequest } from "../../protocol/ticket.ts";
import { findPlainTotal, listDrainsOnClaim } from "../preview/eviction-preview.ts";
import { type Claim, type ClaimEntry, findClaim, isHolder } from "../snapshot/claims.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { computePercentile, computeTypicalHeld } from "./statistics.ts";

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
  /** If nobody holds the lock: the explanation of the first run in its queue, because it blocks all runs behind it. */
  first: Explanation | undefined;
  /** How long the wait for the lock may still take; undefined if too little is known. */
  estimate: WaitEstimate | undefined;
}

/** Explains why a run waits. @param wall  wall clock, ms since the epoch */
export function explain(snapshot: Snapshot, claim: Claim, wall: number): Explanation {
  const own = explainOne(snapshot, claim, wall);
  const first = findFirstInQueue(snapshot, own);
  if (first === undefined) return own;
  const before = explainOne(snapshot, first, wall);
  const isStopped = before.drains.length > 0 || before.state === "waits";
  return { ...own, first: before, ...(isStopped && { estimate: undefined }) };
}

function explainOne(snapshot: Snapshot, { run, entries }: Claim, wall: number): Explanation {
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
  const drains = listDrainsOnClaim(snapshot, claim, wall);
  const state = computeState(obstacles, drains);
  const lock = obstacles.find(({ kind, missing }) => kind === "lock" && missing > 0);
  if (lock === undefined || state !== "waits" || drains.length > 0)
    return { ...known, state, obstacles, drains };
  const history = snapshot.histories.get(lock.name) ?? [];
  return { ...known, state, obstacles, drains, estimate: estimateWait(lock.ahead, history, wall) };
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
    used: others.reduce((sum, other) => sum + (other.ticket?.count ?? 0), 0),
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

/** Returns the first run in the queue of the lock that a run waits for; undefined if the lock is held. */
function findFirstInQueue(snapshot: Snapshot, { obstacles }: Explanation): Claim | undefined {
  const lock = obstacles.find(({ kind, missing }) => kind === "lock" && missing > 0);
  const first = lock?.ahead.at(-1);
  if (first === undefined || lock?.ahead.some(isHolding)) return undefined;
  return findClaim(snapshot, first.run);
}

/**
 * How long the wait for a lock may still take, estimated from how long its last runs held it. `overdue`: the holder has
 * held it longer than any of them, so there is no estimate. Durations in ms.
 */
export type WaitEstimate =
  | { kind: "usual"; runs: number; p50: number; p95: number }
  | { kind: "overdue"; runs: number; longest: number };

/** Minimum number of runs in the history for an estimate. */
const ENOUGH = 3;

/**
 * Estimates the wait: the remaining time of the holder, from past runs that held longer, plus the usual time of each
 * waiter ahead. Undefined if the history is too short, or if the wait does not depend on the holder: the first ticket
 * cannot be read, or it is admitted to the lock and waits for a lease.
 * @param ahead    entries ahead in the queue of the lock, nearest first
 * @param wall     wall clock, ms since the epoch
 */
export function estimateWait(
  ahead: readonly QueueEntry[],
  history: readonly PastRun[],
  wall: number,
): WaitEstimate | undefined {
  const usual = computeTypicalHeld(history);
  const first = ahead.at(-1);
  const runs = history.length;
  if (usual === undefined || runs < ENOUGH || first === undefined) return undefined;
  if (first.ticket === undefined || first.ticket.state === "admitted") return undefined;
  const others = isHolding(first) ? ahead.length - 1 : ahead.length;
  const rest = estimateRemaining(first, history, wall);
  if (rest === undefined) {
    const longest = history.reduce((most, { held }) => Math.max(most, held), 0);
    return { kind: "overdue", runs, longest };
  }
  // The sum of p95 values is a safe upper estimate: it is unlikely that all runs reach their p95.
  return { kind: "usual", runs, p50: rest.p50 + others * usual.p50, p95: rest.p95 + others * usual.p95 };
}

/** Estimates the remaining time of a holder from past runs that held longer. Undefined if no run held longer. */
function estimateRemaining(entry: QueueEntry, history: readonly PastRun[], wall: number) {
  const { ticket } = entry;
  if (ticket === undefined || !isHolding(entry)) return { p50: 0, p95: 0 };
  if (ticket.state === "grace") {
    const left = Math.max(0, (ticket.until ?? wall) - wall);
    return { p50: left, p95: left };
  }
  const spent = Math.max(0, wall - (ticket.grantedAt ?? ticket.enqueuedAt));
  const left = history.map(({ held }) => held - spent).filter((rest) => rest > 0);
  const sorted = left.sort((a, b) => a - b);
  const [p50, p95] = [computePercentile(sorted, 0.5), computePercentile(sorted, 0.95)];
  return p50 === undefined || p95 === undefined ? undefined : { p50, p95 };
}
