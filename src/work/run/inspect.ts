import { quoted } from "../../base/text.ts";
import { membership } from "../../fleet/groups.ts";
import { type Place, placeOf } from "../../protocol/ticket.ts";
import type { KeyValue, Op } from "../../protocol/txn.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import { groupsFrom } from "./situation.ts";

/** What a linearizable read says of a claim that is held. */
export interface Inspection {
  revision: bigint;
  raftTerm: bigint;
  loss: Loss | undefined;
}

/** Why a claim is lost. */
export interface Loss {
  /** `gone`: somebody else may hold it already. `asked`: it is ours until the command has ended. */
  kind: "gone" | "asked";
  why: string;
}

/** An own ticket by what makes it ours. */
export type Anchor = Pick<Place, "key" | "createRevision">;

/** Reads the own tickets, and the groups where the host must stay in one. */
export async function inspect(
  ports: ClaimPorts,
  request: ClaimRequest,
  places: readonly Anchor[],
  signal: AbortSignal,
): Promise<Inspection> {
  const tickets = places.map(({ key }): Op => ({ op: "range", key }));
  const groups: Op[] = request.group === undefined ? [] : [{ op: "range", ...ports.keys.groups() }];
  const txn = { compare: [], success: proving(ports, [...tickets, ...groups]), failure: [] };
  const { revision, raftTerm, results } = await ports.store.txn(txn, signal);
  const read = results.map((result) => (result.op === "range" ? result.kvs : []));
  const own = read.slice(0, places.length).flat().map(placeOf);
  const loss = ticketLoss(places, own) ?? groupLoss(ports, request, read.slice(places.length).flat());
  return { revision, raftTerm, loss };
}

/** Never nothing: a transaction without any operation is no linearizable read, a deposed leader answers it as well. */
function proving({ keys }: ClaimPorts, reads: Op[]): Op[] {
  return reads.length > 0 ? reads : [{ op: "range", ...keys.drains(), countOnly: true }];
}

function ticketLoss(places: readonly Anchor[], own: readonly Place[]): Loss | undefined {
  const standing = new Map(own.map((place) => [place.key, place.createRevision]));
  if (places.some(({ key, createRevision }) => standing.get(key) !== createRevision)) {
    return { kind: "gone", why: "its ticket was removed" };
  }
  const reset = own.find(({ ticket }) => ticket?.reset !== undefined)?.ticket?.reset;
  if (reset === undefined) return undefined;
  const reason = reset.why === undefined ? "" : `: ${quoted(reset.why)}`;
  return { kind: "asked", why: `reset by ${quoted(reset.by)}${reason}` };
}

function groupLoss(ports: ClaimPorts, request: ClaimRequest, kvs: readonly KeyValue[]): Loss | undefined {
  if (request.group === undefined) return undefined;
  const groups = groupsFrom(ports.keys, kvs);
  const isMember = groups.has(request.group) && membership(groups, request.group, request.identity.host);
  return isMember
    ? undefined
    : { kind: "asked", why: `the host is no longer in group ${quoted(request.group)}` };
}
