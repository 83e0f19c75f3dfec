import { type Queue, type QueueEntry, toQueueEntry } from "../../../protocol/ticket.ts";
import type { Op } from "../../../protocol/txn.ts";
import type { RemovalTimes, VanishedTickets } from "../../observe/vanished-tickets.ts";
import { type ClaimAttempt, listOwnKeys } from "./attempt.ts";
import { buildInputReads, type ClaimInputs, EMPTY_INPUTS, parseClaimInputs } from "./eligibility.ts";
import {
  buildLockReads,
  buildResourceReads,
  getKeyValues,
  isAheadRead,
  parseLockQueue,
  parseResourceQueue,
  type ResourceQueueView,
} from "./queues.ts";

/** All inputs for the next step of an attempt, read at one revision. */
export interface ClaimView {
  revision: bigint;
  /** Own tickets that exist. */
  own: ReadonlyMap<string, QueueEntry>;
  inputs: ClaimInputs;
  /**
   * The entry directly ahead and the own entry; the first few entries while the run is not in the queue. Includes vanished
   * tickets, as far as it is certain that they have vanished.
   */
  lockQueue: Queue;
  /** Whether the entry of the lock directly ahead of the own one was read. Otherwise others may be between. */
  isAheadKnown: boolean;
  resourceQueues: ReadonlyMap<string, ResourceQueueView>;
  /** When the marks of vanished tickets may be removed, by their keys. */
  removals: RemovalTimes;
  /** The stored record of this host; undefined when it was not read. */
  host: { text: string | undefined } | undefined;
}

/** The `create_revision` of the own tickets, as far as they were read. */
export interface OwnTicketRevisions {
  lock: bigint | undefined;
  resources: bigint | undefined;
}

/** A view that assumes an empty store. When the assumption is wrong, the claim transaction fails. */
export const EMPTY_CLAIM_VIEW: ClaimView = {
  revision: 0n,
  own: new Map(),
  inputs: EMPTY_INPUTS,
  lockQueue: [],
  isAheadKnown: false,
  resourceQueues: new Map(),
  removals: new Map(),
  host: undefined,
};

/**
 * Reads a view in one linearizable transaction that writes nothing.
 * @param how.standing  revisions of the own tickets, from the last read
 * @param how.depth  how many of the first entries of each resource queue to read, besides the one directly ahead of the
 * own entry; Infinity for whole queues
 * @param how.host  the key of this host's record; undefined when the record is not needed
 * @param how.vanished  the vanished tickets that were read before
 */
export async function readClaimView(
  attempt: ClaimAttempt,
  how: { standing: OwnTicketRevisions; depth: number; host: string | undefined; vanished: VanishedTickets },
  signal: AbortSignal,
): Promise<ClaimView> {
  const { standing, depth } = how;
  const { ports, request } = attempt;
  const { keys } = ports;
  const own = listOwnKeys(attempt).map((key): Op => ({ op: "range", key }));
  const situation = buildInputReads(keys, request);
  const lock = request.lock === undefined ? [] : buildLockReads(keys, request.lock, standing.lock);
  const queues = request.leases.map(({ resource }) =>
    buildResourceReads(keys, resource, standing.resources, depth),
  );
  const success: Op[] = [
    ...own,
    ...situation,
    ...lock,
    ...queues.flat(),
    ...(how.host === undefined ? [] : [{ op: "range", key: how.host } as const]),
  ];
  const answer = await ports.store.commitTxn({ compare: [], success, failure: [] }, signal);
  const results = [...answer.results];
  const take = (reads: readonly Op[]) => results.splice(0, reads.length);
  const places = take(own).flatMap(getKeyValues).map(toQueueEntry);
  const ownPlaces = new Map(places.map((place) => [place.key, place]));
  const facts = parseClaimInputs(keys, answer.revision, take(situation));
  const lockResults = take(lock);
  const mine = ownPlaces.get(attempt.lockKey ?? "");
  const sights = request.leases.map(({ resource }, index): [string, ResourceQueueView] => {
    const own = ownPlaces.get(attempt.resourceKeys[index] ?? "");
    return [resource, parseResourceQueue(take(queues[index] ?? []), own, depth)];
  });
  const lockQueue = parseLockQueue(lockResults, mine, standing.lock);
  const entries = [...lockQueue, ...sights.flatMap(([, { queue }]) => queue)];
  return {
    revision: answer.revision,
    own: ownPlaces,
    inputs: facts,
    lockQueue,
    isAheadKnown: mine !== undefined && isAheadRead(lockResults[0], standing.lock, mine),
    resourceQueues: new Map(sights),
    removals: how.vanished.update(entries, answer.raftTerm),
    host: how.host === undefined ? undefined : { text: results.flatMap(getKeyValues)[0]?.value },
  };
}
