import type { Queue, QueueEntry, Ticket } from "./ticket.ts";

type Admission =
  | { kind: "admitted"; total: number }
  /** `ahead`: the runs before this one, nearest first. `missing`: units that must become free. */
  | { kind: "waiting"; ahead: QueueEntry[]; missing: number; total: number }
  /** The run asks for more units than the configured total. It would block the queue forever. */
  | { kind: "impossible"; count: number; total: number }
  /** The run has no readable ticket in this queue: its session expired, or an operator removed the ticket. */
  | { kind: "gone" };

/**
 * Decides whether a ticket can hold its queue now. First come, first served: a small claim never overtakes a large one, and
 * one that shares a lock never overtakes one that does not.
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
  const others = [...ahead, ...heldBehind].filter((other) => !canShare(ticket, other.ticket));
  const missing = ticket.count + sumUnits(others, total) - total;
  if (missing <= 0) return { kind: "admitted", total };
  return { kind: "waiting", ahead: ahead.reverse(), missing, total };
}

/** Returns whether two tickets of a lock can be held at the same time. An unreadable ticket shares nothing. */
export function canShare(one: Ticket | undefined, other: Ticket | undefined): boolean {
  return one?.shared === true && other?.shared === true;
}

/** Adds up the units that holders use. Those that share a lock use its one unit together. */
export function sumHeldUnits(holders: Queue): number {
  const others = holders.filter(({ ticket }) => !ticket?.shared);
  const isShared = others.length < holders.length;
  return others.reduce((sum, { ticket }) => sum + (ticket?.count ?? 0), isShared ? 1 : 0);
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
