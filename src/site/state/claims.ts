import type { Seconds, WallTime } from "../../core/base/clock.ts";
import { canonicalizeHost } from "../../core/base/text.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import type { QueueEntry, Ticket } from "../../core/protocol/ticket.ts";
import { type Execution, findNamedQueue, type NamedQueue, type Snapshot } from "./snapshot.ts";

/** A queue entry with its queue. */
export interface ClaimEntry {
  queue: NamedQueue;
  entry: QueueEntry;
}

/** All queue entries of one run. */
export interface Claim {
  run: string;
  /** Empty for a task without leases. */
  entries: readonly ClaimEntry[];
  /** The occurrence that a worker runs. Only `buildRuns` finds it. */
  task?: Execution;
  /** Set instead of `task` if the running key is missing. */
  lost?: LostTask;
}

/** A start of a schedule whose running key is missing: etcd has ended its worker's session, possibly before its time. */
interface LostTask {
  /** The schedule's id. */
  id: string;
  /** Time to live of the session, s. */
  ttl: Seconds;
}

/** Returns the claims of a snapshot, and the tasks of workers, by run id. Claims come first. */
export function buildRuns(snapshot: Pick<Snapshot, "queues" | "executions">): Map<string, Claim> {
  const runs = buildClaims(snapshot);
  for (const task of [...snapshot.executions.values()].flat()) {
    const run = task.value?.run ?? task.key;
    runs.set(run, { run, entries: runs.get(run)?.entries ?? [], task });
  }
  return runs;
}

/** Returns the claims of a snapshot by run id. A key put by hand without a run id is a claim under its last segment. */
export function buildClaims(snapshot: Pick<Snapshot, "queues">): Map<string, Claim> {
  return buildClaimsOf(snapshot, () => true);
}

/** Builds the claims that have an entry of some kind. Does not build all others: there may be a hundred thousand. */
export function buildClaimsWith(
  snapshot: Pick<Snapshot, "queues">,
  isWanted: (entry: QueueEntry) => boolean,
): Map<string, Claim> {
  const runs = new Set<string>();
  for (const { entries } of snapshot.queues.values())
    for (const entry of entries) if (isWanted(entry)) runs.add(entry.run);
  return buildClaimsOf(snapshot, (run) => runs.has(run));
}

function buildClaimsOf(
  { queues }: Pick<Snapshot, "queues">,
  isWanted: (run: string) => boolean,
): Map<string, Claim> {
  const claims = new Map<string, { run: string; entries: ClaimEntry[] }>();
  for (const queue of queues.values())
    for (const entry of queue.entries) {
      if (!isWanted(entry.run)) continue;
      const known = claims.get(entry.run);
      if (known === undefined) claims.set(entry.run, { run: entry.run, entries: [{ queue, entry }] });
      else known.entries.push({ queue, entry });
    }
  return claims;
}

/** Finds the claim of one run. Does not build those of all others: there may be a hundred thousand. */
export function findClaim({ queues }: Pick<Snapshot, "queues">, run: string): Claim | undefined {
  const entries: ClaimEntry[] = [];
  const isOwn = (entry: QueueEntry) => entry.run === run;
  for (const queue of queues.values())
    if (queue.entries.some(isOwn))
      entries.push(...queue.entries.filter(isOwn).map((entry) => ({ queue, entry })));
  return entries.length === 0 ? undefined : { run, entries };
}

/** Whether a claim is granted: all its tickets are held or in grace. */
export function isHolder({ entries }: Claim): boolean {
  return entries.every(({ entry }) => isHolding(entry));
}

/** Returns the first ticket of a run that can be read. All its tickets state the same host, process and command. */
export function findClaimTicket({ entries }: Claim): Ticket | undefined {
  return entries.find(({ entry }) => entry.ticket !== undefined)?.entry.ticket;
}

/** Returns the canonical host name of a claim; undefined if none of its tickets can be read. */
export function findClaimHost(claim: Claim): string | undefined {
  const host = findClaimTicket(claim)?.host;
  return host === undefined ? undefined : canonicalizeHost(host);
}

/** Compares two claims by their first tickets: who claimed earlier comes first. */
export function compareClaims(a: Claim, b: Claim): number {
  const [first, second] = [findFirstRevision(a), findFirstRevision(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function findFirstRevision({ entries }: Claim): bigint {
  return entries.reduce(
    (least, { entry }) => (entry.createRevision < least ? entry.createRevision : least),
    1n << 63n,
  );
}

/** Finds the claims that match a word: a run id, its first characters (at least 4), or `HOST:PID`. */
export function findClaimsByWord(claims: ReadonlyMap<string, Claim>, word: string): Claim[] {
  const exact = claims.get(word);
  if (exact !== undefined) return [exact];
  const isMatch = ({ run, entries }: Claim) =>
    (word.length >= 4 && run.startsWith(word)) ||
    entries.some(({ entry: { ticket } }) => ticket !== undefined && `${ticket.host}:${ticket.pid}` === word);
  return [...claims.values()].filter(isMatch);
}

/** Returns the state of a ticket, or `malformed` if it cannot be read. */
export function getEntryState({ ticket }: QueueEntry): Ticket["state"] | "malformed" {
  return ticket?.state ?? "malformed";
}

/** Returns when a run was granted, or else enqueued. */
export function getHeldSince(ticket: Ticket): WallTime;
export function getHeldSince(ticket: Ticket | undefined): number | undefined;
export function getHeldSince(ticket: Ticket | undefined): number | undefined {
  return ticket?.grantedAt ?? ticket?.enqueuedAt;
}

/**
 * Finds the queue entries that a reset of a lock or resource applies to: the holders, and tickets that cannot be read.
 * If there are none, the admitted run of a lock that still waits for its leases. With `run`, the entry of that run in
 * any state.
 */
export function findResetTargets(
  snapshot: Snapshot,
  kind: QueueKind,
  name: string,
  run?: string,
): readonly QueueEntry[] {
  const entries = findNamedQueue(snapshot, kind, name)?.entries ?? [];
  if (run !== undefined) return entries.filter((entry) => entry.run === run);
  const holding = entries.filter((entry) => isHolding(entry) || entry.ticket === undefined);
  if (holding.length > 0) return holding;
  return entries.filter(({ ticket }) => kind === "lock" && ticket?.state === "admitted");
}
