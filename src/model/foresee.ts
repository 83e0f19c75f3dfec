import { admit, holds } from "../protocol/admission.ts";
import type { Drain } from "../protocol/drain.ts";
import type { QueueKind } from "../protocol/keys.ts";
import { type Claim, claimsOf, isHolder, type Stand } from "./claims.ts";
import { type NamedQueue, type Picture, queueId } from "./picture.ts";
import { sceneOf } from "./tables/scene.ts";
import { drainsOn } from "./tables/stopped.ts";

/** What becomes of everybody else when some runs lose their claims: the blast radius. */
export interface Foresight {
  /** The runs that lose their claims, with all their tickets. */
  evicted: readonly Claim[];
  /** Units that become free. */
  freed: readonly { kind: QueueKind; name: string; units: number }[];
  /** Who can be granted then and could not before, in the order of claims. */
  next: readonly Upcoming[];
}

/** A run whose turn comes. */
export interface Upcoming {
  claim: Claim;
  /** What stops it all the same. */
  drains: readonly Drain[];
}

/**
 * What happens next if these runs went away now.
 * @param wall  wall clock, ms since the epoch: drains that have ended stop nobody
 */
export function foresee(picture: Picture, runs: ReadonlySet<string>, wall: number): Foresight {
  const claims = claimsOf(picture);
  const evicted = [...runs].flatMap((run) => claims.get(run) ?? []);
  const touched = new Map(
    evicted.flatMap(({ stands }) =>
      stands.map(({ queue }) => [queueId(queue.kind, queue.name), queue] as const),
    ),
  );
  const candidates = new Set([...touched.values()].flatMap(({ places }) => places.map(({ run }) => run)));
  const after = (queue: NamedQueue) => withoutRuns(queue, runs);
  const next = [...candidates].flatMap((run) => {
    const claim = claims.get(run);
    if (claim === undefined || runs.has(run) || isHolder(claim)) return [];
    const isNew = isReady(picture, claim, after) && !isReady(picture, claim, (queue) => queue);
    return isNew ? [{ claim, drains: drainsOnClaim(picture, claim, wall) }] : [];
  });
  return { evicted, freed: freed(evicted), next: next.sort(byTurn) };
}

function withoutRuns(queue: NamedQueue, runs: ReadonlySet<string>): NamedQueue {
  return { ...queue, places: queue.places.filter(({ run }) => !runs.has(run)) };
}

/** Whether every ticket of a claim is admitted in its queue, as that queue would be. */
function isReady(picture: Picture, { run, stands }: Claim, as: (queue: NamedQueue) => NamedQueue): boolean {
  return stands.every(({ queue }) => {
    const configured = queue.kind === "resource" ? plainTotal(picture, queue.name) : 1;
    return admit(as(queue).places, run, configured).kind === "admitted";
  });
}

/** The configured total where it is a plain number. An expression means another number on each host; tickets state theirs. */
export function plainTotal(picture: Pick<Picture, "resources">, name: string): number | undefined {
  const total = picture.resources.get(name)?.value?.total ?? "";
  return /^[1-9]\d{0,14}$/.test(total) ? Number(total) : undefined;
}

/** Drains that stop a claim from being granted. */
export function drainsOnClaim(picture: Picture, { stands }: Claim, wall: number): readonly Drain[] {
  const host = stands.find(({ place }) => place.ticket !== undefined)?.place.ticket?.host;
  return drainsOn({ host, queues: stands.map(({ queue }) => queue) }, sceneOf(picture, wall));
}

function freed(evicted: readonly Claim[]): Foresight["freed"] {
  const sums = new Map<string, { kind: QueueKind; name: string; units: number }>();
  for (const { queue, place } of evicted.flatMap(({ stands }) => stands)) {
    if (!holds(place)) continue;
    const id = queueId(queue.kind, queue.name);
    const sum = sums.get(id) ?? { kind: queue.kind, name: queue.name, units: 0 };
    sums.set(id, { ...sum, units: sum.units + (place.ticket?.count ?? 0) });
  }
  return [...sums.values()];
}

function byTurn(a: Upcoming, b: Upcoming): number {
  const [first, second] = [turnOf(a.claim.stands), turnOf(b.claim.stands)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function turnOf(stands: readonly Stand[]): bigint {
  return stands.reduce(
    (least, { place }) => (place.createRevision < least ? place.createRevision : least),
    1n << 63n,
  );
}
