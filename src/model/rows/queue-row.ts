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

/** What a row depends on, besides its queue. */
type RowContext = Pick<ViewContext, "drains" | "resources" | "histories">;
type RowInputs = Pick<QueueRow, "drains" | "configured" | "past">;

/** The last row of each queue. Several tables show the same queues, and there may be ten thousand. */
const lastRows = new WeakMap<NamedQueue, QueueRow>();

/** Builds the row of a lock or resource. Returns the same row as before while nothing has changed that it depends on. */
export function buildQueueRow(queue: NamedQueue, viewContext: RowContext): QueueRow {
  const inputs = findInputs(queue, viewContext);
  const last = lastRows.get(queue);
  if (last !== undefined && isSameInput(last, inputs)) return last;
  const row = createRow(queue, inputs, viewContext);
  lastRows.set(queue, row);
  return row;
}

/** Builds the row of a lock or resource with an empty queue. */
export function buildEmptyQueueRow(kind: QueueKind, name: string, viewContext: RowContext): QueueRow {
  const [last] = (kind === "lock" && viewContext.histories?.get(name)) || [];
  const queue: NamedQueue = { kind, name, entries: [] };
  return { ...createRow(queue, findInputs(queue, viewContext), viewContext), ...(last && { last }) };
}

function findInputs(queue: NamedQueue, { drains, resources, histories }: RowContext): RowInputs {
  const { kind, name } = queue;
  const past = kind === "lock" ? histories?.get(name) : undefined;
  return {
    drains: filterDrains(queue, drains),
    configured: kind === "resource" ? resources.get(name)?.value : undefined,
    ...(past !== undefined && { past }),
  };
}

function isSameInput(row: QueueRow, { drains, configured, past }: RowInputs): boolean {
  const isSameDrains =
    row.drains.length === drains.length && row.drains.every((drain, at) => drain === drains[at]);
  return isSameDrains && row.configured === configured && row.past === past;
}

function createRow(queue: NamedQueue, inputs: RowInputs, viewContext: RowContext): QueueRow {
  const { kind, name, entries } = queue;
  const { drains, configured, past } = inputs;
  const [holders, waiters] = splitByState(entries);
  // One literal: an object that grows keeps its further properties in a block of their own.
  const row: QueueRow = {
    kind,
    name,
    state: computeQueueState(entries, holders, drains),
    holders,
    waiters,
    used: holders.reduce((sum, { ticket }) => sum + (ticket?.count ?? 0), 0),
    total: (kind === "resource" ? findPlainTotal(viewContext, name) : 1) ?? findFirstTotal(entries),
    configured,
    drains,
  };
  return past === undefined ? row : { ...row, past };
}

/** Splits a queue in lists of their exact length: those that `filter` returns have room for more. */
function splitByState(entries: readonly QueueEntry[]): [holders: QueueEntry[], waiters: QueueEntry[]] {
  const holders = entries.filter(isHolding);
  const waiters = holders.length === 0 ? entries : entries.filter((entry) => !isHolding(entry));
  return [holders.slice(), waiters.slice()];
}

const NO_DRAINS: readonly Drain[] = [];

function filterDrains({ kind, name }: NamedQueue, drains: readonly Drain[]): readonly Drain[] {
  const own = drains.filter(
    (drain) => drain.scope === "all" || (drain.scope === kind && drain.name === name),
  );
  return own.length === 0 ? NO_DRAINS : own;
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
