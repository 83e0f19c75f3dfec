import type { Keys } from "./keys.ts";
import type { Place, Ticket } from "./ticket.ts";
import { ticketText } from "./ticket.ts";
import type { Compare, Op, Txn } from "./txn.ts";

/** What a decision was computed from, so that the transaction that acts on it can refuse when it has changed. */
export interface Basis {
  /** Revision of the read; 0n when nothing was read and there must be nothing to read. */
  revision: bigint;
  /** Whether groups decide which drains apply. */
  groupsMatter: boolean;
  /** Configuration keys used, with the `mod_revision` they had (0n: not there). */
  config: readonly { key: string; modRevision: bigint }[];
}

/** Nothing has been read: holds only where no drain exists and no configuration was needed. */
export const NOTHING_READ: Basis = { revision: 0n, groupsMatter: false, config: [] };

/** A ticket and the key it is put at. */
export interface Stake {
  key: string;
  ticket: Ticket;
}

/** Holds while no drain (nor group, where groups decide) is newer than the basis, and its configuration is unchanged. */
export function unchanged(keys: Keys, basis: Basis): Compare[] {
  const notNewer = { target: "mod", is: "less", value: basis.revision + 1n } as const;
  return [
    { ...keys.drains(), ...notNewer },
    ...(basis.groupsMatter ? [{ ...keys.groups(), ...notNewer }] : []),
    ...basis.config.map(({ key, modRevision }) => sameRevision(key, modRevision)),
  ];
}

/** Holds while none of the keys exists: a claim that was applied already is not applied again. */
export function absent(ownKeys: readonly string[]): Compare[] {
  return ownKeys.map((key) => ({ key, target: "create", is: "equal", value: 0n }));
}

/** Holds while the places are exactly what was read: a reset request, a mark or a removal in between refuses. */
export function untouched(places: readonly Place[]): Compare[] {
  return places.map(({ key, modRevision }) => sameRevision(key, modRevision));
}

/** Holds while the places are still ours, whatever was written into them. */
export function ours(places: readonly Place[]): Compare[] {
  return places.map(({ key, createRevision }) => ({
    key,
    target: "create",
    is: "equal",
    value: createRevision,
  }));
}

/** Holds while a key has this `mod_revision`; 0n: while it is not there. */
export function sameRevision(key: string, value: bigint): Compare {
  return { key, target: "mod", is: "equal", value };
}

/** Puts tickets on a session. */
export function putTickets(stakes: readonly Stake[], session: bigint): Op[] {
  return stakes.map(({ key, ticket }) => ({ op: "put", key, value: ticketText(ticket), session }));
}

/** The own places with other tickets in them. */
export function rewritten(places: readonly Place[], change: Partial<Ticket>): Stake[] {
  return places.flatMap(({ key, ticket }) => (ticket ? [{ key, ticket: { ...ticket, ...change } }] : []));
}

/**
 * The claim: every ticket at once, hence one `create_revision` for all of them and one order over all queues.
 * @param claim.lock   the lock whose queue must be empty; undefined where none is claimed
 * @param claim.reads  what to read along with a success
 */
export function claimTxn(
  keys: Keys,
  claim: {
    lock: string | undefined;
    stakes: readonly Stake[];
    session: bigint;
    basis: Basis;
    reads: Op[];
    failure: Op[];
  },
): Txn {
  const { lock, stakes, session, basis } = claim;
  const nobody = { target: "create", is: "equal", value: 0n } as const;
  return {
    compare: [
      ...absent(stakes.map(({ key }) => key)),
      ...(lock === undefined ? [] : [{ ...keys.queue("lock", lock), ...nobody }]),
      ...unchanged(keys, basis),
    ],
    success: [...putTickets(stakes, session), ...claim.reads],
    failure: claim.failure,
  };
}

/**
 * Takes places in queues, behind whoever is there.
 * @param join.after  own places that must still stand, untouched
 * @param join.mark   what becomes of those
 */
export function joinTxn(
  keys: Keys,
  join: {
    stakes: readonly Stake[];
    session: bigint;
    basis: Basis;
    after: readonly Place[];
    mark: readonly Stake[];
  },
): Txn {
  return {
    compare: [
      ...absent(join.stakes.map(({ key }) => key)),
      ...untouched(join.after),
      ...unchanged(keys, join.basis),
    ],
    success: putTickets([...join.stakes, ...join.mark], join.session),
    failure: [],
  };
}

/** Turns an admitted claim into a held one. */
export function grantTxn(
  keys: Keys,
  grant: { places: readonly Place[]; stakes: readonly Stake[]; session: bigint; basis: Basis; reads: Op[] },
): Txn {
  return {
    compare: [...untouched(grant.places), ...unchanged(keys, grant.basis)],
    success: [...putTickets(grant.stakes, grant.session), ...grant.reads],
    failure: [],
  };
}

/**
 * A transaction that leaves a text at a key on its way, whether it succeeds or not, and writes it only where another one
 * is there. The results of what it did before stay in their places.
 */
export function noting(txn: Txn, key: string, text: string): Txn {
  const isThere = { key, target: "value", is: "equal", value: text } as const;
  const note: Op = {
    op: "txn",
    txn: { compare: [isThere], success: [], failure: [{ op: "put", key, value: text }] },
  };
  return { ...txn, success: [...txn.success, note], failure: [...txn.failure, note] };
}
