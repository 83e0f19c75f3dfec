/** Records every change of queues, and checks the order of grants. */

import { onTestFinished } from "vitest";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import type { Ticket } from "../../../src/core/protocol/ticket.ts";
import type { KeyRange, WatchEvent } from "../../../src/core/protocol/txn.ts";

/** A changed or deleted ticket. */
export interface TicketChange {
  key: string;
  revision: bigint;
  /** What has no such fields, such as a history, has none here. */
  ticket: (Pick<Ticket, "state" | "count" | "label" | "shared"> & { claimedAt: bigint }) | undefined;
}

/** Follows keys from now to the end of the test. The list grows. */
export async function recordChanges(namespace: TestNamespace, range: KeyRange): Promise<TicketChange[]> {
  const stop = new AbortController();
  const changes: TicketChange[] = [];
  const { revision } = await namespace.store.readRange(range);
  const follow = async () => {
    for await (const { events } of namespace.store.watch(
      { ranges: [range], from: revision + 1n },
      stop.signal,
    )) {
      changes.push(...events.map(toChange).filter(({ key }) => !key.includes("/~")));
    }
  };
  const following = follow().catch((error) => {
    if (!stop.signal.aborted) throw error;
  });
  onTestFinished(async () => {
    stop.abort();
    await following;
  });
  return changes;
}

function toChange(event: WatchEvent): TicketChange {
  if (event.type === "delete") return { key: event.key, revision: event.revision, ticket: undefined };
  const { key, modRevision, createRevision, value } = event.kv;
  const { state, count, label, shared } = JSON.parse(value);
  return { key, revision: modRevision, ticket: { state, count, label, shared, claimedAt: createRevision } };
}

type StandingTickets = Map<string, NonNullable<TicketChange["ticket"]>>;

/**
 * Grants that came out of turn. Whoever is granted must fit in beside all who claimed earlier, granted or not: so of two
 * whose turn has come either may be first, but nobody takes units that an earlier one waits for. Those that share a lock do not
 * count for each other.
 */
export function findOvertakingGrants(changes: readonly TicketChange[], total: number): string[] {
  const standing: StandingTickets = new Map();
  return changes.flatMap(({ key, revision, ticket }) => {
    const isGrant = ticket?.state === "held" && standing.get(key)?.state !== "held";
    if (ticket === undefined) standing.delete(key);
    else standing.set(key, ticket);
    if (ticket === undefined || !isGrant) return [];
    const counted = [...standing.values()].filter(
      (other) =>
        other === ticket ||
        ((other.claimedAt <= ticket.claimedAt || other.state === "held") && !(other.shared && ticket.shared)),
    );
    const units = counted.reduce((sum, { count }) => sum + count, 0);
    if (units <= total) return [];
    const others = counted.map(({ label, count, state }) => `${label} (${count}, ${state})`).join(", ");
    return [
      `${ticket.label} was granted at ${revision} though ${units} of ${total} were spoken for: ${others}`,
    ];
  });
}
