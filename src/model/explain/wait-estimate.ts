import { isHolding } from "../../protocol/admission.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import { computePercentile, computeTypicalHeld } from "./statistics.ts";

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
