import { quoteText } from "../base/text.ts";
import type { Store } from "../etcd/store.ts";
import { findMembership } from "../fleet/groups.ts";
import { type QueueEntry, toQueueEntry } from "../protocol/ticket.ts";
import type { KeyValue, Op, WatchEvent } from "../protocol/txn.ts";
import type { ClaimAttempt } from "./attempt.ts";
import { parseGroups } from "./eligibility.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";

/** The result of a linearizable read of a held claim. */
interface ClaimInspection {
  revision: bigint;
  raftTerm: bigint;
  loss: ClaimLoss | undefined;
}

/** Why a claim is lost. */
export interface ClaimLoss {
  /** `gone`: another run may hold the claim already. `asked`: the claim remains held until the command has ended. */
  kind: "gone" | "asked";
  why: string;
}

/** Identifies an own ticket. */
export type OwnTicketRef = Pick<QueueEntry, "key" | "createRevision">;

/** Reads the own tickets, and the groups if the request names one. @param store  where to read; by default, that of the attempt */
export async function inspectClaim(
  { ports, request }: ClaimAttempt,
  entries: readonly OwnTicketRef[],
  signal: AbortSignal,
  store: Store = ports.store,
): Promise<ClaimInspection> {
  const tickets = entries.map(({ key }): Op => ({ op: "range", key }));
  const groups: Op[] = request.group === undefined ? [] : [{ op: "range", ...ports.keys.groups() }];
  const txn = { compare: [], success: addProvingRead(ports, [...tickets, ...groups]), failure: [] };
  const { revision, raftTerm, results } = await store.commitTxn(txn, signal);
  const read = results.map((result) => (result.op === "range" ? result.kvs : []));
  const own = read.slice(0, entries.length).flat().map(toQueueEntry);
  const loss =
    findTicketLoss(entries, own) ?? findGroupLoss(ports, request, read.slice(entries.length).flat());
  return { revision, raftTerm, loss };
}

/**
 * Finds what the events of a watch say about the own tickets. Each event is a change that a majority has committed, so no read
 * has to confirm it: a read can take long where etcd has just lost its leader.
 */
export function findLossInEvents(
  entries: readonly OwnTicketRef[],
  events: readonly WatchEvent[],
): ClaimLoss | undefined {
  for (const event of events) {
    const entry = entries.find(({ key }) => key === (event.type === "put" ? event.kv.key : event.key));
    const own = event.type === "put" ? [toQueueEntry(event.kv)] : [];
    const loss = entry && findTicketLoss([entry], own);
    if (loss !== undefined) return loss;
  }
  return undefined;
}

/**
 * Adds a read if there is none. A transaction without operations is not a linearizable read: a deposed leader answers
 * it too.
 */
function addProvingRead({ keys }: ClaimPorts, reads: Op[]): Op[] {
  return reads.length > 0 ? reads : [{ op: "range", ...keys.drains(), countOnly: true }];
}

function findTicketLoss(entries: readonly OwnTicketRef[], own: readonly QueueEntry[]): ClaimLoss | undefined {
  const present = new Map(own.map((entry) => [entry.key, entry.createRevision]));
  if (entries.some(({ key, createRevision }) => present.get(key) !== createRevision)) {
    return { kind: "gone", why: "its ticket was removed" };
  }
  const reset = own.find(({ ticket }) => ticket?.reset !== undefined)?.ticket?.reset;
  if (reset === undefined) return undefined;
  const reason = reset.why === undefined ? "" : `: ${quoteText(reset.why)}`;
  return { kind: "asked", why: `reset by ${quoteText(reset.by)}${reason}` };
}

function findGroupLoss(
  ports: ClaimPorts,
  request: ClaimRequest,
  kvs: readonly KeyValue[],
): ClaimLoss | undefined {
  if (request.group === undefined) return undefined;
  const groups = parseGroups(ports.keys, kvs);
  const isMember = groups.has(request.group) && findMembership(groups, request.group, request.identity.host);
  return isMember
    ? undefined
    : { kind: "asked", why: `the host is no longer in group ${quoteText(request.group)}` };
}
