import type { AuditAction } from "../protocol/audit.ts";
import { deleteEntries } from "../protocol/guards.ts";
import { type QueueEntry, serializeTicket } from "../protocol/ticket.ts";
import type { Compare, Op } from "../protocol/txn.ts";
import { type ActionResult, executeInChunks } from "./operator-action.ts";
import { formatOperator, type OperatorPorts } from "./ports.ts";

/** Tickets that an operator wants to remove, as they were read. */
interface Eviction {
  action: Extract<AuditAction, "reset" | "release" | "drain">;
  target: string;
  entries: readonly QueueEntry[];
  /** Revision that the operator has read. */
  seen: bigint;
  reason?: string | undefined;
  /** Further conditions that must hold. At most 20: together with the tickets, fewer than etcd's 128 operations. */
  compare?: readonly Compare[];
}

/**
 * Returns whether a reset request can be written into the ticket, or whether it needs none. Others can only be removed.
 */
export function canRequestReset({ ticket, vanished }: QueueEntry): boolean {
  return ticket !== undefined && vanished === undefined;
}

/**
 * Asks runs to give up their claims: writes a request into every ticket. The runner then ends its command and removes
 * its queue entries. A ticket in grace has no command to end, so it is deleted. A ticket with a request is not changed.
 * @returns `changed` as soon as a ticket differs from what was read; undefined when there was nothing to write
 * @throws SignalboxError 77, StoreError
 */
export function requestResets(ports: OperatorPorts, eviction: Eviction): Promise<ActionResult | undefined> {
  const at = ports.clock.getWallTime();
  const { reason } = eviction;
  const request = { by: formatOperator(ports.operator), at, ...(reason !== undefined && { why: reason }) };
  const buildRequest = ({ key, ticket, vanished }: QueueEntry): Op[] => {
    if (ticket === undefined || ticket.reset !== undefined || vanished !== undefined) return [];
    if (ticket.state === "grace") return [{ op: "delete", key }];
    return [{ op: "put", key, value: serializeTicket({ ...ticket, reset: request }), keepSession: true }];
  };
  return evictInChunks(ports, eviction, buildRequest, "asked to end");
}

/**
 * Deletes the tickets and marks at once, without waiting for their runs: the next run may start while a command on a host that is
 * cut off is still alive. Returns the same results as `requestResets`.
 */
export function removeTickets(ports: OperatorPorts, eviction: Eviction): Promise<ActionResult | undefined> {
  return evictInChunks(ports, eviction, (entry) => deleteEntries(ports.keys, [entry]), "removed by force");
}

function evictInChunks(
  ports: OperatorPorts,
  eviction: Eviction,
  buildOps: (entry: QueueEntry) => Op[],
  outcome: string,
): Promise<ActionResult | undefined> {
  const { entries, compare = [], ...rest } = eviction;
  const due = entries.filter((entry) => buildOps(entry).length > 0);
  return executeInChunks(ports, { ...rest, outcome, compare }, due, (chunk) => chunk.flatMap(buildOps));
}
