import type { Place, Queue } from "./ticket.ts";

export type Admission =
  | { kind: "admitted"; total: number }
  /** `ahead`: the runs before this one, nearest first. `missing`: units that must become free. */
  | { kind: "waiting"; ahead: Place[]; missing: number; total: number }
  /** The run asks for more than operators allow; it would stop the queue for ever. */
  | { kind: "impossible"; count: number; total: number }
  /** The run has no (readable) ticket here: its session lapsed, or an operator removed it. */
  | { kind: "gone" };

/**
 * Whether a ticket may hold its queue now. First come, first served: a small claim never overtakes a large one.
 * @param queue       tickets of one lock or resource at one revision, ordered by `create_revision`
 * @param run         whose ticket is asked for
 * @param configured  the total that operators set, in units; undefined where there is none
 * @see etcd client/v3/concurrency/mutex.go, which is the case total = 1
 */
export function admit(queue: Queue, run: string, configured?: number): Admission {
  const index = queue.findIndex((place) => place.run === run);
  const ticket = queue[index]?.ticket;
  if (ticket === undefined) return { kind: "gone" };
  const total = configured ?? smallestTotal(queue.slice(0, index + 1));
  if (holds(queue[index])) return { kind: "admitted", total };
  if (configured !== undefined && ticket.count > total)
    return { kind: "impossible", count: ticket.count, total };
  const ahead = queue.slice(0, index);
  const heldBehind = queue.slice(index + 1).filter(holds);
  const missing = ticket.count + weight(ahead, total) + weight(heldBehind, total) - total;
  if (missing <= 0) return { kind: "admitted", total };
  return { kind: "waiting", ahead: ahead.reverse(), missing, total };
}

/** Whether a place takes its units now, wherever it stands in the queue. */
export function holds(place: Place | undefined): boolean {
  const state = place?.ticket?.state;
  return state === "held" || state === "grace";
}

/** Units that places take or will take before anyone behind them; what cannot be read weighs everything. */
function weight(places: Queue, total: number): number {
  return places.reduce((sum, { ticket }) => sum + (ticket?.count ?? total), 0);
}

/**
 * The total where operators set none: the smallest that any ticket up to the own one states. Later ones do not
 * count, or a newcomer could take admission away from a run that has acted on it.
 */
function smallestTotal(upToOwn: Queue): number {
  return upToOwn.reduce(
    (least, { ticket }) => Math.min(least, ticket?.total ?? least),
    Number.MAX_SAFE_INTEGER,
  );
}
