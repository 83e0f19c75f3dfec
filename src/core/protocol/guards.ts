import type { Keys } from "./keys.ts";
import { guardSchema } from "./schema.ts";
import { type Mark, type MarkedSession, type QueueEntry, serializeTicket, type Ticket } from "./ticket.ts";
import type { Compare, KeyRange, Op, Txn } from "./txn.ts";

/** The data that a decision is based on. The transaction that applies the decision fails if this data has changed. */
export interface ReadBasis {
  /** Revision of the read; 0n if nothing was read and nothing may exist. */
  revision: bigint;
  /** Whether groups decide which drains apply. */
  groupsMatter: boolean;
  /** The configuration keys used, with the `mod_revision` that was read (0n: the key did not exist). */
  config: readonly { key: string; modRevision: bigint }[];
}

/** A ticket and the key to store it at. */
export interface NewTicket {
  key: string;
  ticket: Ticket;
}

/**
 * Succeeds if no drain is newer than the basis, the configuration is unchanged, and this program may write.
 * If groups decide which drains apply, no group may be newer either.
 */
function guardBasis(keys: Keys, basis: ReadBasis): Compare[] {
  return [
    guardSchema(keys),
    ...guardNotNewer(basis.revision, keys.drains()),
    ...(basis.groupsMatter ? guardNotNewer(basis.revision, keys.groups()) : []),
    ...basis.config.map(({ key, modRevision }) => guardRevision(key, modRevision)),
  ];
}

/** Succeeds if no key of the ranges is newer than a revision. */
export function guardNotNewer(revision: bigint, ...ranges: KeyRange[]): Compare[] {
  return ranges.map((range) => ({ ...range, target: "mod", is: "less", value: revision + 1n }));
}

/** Succeeds if none of the keys exists, so that a claim that was already applied is not applied again. */
export function guardAbsent(ownKeys: readonly string[]): Compare[] {
  return ownKeys.map((key) => ({ key, target: "create", is: "equal", value: 0n }));
}

/**
 * Succeeds if the keys, such as queue entries, are exactly as read. A reset request, another write or a deletion makes
 * it fail.
 */
export function guardUnchanged(entries: readonly Pick<QueueEntry, "key" | "modRevision">[]): Compare[] {
  return entries.map(({ key, modRevision }) => guardRevision(key, modRevision));
}

/** Succeeds if the queue entries still belong to this run, even if their values were rewritten. */
export function guardOwned(entries: readonly QueueEntry[]): Compare[] {
  return entries.map(({ key, createRevision }) => ({
    key,
    target: "create",
    is: "equal",
    value: createRevision,
  }));
}

/** Succeeds if the key has this `mod_revision`. 0n means that the key must not exist. */
export function guardRevision(key: string, value: bigint): Compare {
  return { key, target: "mod", is: "equal", value };
}

/** Builds the operations that delete keys. */
export function deleteKeys(entries: readonly Pick<QueueEntry, "key">[]): Op[] {
  return entries.map(({ key }) => ({ op: "delete", key }));
}

/** Builds the operations that delete the marks of tickets. Their commands must be dead, or never have started. */
export function deleteMarks(keys: Keys, tickets: readonly Pick<QueueEntry, "key">[]): Op[] {
  return tickets.map(({ key }) => ({ op: "delete", key: keys.mark(key) }));
}

/** Builds the operations that delete queue entries: tickets with their marks, and marks whose tickets have vanished. */
export function deleteEntries(keys: Keys, entries: readonly Pick<QueueEntry, "key" | "vanished">[]): Op[] {
  const tickets = entries.filter(({ vanished }) => vanished === undefined);
  return [...deleteKeys(entries), ...deleteMarks(keys, tickets)];
}

/** Builds the puts that store tickets under a session. */
export function putTickets(tickets: readonly NewTicket[], session: bigint): Op[] {
  return tickets.map(({ key, ticket }) => ({ op: "put", key, value: serializeTicket(ticket), session }));
}

/**
 * Builds the puts of the marks of tickets that are granted.
 * @param found  the entries of tickets that exist already
 */
