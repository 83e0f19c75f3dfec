import type { Drain } from "../../protocol/drain.ts";
import type { Basis } from "../../protocol/guards.ts";
import type { Place } from "../../protocol/ticket.ts";
import type { WatchRequest } from "../../protocol/txn.ts";
import type { ResourceTotal } from "./situation.ts";

/** What an attempt does next. */
export type Step =
  /** Nothing of ours stands anywhere: put the whole claim, or where queueing, at least the lock's ticket. */
  | { kind: "claim"; basis: Basis; totals: readonly ResourceTotal[] }
  /** The lock is ours to have: put the resource tickets. */
  | { kind: "join"; basis: Basis; totals: readonly ResourceTotal[]; lock: Place }
  | { kind: "grant"; basis: Basis; places: readonly Place[] }
  /** The grant has happened already, its answer was lost. */
  | { kind: "granted"; places: readonly Place[] }
  /** Tell those behind that these places are admitted, though the claim waits elsewhere. */
  | { kind: "mark"; places: readonly Place[] }
  /** Delete what has passed its time. */
  | { kind: "sweep"; places: readonly Place[] }
  /** Read the resources' queues whole. */
  | { kind: "closer" }
  /**
   * `until`: wall clock, ms, when something ends by itself. `depth`: how far to read the resources' queues where nothing
   * was heard for a while.
   */
  | { kind: "wait"; ranges: WatchRequest["ranges"]; until: number | undefined; depth: number; why: string }
  | { kind: "leave"; refusal: Refusal };

/** Why an attempt ended without a grant. */
export type Refusal =
  | { kind: "busy"; holder: Place | undefined }
  | { kind: "drained"; drains: readonly Drain[] }
  | { kind: "outside"; group: string }
  | { kind: "timeout"; why: string }
  /** An operator asked this waiter to leave. */
  | { kind: "evicted"; by: string }
  /** The own tickets are not there any more, or not as one claim. */
  | { kind: "gone" }
  /** The session expired, or may have; a new attempt can be made. */
  | { kind: "lapsed" };

/** How a claim stands in one resource's queue. */
export interface ResourceSight {
  resource: string;
  count: number;
  total: number;
  /** `unsure`: the queue was not read far enough. */
  admission: "admitted" | "waiting" | "unsure";
  ahead: Place | undefined;
}
