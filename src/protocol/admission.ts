import type { Queue, QueueEntry } from "./ticket.ts";

type Admission =
  | { kind: "admitted"; total: number }
  /** `ahead`: the runs before this one, nearest first. `missing`: units that must become free. */
  | { kind: "waiting"; ahead: QueueEntry[]; missing: number; total: number }
  /** The run asks for more units than the configured total. It would block the queue forever. */
  | { kind: "impossible"; count: number; total: number }
  /** The run has no readable ticket in this queue: its session expired, or an operator removed the ticket. */
  | { kind: "gone" };

/**
 * Decides whether a ticket can hold its queue now. First come, first served: a small claim never overtakes a large one.
 * @param queue       tickets of one lock or resource at one revision, ordered by `create_revision`
 * @param run         id of the run that owns the ticket
 * @param configured  the total set by operators, in units; undefined if none is set
 * @see etcd client/v3/concurrency/mutex.go, which is the case total = 1
 */
export function admit(queue: Queue, run: string, configured?: number): Admission {
  const index = queue.findIndex((entry) => entry.run === run);
  const ticket = queue[index]?.ticket;
  if (ticket === undefined) return { kind: "gone" };
  const total = configured ?? computeSmallestTotal(queue.slice(0, index + 1));
  if (isHolding(queue[index])) return { kind: "admitted", total };
  if (configured !== undefined && ticket.count > total)
    return { kind: "impossible", count: ticket.count, total };
  const ahead = queue.slice(0, index);
  const heldBehind = queue.slice(index + 1).filter(isHolding);
  const missing = ticket.count + sumUnits(ahead, total) + sumUnits(heldBehind, total) - total;
  if (missing <= 0) return { kind: "admitted", total };
  return { kind: "waiting", ahead: ahead.reverse(), missing, total };
}

/** Returns whether a queue entry uses its units now, at any position in the queue. */
export function isHolding(entry: QueueEntry | undefined): boolean {
  const state = entry?.ticket?.state;
  return state === "held" || state === "grace";
}

/** Sums the units of queue entries. An unreadable ticket counts as the whole total. */
function sumUnits(entries: Queue, total: number): number {
  return entries.reduce((sum, { ticket }) => sum + (ticket?.count ?? total), 0);
}

/**
 * Computes the total for a queue without a configured one: the smallest total stated by any ticket up to the run's own.
 * Later tickets do not count, because a new one could then revoke an admission that a run has already acted on.
 */
function computeSmallestTotal(upToOwn: Queue): number {
  return upToOwn.reduce(
    (least, { ticket }) => Math.min(least, ticket?.total ?? least),
    Number.MAX_SAFE_INTEGER,
  );
}
