import type { ResourceConfig } from "../../fleet/resources.ts";
import { isHolding } from "../../protocol/admission.ts";
import type { Drain } from "../../protocol/drain.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import { findPlainTotal } from "../preview/eviction-preview.ts";
import type { NamedQueue } from "../snapshot/snapshot.ts";
import type { ViewContext } from "../views/view.ts";

/**
 * The state of a lock or resource. `admitted`: the first run is admitted, and waits for its leases. `waiting`: nobody
 * holds it, and a run is about to be granted. `drained`: nobody holds it, and nobody can be granted.
 */
type QueueState = "malformed" | "resetting" | "held" | "grace" | "admitted" | "drained" | "waiting" | "free";

/** One lock or resource. */
export interface QueueRow {
  kind: QueueKind;
  name: string;
  state: QueueState;
  /** Oldest first. */
  holders: readonly QueueEntry[];
  waiters: readonly QueueEntry[];
  /** Units held (`used`), and all units (`total`): as configured, or as the first ticket states. */
  used: number;
  total: number | undefined;
  /** Configuration of the resource, if there is one and it can be read. */
  configured: ResourceConfig | undefined;
  /** Drains of the lock or resource itself, or of everything. */
  drains: readonly Drain[];
  /** The last run, for a lock that nobody holds or waits for, if its history was read. */
  last?: PastRun;
  /** Its finished runs, newest first, for a lock with a history that was read. */
  past?: readonly PastRun[];
}

export function buildQueueRow(
  queue: NamedQueue,
  viewContext: Pick<ViewContext, "drains" | "resources" | "histories">,
): QueueRow {
  const { kind, name, entries } = queue;
  const past = kind === "lock" ? viewContext.histories?.get(name) : undefined;
  const holding = entries.filter(isHolding);
  const drains = filterDrains(queue, viewContext.drains);
  return {
    ...{ kind, name, drains },
    state: computeQueueState(entries, holding, drains),
    holders: holding,
    waiters: entries.filter((entry) => !isHolding(entry)),
    used: holding.reduce((sum, { ticket }) => sum + (ticket?.count ?? 0), 0),
    total: (kind === "resource" ? findPlainTotal(viewContext, name) : 1) ?? findFirstTotal(entries),
    configured: kind === "resource" ? viewContext.resources.get(name)?.value : undefined,
    ...(past !== undefined && { past }),
  };
}

/** Builds the row of a lock or resource with an empty queue. */
export function buildEmptyQueueRow(
  kind: QueueKind,
  name: string,
  viewContext: Pick<ViewContext, "drains" | "resources" | "histories">,
): QueueRow {
  const [last] = (kind === "lock" && viewContext.histories?.get(name)) || [];
  return { ...buildQueueRow({ kind, name, entries: [] }, viewContext), ...(last && { last }) };
}

function filterDrains({ kind, name }: NamedQueue, drains: readonly Drain[]): Drain[] {
  return drains.filter((drain) => drain.scope === "all" || (drain.scope === kind && drain.name === name));
}

function computeQueueState(
  entries: readonly QueueEntry[],
  holding: readonly QueueEntry[],
  drains: readonly Drain[],
): QueueState {
  const [first] = entries;
  if (first !== undefined && first.ticket === undefined) return "malformed";
  if (holding.some(({ ticket }) => ticket?.reset !== undefined)) return "resetting";
  if (holding.length > 0) return holding.every(({ ticket }) => ticket?.state === "grace") ? "grace" : "held";
  if (drains.length > 0) return "drained";
  if (first === undefined) return "free";
  return first.ticket?.state === "admitted" ? "admitted" : "waiting";
}

function findFirstTotal(entries: readonly QueueEntry[]): number | undefined {
  return entries.find(({ ticket }) => ticket !== undefined)?.ticket?.total;
}
