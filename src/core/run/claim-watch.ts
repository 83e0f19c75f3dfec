import { addMs, listenForAbort, type Millis, type MonotonicTime } from "../base/clock.ts";
import { quoteText } from "../base/text.ts";
import type { SessionLost, SessionOwner, SessionProof } from "../etcd/session/session.ts";
import { isUnavailable, type Store } from "../etcd/store.ts";
import { waitForChange } from "../etcd/wait-for-change.ts";
import { findMembership } from "../fleet/groups.ts";
import { type QueueEntry, toQueueEntry } from "../protocol/ticket.ts";
import { type KeyValue, listKeyValues, type Op, type WatchEvent } from "../protocol/txn.ts";
import type { ClaimAttempt } from "./attempt.ts";
import { parseGroups } from "./eligibility.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import type { Grant } from "./step.ts";

/**
 * Interval between reads of a watched claim, in times to live of its session. Each renewal reads the claim too, so this
 * interval matters only if both the watch and the renewals stop without an error.
 */
const REREAD_INTERVAL_TTLS = 10;

/** Why a claim whose session is not renewed is lost. */
export const TOO_LATE = "the session could not be renewed in time";

/** Watches a held claim for every kind of loss: that of its session, and changes by operators and other processes. */
export class ClaimWatch implements SessionOwner {
  /** Called by the session when the horizon has moved. */
  readonly onHorizonMoved: () => void;
  readonly #ports: ClaimPorts;
  readonly #grant: Grant;
  readonly #lose: (loss: ClaimLoss) => void;

  constructor(grant: Grant, lose: (loss: ClaimLoss) => void, onHorizonMoved: () => void) {
    this.onHorizonMoved = onHorizonMoved;
    this.#ports = grant.attempt.ports;
    this.#grant = grant;
    this.#lose = lose;
  }

  /** Makes the session renew for this claim. */
  keepAlive(): void {
    this.#grant.attempt.session.keepAlive(this);
  }

  /** The tickets of the claim. Undefined if it also depends on a group. */
  listTickets() {
    const { entries, attempt } = this.#grant;
    return attempt.request.group === undefined ? entries : undefined;
  }

  /** Called by the session: checks that the claim still exists. This also detects a reset when the watch is broken. */
  async prove(store?: Store) {
    const { entries, attempt } = this.#grant;
    const { signal } = attempt.session; // not the signal of the claim's end: the claim is proved until it is free
    const inspection = await inspectClaim(attempt, entries, signal, store);
    if (inspection.loss !== undefined) this.#lose(inspection.loss);
    return inspection;
  }

