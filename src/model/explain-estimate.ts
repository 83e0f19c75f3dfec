import { holds } from "../protocol/admission.ts";
import type { PastRun } from "../protocol/history.ts";
import type { Place } from "../protocol/ticket.ts";
import { percentile, typicalHeld } from "./statistics.ts";

/**
 * How long a lock may still be out of reach, judged by how long its last runs held it. `overdue`: the holder has held it
 * for longer than any of them, so nothing can be said. Durations in ms.
 */
export type Estimate =
  | { kind: "usual"; runs: number; p50: number; p95: number }
  | { kind: "overdue"; runs: number; longest: number };

/** Fewer remembered runs than this say nothing about the next one. */
const ENOUGH = 3;

/**
 * What is left of the holder's time, as far as runs that took as long already tell, and the usual time of everybody who
 * waits between. Undefined where the history is too short, or where something else than the holder decides: whoever is
 * first has the lock already, and waits for a lease.
 * @param ahead    those before it in the lock's queue, nearest first
 * @param wall     wall clock, ms since the epoch
 */
export function estimateOf(
  ahead: readonly Place[],
  history: readonly PastRun[],
  wall: number,
): Estimate | undefined {
  const usual = typicalHeld(history);
  const first = ahead.at(-1);
  const runs = history.length;
  if (usual === undefined || runs < ENOUGH || first === undefined) return undefined;
  if (first.ticket === undefined || first.ticket.state === "admitted") return undefined;
  const others = holds(first) ? ahead.length - 1 : ahead.length;
  const rest = restOf(first, history, wall);
  if (rest === undefined) {
    const longest = history.reduce((most, { held }) => Math.max(most, held), 0);
    return { kind: "overdue", runs, longest };
  }
  // Whoever comes after takes its own time: the 95 % of all are not reached by all at once, so p95 is on the safe side.
  return { kind: "usual", runs, p50: rest.p50 + others * usual.p50, p95: rest.p95 + others * usual.p95 };
}

/** How long a holder may go on: as those did that had held it for as long as this one has. Undefined where none had. */
function restOf(place: Place, history: readonly PastRun[], wall: number) {
  const { ticket } = place;
  if (ticket === undefined || !holds(place)) return { p50: 0, p95: 0 };
  if (ticket.state === "grace") {
    const left = Math.max(0, (ticket.until ?? wall) - wall);
    return { p50: left, p95: left };
  }
  const spent = Math.max(0, wall - (ticket.grantedAt ?? ticket.enqueuedAt));
  const left = history.map(({ held }) => held - spent).filter((rest) => rest > 0);
  const sorted = left.sort((a, b) => a - b);
  const [p50, p95] = [percentile(sorted, 0.5), percentile(sorted, 0.95)];
  return p50 === undefined || p95 === undefined ? undefined : { p50, p95 };
}
