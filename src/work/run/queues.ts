import type { Keys } from "../../protocol/keys.ts";
import { type Place, type Queue, queueOf } from "../../protocol/ticket.ts";
import type { KeyRange, KeyValue, Op, OpResult } from "../../protocol/txn.ts";

/** A resource's queue as far as it was read, with the own place in it. */
export interface Sight {
  /** `near`: only the place just ahead. `head`: also the first ones up to the own. `whole`: also those behind. */
  reach: "near" | "head" | "whole";
  queue: Queue;
  /** The place just ahead of the own one. */
  ahead: Place | undefined;
}

/** How many places of a lock's queue are read by one who stands in it not yet: enough to say who holds it. */
const GLANCE = 8;
/** Most places that are read of a queue's head; where they do not decide, the whole queue does. */
const HEAD = 1_000;

/**
 * How many of a queue's first places mostly show that a waiter waits on: twice as many as have room at once where all ask
 * for as much as it does. A queue of tens of thousands need not be read for that.
 */
export function headOf({ count, total }: { count: number; total: number }): number {
  return Math.min(HEAD, 2 * Math.ceil(total / count) + 16);
}

/** Reads the place just ahead of the own one in a lock's queue, or the first few. @param before  own `create_revision` */
export function lockRead(keys: Keys, name: string, before: bigint | undefined): Op {
  const queue = keys.queue("lock", name);
  return before === undefined ? inOrder(queue, GLANCE) : justBefore(queue, before);
}

/**
 * Reads a resource's queue.
 * @param before  own `create_revision`; undefined while not in it
 * @param depth   how many of its first places, besides the one just ahead; Infinity for all of it
 */
export function resourceReads(keys: Keys, name: string, before: bigint | undefined, depth: number): Op[] {
  const queue = keys.queue("resource", name);
  if (depth === Number.POSITIVE_INFINITY) return [inOrder(queue)];
  if (before === undefined) return [inOrder(queue, 1)];
  const head: Op[] = depth > 0 ? [{ ...inOrder(queue, depth), maxCreateRevision: before }] : [];
  return [justBefore(queue, before), ...head];
}

type RangeOperation = Extract<Op, { op: "range" }>;

function inOrder(queue: KeyRange, limit?: number): RangeOperation {
  const sort = { by: "create", order: "ascend" } as const;
  return { op: "range", ...queue, sort, ...(limit !== undefined && { limit }) };
}

function justBefore(queue: KeyRange, before: bigint): RangeOperation {
  const sort = { by: "create", order: "descend" } as const;
  return { op: "range", ...queue, sort, limit: 1, maxCreateRevision: before - 1n };
}

/** What was read of a lock's queue, with the own place behind it where the read stopped short of it. */
export function lockQueue(result: OpResult | undefined, mine: Place | undefined): Queue {
  return upTo(placesIn(result), mine);
}

/** What the results of `resourceReads` show. @param mine  own place, where there is one */
export function sightOf(results: readonly OpResult[], mine: Place | undefined, depth: number): Sight {
  const [first, head] = results;
  const places = placesIn(first);
  if (depth === Number.POSITIVE_INFINITY) {
    const own = places.findIndex(({ key }) => key === mine?.key);
    return { reach: "whole", queue: upTo(places, mine), ahead: places[own - 1] };
  }
  const ahead = places.find(({ key }) => key !== mine?.key);
  if (head === undefined) return { reach: "near", queue: upTo(places, mine), ahead };
  return { reach: "head", queue: upTo(placesIn(head), mine), ahead };
}

function upTo(queue: Queue, mine: Place | undefined): Queue {
  const isSeen = mine === undefined || queue.some(({ key }) => key === mine.key);
  return isSeen ? queue : [...queue, mine];
}

function placesIn(result: OpResult | undefined): Queue {
  return queueOf(keyValues(result));
}

/** What a range has found; nothing where there was none. */
export function keyValues(result: OpResult | undefined): readonly KeyValue[] {
  return result?.op === "range" ? result.kvs : [];
}
