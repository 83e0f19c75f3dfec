import { isHolding } from "../../protocol/admission.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import type { QueueEntry } from "../../protocol/ticket.ts";
import { buildClaims, type Claim, formatTicketOwner } from "../snapshot/claims.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "../snapshot/snapshot.ts";

/** A run in a chain of waits. Its texts are not cleaned. */
export interface WaitingRun {
  run: string;
  /** `HOST:PID`. */
  owner: string;
  command: string;
  /** Start of its wait in this queue, or of its hold, ms since the epoch; undefined if unknown. */
  since: number | undefined;
  /** What it holds already while it waits for something else: `lock a`. */
  holds: readonly string[];
}

/** A queue in which runs wait, and who they wait for. */
export interface WaitStep {
  kind: QueueKind;
  name: string;
  /** Number of runs that wait in this queue. */
  waiters: number;
  /** The one that has waited the longest. */
  first: WaitingRun;
  /** Who holds what the runs wait for. If nobody does: the first run of the queue, if others wait behind it. */
  blockers: readonly WaitingRun[];
  /** Whether the blockers hold it. Otherwise a drain, or another queue, keeps the first run. */
  isHeld: boolean;
}

/** A chain of waits: the blockers of each step wait in the queue of the next one. */
export interface WaitChain {
  steps: readonly WaitStep[];
}

/** A queue with its place in the graph of waits. */
interface WaitGraph {
  queues: ReadonlyMap<string, NamedQueue>;
  claims: ReadonlyMap<string, Claim>;
  /** The longest chain from each queue that was computed already. */
  known: Map<string, readonly string[]>;
}

/** Lists who waits for whom: the longest chain first, then the one with most runs. A part of a longer chain is left out. */
export function listWaitChains(snapshot: Pick<Snapshot, "queues">): WaitChain[] {
  const queues = new Map([...snapshot.queues].filter(([, { entries }]) => entries.some(isWaiting)));
  const graph: WaitGraph = { queues, claims: buildClaims(snapshot), known: new Map() };
  const paths = [...queues.keys()].map((id) => findLongestPath(graph, id, new Set()));
  const inner = new Set(paths.flatMap((path) => path.slice(1)));
  return paths
    .filter(([id]) => id !== undefined && !inner.has(id))
    .map((path) => ({ steps: path.flatMap((id) => buildStep(graph, id) ?? []) }))
    .sort(compareChains);
}

function isWaiting(entry: QueueEntry): boolean {
  return !isHolding(entry) && entry.ticket !== undefined;
}

/** Longest chain. Only keys written by hand could form a longer one. */
const MOST_STEPS = 100;

/**
 * Returns the ids of the queues of the longest chain that begins with a queue. Runs claim everything at once and in one
 * order, so there are no circles; keys written by hand could form one, which ends the chain.
 */
function findLongestPath(graph: WaitGraph, id: string, visiting: Set<string>): readonly string[] {
  const known = graph.known.get(id);
  if (known !== undefined) return known;
  const queue = graph.queues.get(id);
  if (queue === undefined || visiting.has(id) || visiting.size >= MOST_STEPS) return [];
  visiting.add(id);
  const next = listBlockers(queue).flatMap(({ run }) => listWaits(graph, run));
  const paths = [...new Set(next)].map((other) => findLongestPath(graph, other, visiting));
  visiting.delete(id);
  const longest = paths.reduce<readonly string[]>(
    (most, path) => (path.length > most.length ? path : most),
    [],
  );
  const path = [id, ...longest];
  graph.known.set(id, path);
  return path;
}

/** Returns who the runs of a queue wait for: its holders, or else the first run, which the others wait behind. */
function listBlockers({ entries }: NamedQueue): readonly QueueEntry[] {
  const holders = entries.filter(isHolding);
  if (holders.length > 0) return holders;
  const [first, second] = entries;
  return first === undefined || second === undefined ? [] : [first];
}

/** Lists the ids of the queues in which a run waits. */
function listWaits({ claims }: WaitGraph, run: string): string[] {
  const { entries = [] } = claims.get(run) ?? {};
  return entries
    .filter(({ entry }) => isWaiting(entry))
    .map(({ queue }) => buildQueueId(queue.kind, queue.name));
}

function buildStep(graph: WaitGraph, id: string): WaitStep | undefined {
  const queue = graph.queues.get(id);
  const waiting = queue?.entries.filter(isWaiting) ?? [];
  const [first] = waiting;
  if (queue === undefined || first === undefined) return undefined;
  const { kind, name, entries } = queue;
  return {
    kind,
    name,
    waiters: waiting.length,
    first: toWaitingRun(graph, first),
    blockers: listBlockers(queue).map((entry) => toWaitingRun(graph, entry)),
    isHeld: entries.some(isHolding),
  };
}

function toWaitingRun({ claims }: WaitGraph, entry: QueueEntry): WaitingRun {
  const { run, ticket } = entry;
  const own = claims.get(run)?.entries ?? [];
  const waits = own.some((one) => isWaiting(one.entry));
  return {
    run,
    owner: formatTicketOwner(entry),
    command: ticket?.command ?? "",
    since: isHolding(entry) ? (ticket?.grantedAt ?? ticket?.enqueuedAt) : ticket?.enqueuedAt,
    holds: waits
      ? own.filter((one) => isHolding(one.entry)).map(({ queue }) => `${queue.kind} ${queue.name}`)
      : [],
  };
}

function compareChains(a: WaitChain, b: WaitChain): number {
  const weigh = ({ steps }: WaitChain) => steps.reduce((sum, { waiters }) => sum + waiters, 0);
  const since = ({ steps: [step] }: WaitChain) => step?.first.since ?? Number.POSITIVE_INFINITY;
  return b.steps.length - a.steps.length || weigh(b) - weigh(a) || since(a) - since(b);
}
