import type { AuditAction } from "../protocol/audit.ts";
import { deleteEntries, guardUnchanged } from "../protocol/guards.ts";
import { type QueueEntry, serializeTicket } from "../protocol/ticket.ts";
import type { Compare, Op } from "../protocol/txn.ts";
import { type ActionResult, executeAction } from "./operator-action.ts";
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

/** Tickets changed in one transaction: together with the comparisons, fewer than etcd's 128 operations. */
const CHUNK = 50;

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

async function evictInChunks(
  ports: OperatorPorts,
  eviction: Eviction,
  buildOps: (entry: QueueEntry) => Op[],
  outcome: string,
): Promise<ActionResult | undefined> {
  const { entries, compare = [], ...rest } = eviction;
  const due = entries.filter((entry) => buildOps(entry).length > 0);
  let receipt: ActionResult | undefined;
  for (let start = 0; start < due.length; start += CHUNK) {
    const chunk = due.slice(start, start + CHUNK);
    const ops = chunk.flatMap(buildOps);
    receipt = await executeAction(ports, {
      ...rest,
      outcome,
      compare: [...guardUnchanged(chunk), ...compare],
      ops,
    });
    if (receipt.kind === "changed") return receipt;
  }
  return receipt;
}
