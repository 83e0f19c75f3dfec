import { holds } from "../../protocol/admission.ts";
import type { NamedQueue, Picture } from "../picture.ts";
import { type Share, sharesOf } from "../tables/shares.ts";
import { type Family, figure, type Sample } from "./family.ts";

/** Locks that have series of their own: those that were waited for longest. */
const MOST_LOCKS = 100;
/** Resources that have. */
const MOST_RESOURCES = 2_000;

/** How locks and resources stand. @param wall  ms since the epoch */
export function queueMeasures(picture: Picture, wall: number): Family[] {
  const standings = [...picture.queues.values()].map(standingOf);
  const kinds = (["lock", "resource"] as const).map((kind) => {
    return { kind, all: standings.filter(({ queue }) => queue.kind === kind) };
  });
  const sums = (of: (standing: Standing) => number): Sample[] =>
    kinds.map(({ kind, all }) => [{ kind }, all.reduce((sum, standing) => sum + of(standing), 0)]);
  const oldest = (of: (standing: Standing) => number): Sample[] =>
    kinds.map(({ kind, all }) => [{ kind }, secondsSince(least(all, of), wall)]);
  return [
    family(
      "queues",
      "Locks and resources that somebody holds or waits for.",
      sums(() => 1),
    ),
    family(
      "holders",
      "Runs that hold.",
      sums(({ holders }) => holders),
    ),
    family(
      "waiters",
      "Runs that wait.",
      sums(({ waiters }) => waiters),
    ),
    family(
      "waited_queues",
      "Locks and resources that somebody waits for.",
      sums(({ waiters }) => Number(waiters > 0)),
    ),
    family(
      "oldest_wait_seconds",
      "Since when whoever waits longest does.",
      oldest(({ waitsSince }) => waitsSince),
    ),
    family(
      "oldest_hold_seconds",
      "Since when whoever holds longest does.",
      oldest(({ heldSince }) => heldSince),
    ),
    ...lockMeasures(kinds[0]?.all ?? [], wall),
    ...resourceMeasures(picture),
  ];
}

const family = (name: string, help: string, samples: readonly Sample[]): Family => ({ name, help, samples });

/** What one queue comes to. Instants in ms since the epoch, infinite where there is none. */
interface Standing {
  queue: NamedQueue;
  holders: number;
  waiters: number;
  waitsSince: number;
  heldSince: number;
}

/** Of queues that have not changed: the longest have many thousand places. */
const standings = new WeakMap<NamedQueue, Standing>();

function standingOf(queue: NamedQueue): Standing {
  const known = standings.get(queue);
  if (known !== undefined) return known;
  const none = Number.POSITIVE_INFINITY;
  const standing = { queue, holders: 0, waiters: 0, waitsSince: none, heldSince: none };
  for (const place of queue.places) {
    const { ticket } = place;
    if (holds(place)) {
      standing.holders += 1;
      standing.heldSince = Math.min(standing.heldSince, ticket?.grantedAt ?? none);
    } else {
      standing.waiters += 1;
      standing.waitsSince = Math.min(standing.waitsSince, ticket?.enqueuedAt ?? none);
    }
  }
  standings.set(queue, standing);
  return standing;
}

function least(all: readonly Standing[], of: (standing: Standing) => number): number {
  return all.reduce((found, standing) => Math.min(found, of(standing)), Number.POSITIVE_INFINITY);
}

/** Clocks differ: nobody has waited for less than nothing. 0 where nobody does. */
function secondsSince(instant: number, wall: number): number {
  return Number.isFinite(instant) ? Math.max(0, wall - instant) / 1_000 : 0;
}

function lockMeasures(locks: readonly Standing[], wall: number): Family[] {
  const waited = locks.filter(({ waiters }) => waiters > 0).sort((a, b) => a.waitsSince - b.waitsSince);
  const shown = waited.slice(0, MOST_LOCKS);
  const each = (of: (standing: Standing) => number): Sample[] =>
    shown.map((standing) => [{ lock: standing.queue.name }, of(standing)]);
  return [
    family(
      "lock_waiters",
      "Runs that wait for a lock.",
      each(({ waiters }) => waiters),
    ),
    family(
      "lock_oldest_wait_seconds",
      "Since when whoever waits longest for a lock does.",
      each(({ waitsSince }) => secondsSince(waitsSince, wall)),
    ),
    figure(
      "locks_left_out",
      "Locks with waiters that have no series of their own.",
      waited.length - shown.length,
    ),
  ];
}

function resourceMeasures(picture: Picture): Family[] {
  const { hosts, others } = sharesOf(picture);
  const shares = [...hosts.flatMap(({ parts }) => parts), ...others];
  const shown = shares.slice(0, MOST_RESOURCES);
  const each = (of: (share: Share) => number | undefined): Sample[] =>
    shown.flatMap((share) => {
      const value = of(share);
      return value === undefined ? [] : [[{ resource: share.name }, value] as const];
    });
  return [
    family(
      "resource_units",
      "Units there are of a resource.",
      each(({ total }) => total),
    ),
    family(
      "resource_used_units",
      "Units of it that are leased.",
      each(({ used }) => used),
    ),
    family(
      "resource_waiters",
      "Runs that wait for some.",
      each(({ waiting }) => waiting),
    ),
    figure("resources_left_out", "Resources that have no series of their own.", shares.length - shown.length),
  ];
}
