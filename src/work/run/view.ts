import { type Place, placeOf, type Queue } from "../../protocol/ticket.ts";
import type { Op } from "../../protocol/txn.ts";
import { type Attempt, ownKeys } from "./attempt.ts";
import { keyValues, lockQueue, lockRead, resourceReads, type Sight, sightOf } from "./queues.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import { type Situation, situationFrom, situationReads, UNKNOWN } from "./situation.ts";

/** Everything that the next step of an attempt is decided from, read at one revision. */
export interface View {
  revision: bigint;
  /** Own tickets that are there. */
  own: ReadonlyMap<string, Place>;
  situation: Situation;
  /** The place just ahead and the own one; the first few where the run stands in it not yet. */
  lockQueue: Queue;
  resourceQueues: ReadonlyMap<string, Sight>;
  /** What this host last said of itself; undefined where that was not read. */
  host: { text: string | undefined } | undefined;
}

/** Where the own tickets stand, as far as is known. */
export interface Standing {
  lock: bigint | undefined;
  resources: bigint | undefined;
}

/** The view of one who assumes that nothing is there; its claim is refused where that is wrong. */
export const BLIND: View = {
  revision: 0n,
  own: new Map(),
  situation: UNKNOWN,
  lockQueue: [],
  resourceQueues: new Map(),
  host: undefined,
};

/**
 * Reads a view in one linearizable transaction that writes nothing.
 * @param how.depth  how many of the first places of each resource's queue to read, besides the one just ahead of the own;
 *                   Infinity for whole queues
 * @param how.host  the key of what this host says of itself, where that is to be read too
 */
export async function look(
  ports: ClaimPorts,
  request: ClaimRequest,
  attempt: Attempt,
  how: { standing: Standing; depth: number; host: string | undefined },
  signal: AbortSignal,
): Promise<View> {
  const { standing, depth } = how;
  const { keys } = ports;
  const own = ownKeys(attempt).map((key): Op => ({ op: "range", key }));
  const situation = situationReads(keys, request);
  const lock = request.lock === undefined ? [] : [lockRead(keys, request.lock, standing.lock)];
  const queues = request.leases.map(({ resource }) =>
    resourceReads(keys, resource, standing.resources, depth),
  );
  const success: Op[] = [
    ...own,
    ...situation,
    ...lock,
    ...queues.flat(),
    ...(how.host === undefined ? [] : [{ op: "range", key: how.host } as const]),
  ];
  const answer = await ports.store.txn({ compare: [], success, failure: [] }, signal);
  const results = [...answer.results];
  const take = (reads: readonly Op[]) => results.splice(0, reads.length);
  const places = take(own).flatMap(keyValues).map(placeOf);
  const ownPlaces = new Map(places.map((place) => [place.key, place]));
  const facts = situationFrom(keys, answer.revision, take(situation));
  const [ofLock] = take(lock);
  const sights = request.leases.map(({ resource }, index): [string, Sight] => {
    const mine = ownPlaces.get(attempt.resourceKeys[index] ?? "");
    return [resource, sightOf(take(queues[index] ?? []), mine, depth)];
  });
  return {
    revision: answer.revision,
    own: ownPlaces,
    situation: facts,
    lockQueue: lockQueue(ofLock, ownPlaces.get(attempt.lockKey ?? "")),
    resourceQueues: new Map(sights),
    host: how.host === undefined ? undefined : { text: results.flatMap(keyValues)[0]?.value },
  };
}
