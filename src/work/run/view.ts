import { type Place, placeOf, type Queue, queueOf } from "../../protocol/ticket.ts";
import type { KeyValue, Op, OpResult } from "../../protocol/txn.ts";
import { type Attempt, ownKeys } from "./attempt.ts";
import type { RunPorts, RunRequest } from "./request.ts";
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
}

/** A resource's queue as far as it was read. */
export interface Sight {
  /** Whether all of it was read, or only the own ticket and the one just ahead. */
  whole: boolean;
  queue: Queue;
}

/** Where the own tickets stand, as far as is known. */
export interface Standing {
  lock: bigint | undefined;
  resources: bigint | undefined;
}

/** How many places of a lock's queue are read by one who stands in it not yet: enough to say who holds it. */
const GLANCE = 8;

/** The view of one who assumes that nothing is there; its claim is refused where that is wrong. */
export const BLIND: View = {
  revision: 0n,
  own: new Map(),
  situation: UNKNOWN,
  lockQueue: [],
  resourceQueues: new Map(),
};

/**
 * Reads a view in one linearizable transaction that writes nothing.
 * @param how.closely  read the resources' queues whole; otherwise only the place just ahead in each
 */
export async function look(
  ports: RunPorts,
  request: RunRequest,
  attempt: Attempt,
  how: { standing: Standing; closely: boolean },
  signal: AbortSignal,
): Promise<View> {
  const { standing, closely } = how;
  const own = ownKeys(attempt);
  const situation = situationReads(ports.keys, request);
  const success: Op[] = [
    ...own.map((key): Op => ({ op: "range", key })),
    ...situation,
    ...queueReads(ports, request, standing, closely),
  ];
  const answer = await ports.store.txn({ compare: [], success, failure: [] }, signal);
  const results = [...answer.results];
  const places = results.splice(0, own.length).flatMap(keyValues).map(placeOf);
  const ownPlaces = new Map(places.map((place) => [place.key, place]));
  const facts = situationFrom(ports.keys, answer.revision, results.splice(0, situation.length));
  const lock = request.lock === undefined ? [] : results.splice(0, 1).flatMap(keyValues);
  return {
    revision: answer.revision,
    own: ownPlaces,
    situation: facts,
    lockQueue: sight(lock, ownPlaces.get(attempt.lockKey ?? ""), true).queue,
    resourceQueues: new Map(
      request.leases.map(({ resource }, index) => {
        const mine = ownPlaces.get(attempt.resourceKeys[index] ?? "");
        return [resource, sight(results.slice(index, index + 1).flatMap(keyValues), mine, closely)];
      }),
    ),
  };
}

function keyValues(result: OpResult): readonly KeyValue[] {
  return result.op === "range" ? result.kvs : [];
}

/** What was read of a queue, with the own place behind it where the read stopped short of it. */
function sight(kvs: readonly KeyValue[], mine: Place | undefined, whole: boolean): Sight {
  const queue = queueOf(kvs);
  const isSeen = mine === undefined || queue.some(({ key }) => key === mine.key);
  return { whole, queue: isSeen ? queue : [...queue, mine] };
}

function queueReads(ports: RunPorts, request: RunRequest, standing: Standing, closely: boolean): Op[] {
  const lock: Op[] =
    request.lock === undefined ? [] : [reading(ports, "lock", request.lock, standing.lock, GLANCE)];
  const resources = request.leases.map(({ resource }) =>
    reading(ports, "resource", resource, closely ? undefined : standing.resources, closely ? undefined : 1),
  );
  return [...lock, ...resources];
}

/** Reads the place just ahead of `before`, or from the head of the queue on. */
function reading(
  ports: RunPorts,
  kind: "lock" | "resource",
  name: string,
  before: bigint | undefined,
  limit: number | undefined,
): Op {
  const queue = ports.keys.queue(kind, name);
  if (before === undefined) {
    return { op: "range", ...queue, sort: { by: "create", order: "ascend" }, ...(limit && { limit }) };
  }
  const sort = { by: "create", order: "descend" } as const;
  return { op: "range", ...queue, sort, limit: 1, maxCreateRevision: before - 1n };
}
