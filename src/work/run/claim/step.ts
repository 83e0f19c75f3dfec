import type { Drain } from "../../../protocol/drain.ts";
import type { ReadBasis } from "../../../protocol/guards.ts";
import type { QueueEntry } from "../../../protocol/ticket.ts";
import type { WatchRequest } from "../../../protocol/txn.ts";
import type { ResourceTotal } from "./eligibility.ts";

/** The next step of an attempt. */
export type ClaimStep =
  /** No own ticket exists: put the whole claim, or, when queueing, at least the lock's ticket. */
  | { kind: "claim"; basis: ReadBasis; totals: readonly ResourceTotal[] }
  /** The lock is available to this run: put the resource tickets. */
  | { kind: "join"; basis: ReadBasis; totals: readonly ResourceTotal[]; lock: QueueEntry }
  | { kind: "grant"; basis: ReadBasis; places: readonly QueueEntry[] }
  /** The claim is already granted; the answer was lost. */
  | { kind: "granted"; places: readonly QueueEntry[] }
  /** Show the runs behind that these entries are admitted, although the claim waits in another queue. */
  | { kind: "announce"; places: readonly QueueEntry[] }
  /** Delete expired grace tickets, tickets of earlier attempts of the same call, and marks whose time has passed. */
  | { kind: "sweep"; places: readonly QueueEntry[] }
  /** Read the whole queues of the resources. */
  | { kind: "closer" }
  /**
   * `until`: wall clock, ms, when an obstacle ends by itself. `depth`: how many entries of the resource queues to read
   * if no event arrives for a while. `next`: the ticket ahead is all that the claim waits for.
   */
  | {
      kind: "wait";
      ranges: WatchRequest["ranges"];
      until: number | undefined;
      depth: number;
      why: string;
      next?: NextGrant | undefined;
    }
  | { kind: "leave"; refusal: ClaimRefusal };

/** The grant of a claim once the ticket ahead is gone. */
export interface NextGrant {
  ahead: QueueEntry;
  basis: ReadBasis;
  places: readonly QueueEntry[];
}

/** Why an attempt ended without a grant. */
export type ClaimRefusal =
  | { kind: "busy"; holder: QueueEntry | undefined }
  | { kind: "drained"; drains: readonly Drain[] }
  | { kind: "outside"; group: string }
  | { kind: "timeout"; why: string }
  /** An operator removed this waiter. */
  | { kind: "evicted"; by: string }
  /** The own tickets are missing, or no longer form one claim. */
  | { kind: "gone" }
  /** The session expired, or may have expired; a new attempt is possible. */
  | { kind: "lapsed" };

/** The position of a claim in one resource's queue. */
export interface ResourcePosition {
  resource: string;
  count: number;
  total: number;
  /** `unsure`: not enough of the queue was read. */
  admission: "admitted" | "waiting" | "unsure";
  ahead: QueueEntry | undefined;
  /** Vanished tickets in the part of the queue that was read, without `ahead`. */
  vanished: readonly QueueEntry[];
}