  /** Returns when the work that relies on the claim must be asked to end. */
  getTermTime(): MonotonicTime {
    return addMs(this.#grant.attempt.session.horizon, -this.#grant.attempt.request.terminationTimeout);
  }

  /**
   * Waits until the time to the horizon is longer than the termination timeout. The next renewal extends it, or the
   * session is lost.
   * @param isOver  checked while waiting: the read that goes with a renewal may end the claim, for example on a reset
   * @throws SessionLost, or the signal's reason
   */
  async waitForHorizon(isOver: () => boolean, leave: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const either = AbortSignal.any([this.#grant.attempt.session.signal, leave]);
    const { session } = this.#grant.attempt;
    while (!isOver() && (session.isDoubted || this.getTermTime() <= clock.now()))
      await clock.sleep(100, either);
    either.throwIfAborted();
  }

  /** Reports the loss of the session. */
  followSession(): void {
    const { signal } = this.#grant.attempt.session;
    listenForAbort(signal, () => {
      const { kind, message } = signal.reason as SessionLost;
      this.#lose({ kind: kind === "horizon" ? kind : "gone", why: message });
    });
  }

  /** Reports at `getTermTime()` that the session was not renewed in time, unless `over` is aborted first. */
  async followHorizon(over: AbortSignal): Promise<void> {
    const { session, request } = this.#grant.attempt;
    await session.waitUntilHorizonNear(request.terminationTimeout, over).then(
      () => this.#lose({ kind: "horizon", why: TOO_LATE }),
      () => {}, // `over` was aborted
    );
  }

  /**
   * Reports losses caused by operators and other processes, such as a reset request in a ticket, until `over` is aborted
   * or the session is lost.
   * @param after  time before the first read
   */
  async follow(after: Millis, over: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#grant.attempt.session.signal, over]);
    await this.#ports.clock.sleep(after, signal).catch(() => {}); // `over` was aborted
    while (!signal.aborted) {
      await this.#checkOnce(signal).catch((error) => this.#handleFailure(error, signal));
    }
  }

  async #checkOnce(signal: AbortSignal): Promise<void> {
    const { entries, attempt } = this.#grant;
    const { revision, loss } = await inspectClaim(attempt, entries, signal);
    if (loss !== undefined) this.#lose(loss);
    const groups = attempt.request.group === undefined ? [] : [this.#ports.keys.groups()];
    const ranges = [...entries.map(({ key }) => ({ key })), ...groups];
    const request = { ranges, from: revision + 1n };
    await waitForChange(this.#ports, request, REREAD_INTERVAL_TTLS * attempt.session.ttl, signal, (events) =>
      this.#reportEvents(events),
    );
  }

  #reportEvents(events: readonly WatchEvent[]): void {
    const loss = findLossInEvents(this.#grant.entries, events);
    if (loss !== undefined) this.#lose(loss);
  }

  async #handleFailure(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    if (!isUnavailable(error)) this.#ports.log.warn("watching the claim failed", { error: String(error) });
    await this.#ports.clock.sleep(500, signal).catch(() => {});
  }
}

/** The result of a linearizable read of a claim. */
interface ClaimInspection extends SessionProof {
  revision: bigint;
  loss: ClaimLoss | undefined;
}

/** Why a claim is lost. */
export interface ClaimLoss {
  /**
   * `gone`: another run may hold the claim already. `asked`: the claim remains held until the command has ended.
   * `horizon`: the claim may be gone at the horizon.
   */
  kind: "gone" | "asked" | "horizon";
  why: string;
}

/** Identifies a ticket of this run. */
export type OwnTicketRef = Pick<QueueEntry, "key" | "createRevision">;

/**
 * Reads this run's tickets, and the groups if the request names one.
 * @param store  where to read; by default, that of the attempt
 */
export async function inspectClaim(
  { ports, request }: ClaimAttempt,
  entries: readonly OwnTicketRef[],
  signal: AbortSignal,
  store: Store = ports.store,
): Promise<ClaimInspection> {
  const tickets = entries.map(({ key }): Op => ({ op: "range", key }));
  const groups: Op[] = request.group === undefined ? [] : [{ op: "range", ...ports.keys.groups() }];
  const txn = { compare: [], success: addProvingRead(ports, [...tickets, ...groups]), failure: [] };
  const { revision, raftTerm, results } = await store.commitTxn(txn, signal);
  const read = results.map(listKeyValues);
  const own = read.slice(0, entries.length).flat().map(toQueueEntry);
  const loss =
    findTicketLoss(entries, own) ?? findGroupLoss(ports, request, read.slice(entries.length).flat());
  return { revision, raftTerm, loss, fault: loss?.kind === "gone" ? loss.why : undefined };
}

/**
 * Finds a loss in the events of a watch. A majority has committed each event, so no read has to confirm it: a read can
 * take long if etcd has just lost its leader.
 */
function findLossInEvents(
  entries: readonly OwnTicketRef[],
  events: readonly WatchEvent[],
): ClaimLoss | undefined {
  for (const event of events) {
    const entry = entries.find(({ key }) => key === (event.type === "put" ? event.kv.key : event.key));
    const own = event.type === "put" ? [toQueueEntry(event.kv)] : [];
    const loss = entry && findTicketLoss([entry], own);
    if (loss !== undefined) return loss;
  }
  return undefined;
}

/**
 * Adds a read if there is none. A transaction without operations is not a linearizable read: a deposed leader answers
 * it too.
 */
function addProvingRead({ keys }: ClaimPorts, reads: Op[]): Op[] {
  return reads.length > 0 ? reads : [{ op: "range", ...keys.drains(), countOnly: true }];
}

function findTicketLoss(entries: readonly OwnTicketRef[], own: readonly QueueEntry[]): ClaimLoss | undefined {
  const present = new Map(own.map((entry) => [entry.key, entry.createRevision]));
  if (entries.some(({ key, createRevision }) => present.get(key) !== createRevision)) {
    return { kind: "gone", why: "its ticket was removed" };
  }
  const reset = own.find(({ ticket }) => ticket?.reset !== undefined)?.ticket?.reset;
  if (reset === undefined) return undefined;
  const reason = reset.why === undefined ? "" : `: ${quoteText(reset.why)}`;
  return { kind: "asked", why: `reset by ${quoteText(reset.by)}${reason}` };
}

function findGroupLoss(
  ports: ClaimPorts,
  request: ClaimRequest,
  kvs: readonly KeyValue[],
): ClaimLoss | undefined {
  if (request.group === undefined) return undefined;
  const groups = parseGroups(ports.keys, kvs);
  const isMember = groups.has(request.group) && findMembership(groups, request.group, request.identity.host);
  return isMember
    ? undefined
    : { kind: "asked", why: `the host is no longer in group ${quoteText(request.group)}` };
}
