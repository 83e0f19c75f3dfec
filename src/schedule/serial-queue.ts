import type { Definition } from "./definition.ts";

const QUEUE_LEASE = /^(queue\.[^=:]+)=1:1$/;

/**
 * Builds the lease that lets the jobs of a queue run one at a time. No host may read a macro into the name of the queue: a digit
 * beside a capital letter keeps it from that.
 */
export function buildQueueLease(queue: string): string {
  return `queue.${queue.replace(/[A-Z]/g, "0$&")}=1:1`;
}

/** Returns the resource of the serial queue that a schedule is in; undefined if it is in none. */
export function findSerialQueue(definition: Definition | undefined): string | undefined {
  for (const lease of definition?.leases ?? []) {
    const [, resource] = QUEUE_LEASE.exec(lease) ?? [];
    if (resource !== undefined) return resource;
  }
  return undefined;
}
