import { formatTicketOwner } from "../snapshot/claims.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { computeGrantOrder } from "./grant-order.ts";
import type { DirectEffect } from "./what-if.ts";

/** Number of runs that the line names. */
const NAMED = 3;

/** Largest number of tickets in the cluster for which the line is computed: it is computed again while it is read. */
export const MOST_TICKETS = 5_000;

/** Whether the cluster is small enough to compute the next grants whenever a preview is made. */
export function canPredictGrants({ queues }: Pick<Snapshot, "queues">): boolean {
  let count = 0;
  for (const { entries } of queues.values()) {
    count += entries.length;
    if (count > MOST_TICKETS) return false;
  }
  return true;
}

/**
 * Formats in one line which runs are granted after a change, in this order. Not cleaned.
 * @param wall  wall clock, ms since the epoch
 * @returns undefined if nobody waits in the queues of the change
 */
export function formatNextGrants({ after, queueIds }: DirectEffect, wall: number): string | undefined {
  const { grants, blocked } = computeGrantOrder(after, queueIds, wall, NAMED + 1);
  if (grants.length === 0 && blocked.length === 0) return undefined;
  if (grants.length === 0) return "then granted: none of the waiting runs";
  const names = grants.slice(0, NAMED).map(
    ({
      claim: {
        run,
        entries: [first],
      },
      round,
    }) => {
      const owner = first === undefined ? run : formatTicketOwner(first.entry);
      return round === 0 ? `${owner} at once` : owner;
    },
  );
  return `then granted: ${names.join(", ")}${grants.length > NAMED ? " and more (i shows all)" : ""}`;
}
