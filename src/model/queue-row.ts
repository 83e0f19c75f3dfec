import type { ResourceConfig } from "../fleet/resources.ts";
import { holds } from "../protocol/admission.ts";
import type { Drain } from "../protocol/drain.ts";
import type { PastRun } from "../protocol/history.ts";
import type { QueueKind } from "../protocol/keys.ts";
import type { Place, Ticket } from "../protocol/ticket.ts";
import { whoIs } from "./claims.ts";
import { plainTotal } from "./foresee.ts";
import type { NamedQueue } from "./picture.ts";
import type { Scene } from "./tables/view.ts";

/**
 * How a lock or resource stands. `admitted`: a run has its turn, and waits for its leases. `waiting`: nobody holds it, and
 * somebody is about to. `drained`: nobody holds it, nor may.
 */
export type QueueState =
  | "malformed"
  | "resetting"
  | "held"
  | "grace"
  | "admitted"
  | "drained"
  | "waiting"
  | "free";

/** A run in a queue. Wall clocks in ms since the epoch; undefined where its ticket cannot be read. */
export interface Occupant {
  run: string;
  /** `HOST:PID`. */
  who: string;
  ticket: Ticket | undefined;
  token: bigint;
  session: bigint;
}

/** One lock or resource. */
export interface QueueRow {
  kind: QueueKind;
  name: string;
  state: QueueState;
  /** The oldest first. */
  holders: readonly Occupant[];
  waiters: readonly Occupant[];
  /** Units held, and units there are: as configured, or as the first ticket states it. */
  used: number;
  total: number | undefined;
  /** What operators keep about a resource, where they do and it can be read. */
  configured: ResourceConfig | undefined;
  /** Drains of the lock or resource itself, or of everything. */
  drains: readonly Drain[];
  /** How it went the last time, of a lock that nobody holds nor waits for, where its history was read. */
  last?: PastRun;
}

export function queueRow(queue: NamedQueue, scene: Pick<Scene, "drains" | "resources">): QueueRow {
  const { kind, name, places } = queue;
  const holding = places.filter(holds);
  const drains = drainsOf(queue, scene.drains);
  return {
    ...{ kind, name, drains },
    state: stateOf(places, holding, drains),
    holders: holding.map(occupant),
    waiters: places.filter((place) => !holds(place)).map(occupant),
    used: holding.reduce((sum, { ticket }) => sum + (ticket?.count ?? 0), 0),
    total: (kind === "resource" ? plainTotal(scene, name) : 1) ?? firstTotal(places),
    configured: kind === "resource" ? scene.resources.get(name)?.value : undefined,
  };
}

/** The row of a lock or resource in whose queue nobody stands. */
export function emptyRow(
  kind: QueueKind,
  name: string,
  scene: Pick<Scene, "drains" | "resources" | "histories">,
): QueueRow {
  const [last] = (kind === "lock" && scene.histories?.get(name)) || [];
  return { ...queueRow({ kind, name, places: [] }, scene), ...(last && { last }) };
}

function drainsOf({ kind, name }: NamedQueue, drains: readonly Drain[]): Drain[] {
  return drains.filter((drain) => drain.scope === "all" || (drain.scope === kind && drain.name === name));
}

function stateOf(places: readonly Place[], holding: readonly Place[], drains: readonly Drain[]): QueueState {
  const [first] = places;
  if (first !== undefined && first.ticket === undefined) return "malformed";
  if (holding.some(({ ticket }) => ticket?.reset !== undefined)) return "resetting";
  if (holding.length > 0) return holding.every(({ ticket }) => ticket?.state === "grace") ? "grace" : "held";
  if (drains.length > 0) return "drained";
  if (first === undefined) return "free";
  return first.ticket?.state === "admitted" ? "admitted" : "waiting";
}

function firstTotal(places: readonly Place[]): number | undefined {
  return places.find(({ ticket }) => ticket !== undefined)?.ticket?.total;
}

export function occupant(place: Place): Occupant {
  const { run, ticket, createRevision, session } = place;
  return { run, who: whoIs(place), ticket, token: createRevision, session };
}
