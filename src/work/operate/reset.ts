import type { AuditAction } from "../../protocol/audit.ts";
import { untouched } from "../../protocol/guards.ts";
import { type Place, ticketText } from "../../protocol/ticket.ts";
import type { Op } from "../../protocol/txn.ts";
import { act, type Receipt } from "./act.ts";
import { type OperatorPorts, signature } from "./ports.ts";

/** Tickets that an operator wants gone, exactly as they were seen. */
export interface Eviction {
  action: Extract<AuditAction, "reset" | "release" | "drain">;
  target: string;
  places: readonly Place[];
  /** Revision of what was seen. */
  seen: bigint;
  reason?: string | undefined;
}

/** Tickets changed in one transaction: with the compares, below etcd's 128 operations. */
const CHUNK = 100;

/** Those of the tickets that an order to leave can be written into, or that need none: without force, others stay. */
export function canBeAsked({ ticket }: Place): boolean {
  return ticket !== undefined;
}

/**
 * Asks the runs to give up their claims: a request in every ticket, which the runner answers by ending its command and
 * freeing its places. Where nothing is left to end (grace), the ticket is deleted. One that was asked already is left as
 * it is.
 * @returns `changed` as soon as a ticket is not what was seen; undefined where there was nothing to write
 * @throws SignalboxError 77, StoreError
 */
export function requestResets(ports: OperatorPorts, eviction: Eviction): Promise<Receipt | undefined> {
  const at = ports.clock.wall();
  const { reason } = eviction;
  const request = { by: signature(ports.operator), at, ...(reason !== undefined && { why: reason }) };
  const ask = ({ key, ticket }: Place): Op[] => {
    if (ticket === undefined || ticket.reset !== undefined) return [];
    if (ticket.state === "grace") return [{ op: "delete", key }];
    return [{ op: "put", key, value: ticketText({ ...ticket, reset: request }), keepSession: true }];
  };
  return inChunks(ports, eviction, ask, "asked to end");
}

/**
 * Deletes the tickets at once, whatever their runs do: the next may start while a command that is cut off is still
 * alive. Results as `requestResets`.
 */
export function removeTickets(ports: OperatorPorts, eviction: Eviction): Promise<Receipt | undefined> {
  return inChunks(ports, eviction, ({ key }) => [{ op: "delete", key }], "removed by force");
}

async function inChunks(
  ports: OperatorPorts,
  eviction: Eviction,
  opsOf: (place: Place) => Op[],
  outcome: string,
): Promise<Receipt | undefined> {
  const { places, ...rest } = eviction;
  const due = places.filter((place) => opsOf(place).length > 0);
  let receipt: Receipt | undefined;
  for (let start = 0; start < due.length; start += CHUNK) {
    const chunk = due.slice(start, start + CHUNK);
    const ops = chunk.flatMap(opsOf);
    receipt = await act(ports, { ...rest, outcome, compare: untouched(chunk), ops });
    if (receipt.kind === "changed") return receipt;
  }
  return receipt;
}