function putMarks(
  keys: Keys,
  tickets: readonly NewTicket[],
  found: readonly QueueEntry[],
  { ttl, term }: MarkedSession,
): Op[] {
  const revisions = new Map(found.map(({ key, createRevision }) => [key, String(createRevision)]));
  return tickets.map(({ key, ticket: { args, reset, ...ticket } }): Op => {
    const place = revisions.get(key);
    const mark: Mark = { ...ticket, ttl };
    if (term !== undefined) mark.term = String(term);
    if (place !== undefined) mark.place = place;
    return { op: "put", key: keys.mark(key), value: serializeTicket(mark) };
  });
}

/** Returns the run's own queue entries with changed tickets. Skips entries whose ticket is unreadable. */
export function rewriteTickets(entries: readonly QueueEntry[], change: Partial<Ticket>): NewTicket[] {
  return entries.flatMap(({ key, ticket }) => (ticket ? [{ key, ticket: { ...ticket, ...change } }] : []));
}

/**
 * Builds the claim transaction. It writes all tickets at once, so that they share one `create_revision` and have the
 * same order in all queues.
 * @param claim.locks  the locks, whose queues must be empty
 * @param claim.marked  the session, if the transaction grants the claim
 * @param claim.reads  reads to perform if the claim succeeds
 */
export function buildTicketClaimTxn(
  keys: Keys,
  claim: {
    locks: readonly string[];
    tickets: readonly NewTicket[];
    session: bigint;
    marked: MarkedSession | undefined;
    basis: ReadBasis;
    reads: Op[];
    failure: Op[];
  },
): Txn {
  const { locks, tickets, session, marked, basis } = claim;
  const marks = marked === undefined ? [] : putMarks(keys, tickets, [], marked);
  const isEmpty = { target: "create", is: "equal", value: 0n } as const;
  return {
    compare: [
      ...guardAbsent(tickets.map(({ key }) => key)),
      ...locks.map((lock) => ({ ...keys.getQueueRange("lock", lock), ...isEmpty })),
      ...guardBasis(keys, basis),
    ],
    success: [...putTickets(tickets, session), ...marks, ...claim.reads],
    failure: claim.failure,
  };
}

/**
 * Builds the transaction that adds tickets to the end of their queues.
 * @param join.after  the run's own queue entries that must still exist unchanged
 * @param join.changed   new tickets for these entries
 */
export function buildJoinTxn(
  keys: Keys,
  join: {
    tickets: readonly NewTicket[];
    session: bigint;
    basis: ReadBasis;
    after: readonly QueueEntry[];
    changed: readonly NewTicket[];
  },
): Txn {
  return {
    compare: [
      ...guardAbsent(join.tickets.map(({ key }) => key)),
      ...guardUnchanged(join.after),
      ...guardBasis(keys, join.basis),
    ],
    success: putTickets([...join.tickets, ...join.changed], join.session),
    failure: [],
  };
}

/** Builds the transaction that turns an admitted claim into a held one. */
export function buildGrantTxn(
  keys: Keys,
  grant: {
    entries: readonly QueueEntry[];
    tickets: readonly NewTicket[];
    session: bigint;
    marked: MarkedSession;
    basis: ReadBasis;
    reads: Op[];
  },
): Txn {
  return {
    compare: [...guardUnchanged(grant.entries), ...guardBasis(keys, grant.basis)],
    success: [
      ...putTickets(grant.tickets, grant.session),
      ...putMarks(keys, grant.tickets, grant.entries, grant.marked),
      ...grant.reads,
    ],
    failure: [],
  };
}

/**
 * Extends a transaction so that it also stores a text at a key, whether it succeeds or fails. It writes the text only
 * if the key has another value. The results of the existing operations keep their positions.
 */
export function addPutIfChanged(txn: Txn, key: string, text: string): Txn {
  const isUnchanged = { key, target: "value", is: "equal", value: text } as const;
  const putIfChanged: Op = {
    op: "txn",
    txn: { compare: [isUnchanged], success: [], failure: [{ op: "put", key, value: text }] },
  };
  return { ...txn, success: [...txn.success, putIfChanged], failure: [...txn.failure, putIfChanged] };
}
