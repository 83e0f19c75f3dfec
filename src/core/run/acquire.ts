import { addMs, type MonotonicTime, NO_LONGER_NEEDED, subtractTime, type WallTime } from "../base/clock.ts";
import { EXIT, SignalboxError } from "../base/errors.ts";
import { findNameFault } from "../base/text.ts";
import type { SessionOwner, TicketVersion } from "../etcd/session/session.ts";
import {
  commitUntil,
  isUnavailable,
  retryUnavailable,
  runWithDeadline,
  type Store,
  StoreError,
} from "../etcd/store.ts";
import { type WakeReason, waitForChange } from "../etcd/wait-for-change.ts";
import { CONDITION_INTERVAL } from "../fleet/conditions.ts";
import { addPutIfChanged } from "../protocol/guards.ts";
import type { Txn, TxnResponse } from "../protocol/txn.ts";
import { type ClaimAttempt, listOwnKeys } from "./attempt.ts";
import {
  applyGrantsAhead,
  type ClaimView,
  EMPTY_CLAIM_VIEW,
  findTicketsAhead,
  NOBODY_AHEAD,
  type OwnTicketRevisions,
  readClaimView,
  type TicketsAhead,
} from "./claim-view.ts";
import { inspectClaim, type OwnTicketRef } from "./claim-watch.ts";
import { decideStep, getOwnRevisions } from "./decide.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import {
  buildStepTransaction,
  type ClaimRefusal,
  type ClaimStep,
  type Grant,
  type NextGrant,
  type StepGrant,
  type StepTransaction,
} from "./step.ts";
import type { Successors } from "./successors.ts";
import { VanishedTickets } from "./vanished-tickets.ts";

/** How long to retry writing the record in a separate call, in ms. */
const RECORD_TIMEOUT_MS = 1_000;
const EMPTY_TXN: Txn = { compare: [], success: [], failure: [] };

/**
 * Writes the record of this host to `hosts/<fqdn>`, for other hosts and the console to read. The write is part of the
 * claim transaction, granted or not, so it costs no extra call and no extra entry in etcd's log. Failures never stop
 * the run.
 */
export class HostRecordWriter {
  readonly #ports: ClaimPorts;
  /** Undefined when the host name cannot be a key. */
  readonly #key: string | undefined;
  /** `current`: this attempt need not write the record again. `forbidden`: the role may not write it. */
  #state: "unknown" | "outdated" | "current" | "forbidden" = "unknown";

  constructor(ports: ClaimPorts, { identity: { host } }: Pick<ClaimRequest, "identity">) {
    this.#ports = ports;
    const canWrite = ports.describeHost !== undefined && findNameFault(host) === undefined;
    this.#key = canWrite ? ports.keys.host(host) : undefined;
  }

  /** The key of the record, to read together with the view; undefined when the record no longer needs to be read. */
  get keyToRead(): string | undefined {
    return this.#state === "unknown" ? this.#key : undefined;
  }

  /** Compares the stored record with the current one. */
  compareRecord(text: string | undefined): void {
    if (this.#state === "unknown") this.#state = text === this.#renderRecord() ? "current" : "outdated";
  }

  /**
   * Sends a transaction with the record added. Roles of earlier versions may not write hosts: etcd then rejects the
   * whole transaction before it applies any part, and the call is repeated without the record.
   */
  async callWithRecord(
    txn: Txn,
    call: (txn: Txn) => Promise<TxnResponse | undefined>,
  ): Promise<TxnResponse | undefined> {
    if (this.#key === undefined || this.#state === "forbidden") return await call(txn);
    try {
      const answer = await call(addPutIfChanged(txn, this.#key, this.#renderRecord()));
      if (answer !== undefined) this.#state = "current";
      return answer;
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== "permission") throw error;
      this.#state = "forbidden";
      const answer = await call(txn); // if it is rejected again, the record was not the cause
      this.#ports.log.info("the role may not write the host record; see: signalbox init");
      return answer;
    }
  }

  /**
   * Writes the record in a separate call, for an attempt that found an outdated record and ended without a claim. Such
   * an attempt has already written a session in vain, so an occasional extra write is acceptable. Never rejects.
   */
  async writeOutdated(): Promise<void> {
    const key = this.#key;
    if (key === undefined || this.#state !== "outdated") return;
    const { clock, log } = this.#ports;
    const txn = addPutIfChanged(EMPTY_TXN, key, this.#renderRecord());
    await commitUntil(this.#ports, txn, addMs(clock.now(), RECORD_TIMEOUT_MS)).catch((error) => {
      log.info("cannot write the host record", { error: String(error) });
    });
  }

  #renderRecord(): string {
    return this.#ports.describeHost?.(this.#ports.clock.getWallTime()) ?? "";
  }
}

export type AcquireResult = { kind: "granted"; grant: Grant } | { kind: "refused"; refusal: ClaimRefusal };

/** The deadlines of a claim. NEVER means none. */
export interface ClaimDeadlines {
  /** Limit for retries while etcd does not answer, for a run that does not wait or has had no answer yet. */
  connect: MonotonicTime;
  /** Limit for the grant of the lock, and of everything else without its own limit. */
  wait: MonotonicTime;
}

/** How many of the first entries of each resource queue to read, as in `readClaimView`. */
type Depth = number;
const NEAR_DEPTH: Depth = 0;

/** How long to wait for the answer to an offer after its event, in ms. */
const LATE_ANSWER_MS = 100;
/** Longest pause after a call without an answer, in ms. It prevents a tight loop of calls that fail fast. */
const SILENCE_PAUSE_MS = 100;

/**
 * Acquires a claim in a loop: read the state, decide, act or wait, read again. When an answer is lost, the next read
 * shows whether the call was applied.
 */
export class Acquisition implements SessionOwner {
  readonly hostRecord: HostRecordWriter;
  isGranted = false;
  /** Whether a grant of this attempt may have been applied, or may still be, without its answer. */
  mayHaveMarks = false;
  readonly #ports: ClaimPorts;
  readonly #attempt: ClaimAttempt;
  readonly #limits: ClaimDeadlines;
  readonly #signal: AbortSignal;
  #ownRevisions: OwnTicketRevisions = { lock: undefined, resources: undefined };
  /** This run's tickets at the last read. */
  #tickets: readonly TicketVersion[] | undefined;
  readonly #vanished: VanishedTickets;
  /** At the last read. */
  #ahead: TicketsAhead = NOBODY_AHEAD;
  #hasAnswered = false;
  #hasLostAnswer = false;
  /** The error of the last call if it got no answer. */
  #silence: unknown;
  /** A call that may have put tickets was sent, and the queues have not been read since. */
  #isUnread = false;
  #leasesUntil: MonotonicTime | undefined;
  /** The last reason for waiting. It is logged when it changes, not after every read. */
  #waitReason: string | undefined;

  /** @param signal aborts when the run must stop at once, or when its session is lost */
  constructor(attempt: ClaimAttempt, limits: ClaimDeadlines, signal: AbortSignal) {
    this.#ports = attempt.ports;
    this.#attempt = attempt;
    this.#limits = limits;
    this.#signal = signal;
    this.hostRecord = new HostRecordWriter(attempt.ports, attempt.request);
    this.#vanished = new VanishedTickets(attempt.ports.clock);
  }

  /** Whether a ticket of this attempt may exist: one was read, or a call may have put one since the last read. */
  get mayHaveTickets(): boolean {
    const { lock, resources } = this.#ownRevisions;
    return this.#hasLostAnswer || this.#isUnread || lock !== undefined || resources !== undefined;
  }

  /** The revision at which the newest ticket of this attempt was put; 0n if none was read. */
  get placedRevision(): bigint {
    const { lock = 0n, resources = 0n } = this.#ownRevisions;
    return lock > resources ? lock : resources;
  }

  /** Called by the session: checks that the tickets of this attempt still exist. */
  async prove(store?: Store) {
    return await inspectClaim(this.#attempt, this.#listPlacedTickets(), this.#signal, store);
  }

  /** Undefined before tickets were read, and for a claim that depends on a group. */
  listTickets() {
    return this.#attempt.request.group === undefined ? this.#tickets : undefined;
  }

  onHorizonMoved(): void {}

  /**
   * @param isResumed  whether another process began this attempt, so that its tickets may exist
   * @throws StoreError, ConfigError, SignalboxError 69, or the signal's reason (SessionLost, a signal's name)
   */
  async run(isResumed = false): Promise<AcquireResult> {
    const { leases, group, isShared, waitLimits } = this.#attempt.request;
    this.#hasLostAnswer = isResumed;
    this.mayHaveMarks = isResumed;
    // A run that shares the lock without waiting puts its ticket behind others only after it has read that they share it.
    const isBeside = isShared === true && !waitLimits.queues;
    const needsRead = isResumed || leases.length > 0 || group !== undefined || isBeside;
    let view = needsRead ? await this.#readView(NEAR_DEPTH) : EMPTY_CLAIM_VIEW;
    // The other process may have ended this attempt, and recorded its end.
    if (isResumed && view.own.size === 0) return { kind: "refused", refusal: { kind: "lapsed" } };
    for (;;) {
      const step = decideStep(this.#attempt, this.#ownRevisions, view, this.#getWallTime());
      this.#ports.log.debug(`next: ${step.kind}`, step.kind === "wait" ? { why: step.why } : {});
      this.#updateOwnRevisions(view);
      this.#isUnread = false;
      if (step.kind === "leave") return { kind: "refused", refusal: step.refusal };
      if (step.kind === "granted")
        return this.#completeGrant({ entries: step.entries, histories: undefined });
      if (this.#silence !== undefined && this.#ports.clock.now() >= this.#getRetryDeadline())
        throw this.#silence;
      const next = await this.#performStep(step, view);
      if (typeof next === "object") return next;
      view = await this.#readView(next);
    }
  }

  async #performStep(
    step: Exclude<ClaimStep, { kind: "leave" | "granted" }>,
    view: ClaimView,
  ): Promise<AcquireResult | Depth> {
    // Check while waiting too: this run's tickets block other runs, for example those that would share the lock.
    const unmet = this.#attempt.request.conditions?.findUnmet();
    if (unmet !== undefined) return { kind: "refused", refusal: { kind: "unmet", why: unmet } };
    if (step.kind === "closer") return Number.POSITIVE_INFINITY;
    if (step.kind === "wait") return this.#wait(step, view);
    const act = buildStepTransaction(this.#attempt, step, this.#getWallTime());
    const call = (txn: Txn) => this.#call(txn);
    this.#isUnread = true;
    const answer = await (step.kind === "claim"
      ? this.hostRecord.callWithRecord(act.txn, call)
      : call(act.txn));
    if (act.readGrant !== undefined && answer === undefined) this.mayHaveMarks = true;
    if (answer !== undefined && act.hasQueuedUp?.(answer))
      this.#ownRevisions = { ...this.#ownRevisions, lock: answer.revision };
    return answer?.succeeded && act.readGrant ? this.#completeGrant(act.readGrant(answer)) : NEAR_DEPTH;
  }

  /** Sends a transaction once. Returns undefined when no answer arrives: the next read shows whether it was applied. */
  async #call(txn: Txn): Promise<TxnResponse | undefined> {
    try {
      const send = (signal: AbortSignal) => this.#ports.store.commitTxn(txn, signal);
      const answer = await runWithDeadline(this.#ports.clock, this.#getRetryDeadline(), send, this.#signal);
      this.#hasAnswered = true;
      this.#silence = undefined;
      return answer;
    } catch (error) {
      this.#hasLostAnswer = true;
      this.#signal.throwIfAborted();
      if (!isUnavailable(error)) throw error;
      this.#silence = error;
      await this.#ports.clock.sleep(SILENCE_PAUSE_MS * this.#ports.random.generateFraction(), this.#signal);
      return undefined;
    }
  }

  async #readView(depth: Depth): Promise<ClaimView> {
    const revisions = this.#ownRevisions;
    const host = this.hostRecord.keyToRead;
    const options = { revisions, depth, host, vanished: this.#vanished, ahead: this.#ahead };
    const read = (signal: AbortSignal) => readClaimView(this.#attempt, options, signal);
    const view = await retryUnavailable(this.#ports, this.#getRetryDeadline(), read, this.#signal);
    this.#hasAnswered = true;
    this.#ahead = findTicketsAhead(this.#attempt.request, view);
    if (view.host !== undefined) this.hostRecord.compareRecord(view.host.text);
    return this.#mustLookAhead(view) ? await this.#readView(depth) : view;
  }

  /**
   * Whether this read is the first to find this run's ticket for the lock, and the queue is so long that the ticket
   * directly ahead was not read. The run must not watch another ticket instead: all runs that do would wake at once.
   */
  #mustLookAhead(view: ClaimView): boolean {
    if (this.#ownRevisions.lock !== undefined) return false;
    this.#updateOwnRevisions(view);
    const isUnknown = [...view.lockQueues.values()].some(({ isAheadKnown }) => !isAheadKnown);
    return this.#ownRevisions.lock !== undefined && isUnknown;
  }

  /** Returns the limit for retries while etcd does not answer. */
  #getRetryDeadline(): MonotonicTime {
    const { waitLimits, leases } = this.#attempt.request;
    const waits = this.#hasAnswered && (waitLimits.queues || leases.length > 0);
    return waits ? this.#getWaitDeadline() : this.#limits.connect;
  }

  /** Waits for a change, at most until the wait deadline. */
  async #wait(step: Extract<ClaimStep, { kind: "wait" }>, view: ClaimView): Promise<AcquireResult | Depth> {
    const { clock, random, log } = this.#ports;
    const left = subtractTime(this.#getWaitDeadline(), clock.now());
    if (left <= 0) return { kind: "refused", refusal: { kind: "timeout", why: step.why } };
    if (step.why !== this.#waitReason) log.info("waiting", { why: step.why });
    this.#waitReason = step.why;
    const { session, request: claim } = this.#attempt;
    const longest =
      claim.conditions === undefined ? session.ttl / 3 : Math.min(session.ttl / 3, CONDITION_INTERVAL);
    const reread = longest * (0.5 + random.generateFraction() / 2);
    const over =
      step.until === undefined ? Number.POSITIVE_INFINITY : Math.max(0, step.until - clock.getWallTime()) + 1;
    const request = { ranges: step.ranges, from: view.revision + 1n };
    const watch = (signal: AbortSignal) =>
      waitForChange(this.#ports, request, Math.min(reread, over, left), signal, (events) => {
        const ahead = applyGrantsAhead(this.#ahead, events);
        this.#ahead = ahead ?? this.#ahead;
        return ahead === undefined;
      });
    const { successors } = this.#ports;
    const startedAt = clock.now();
    const wake =
      successors === undefined || step.next === undefined
        ? await watch(this.#signal)
        : await this.#waitBehind(successors, step.next, watch);
    if (typeof wake === "object") return this.#completeGrant(wake);
    // Waiting for a vanished ticket does not count towards the connect timeout.
    this.#limits.connect = addMs(this.#limits.connect, subtractTime(clock.now(), startedAt));
    return wake === "event" ? NEAR_DEPTH : step.depth;
  }

  /** Returns the deadline for waiting. The limit for leases counts from the moment their tickets are in the queues. */
  #getWaitDeadline(): MonotonicTime {
    const { leases } = this.#attempt.request.waitLimits;
    if (this.#ownRevisions.resources === undefined || leases === undefined) return this.#limits.wait;
    this.#leasesUntil ??= addMs(this.#ports.clock.now(), leases);
    return this.#leasesUntil;
  }

  #listPlacedTickets(): OwnTicketRef[] {
    const { lockKeys, resourceKeys } = this.#attempt;
    const { lock, resources } = this.#ownRevisions;
    return [
      ...(lock === undefined ? [] : lockKeys.map((key) => ({ key, createRevision: lock }))),
      ...(resources === undefined ? [] : resourceKeys.map((key) => ({ key, createRevision: resources }))),
    ];
  }

  #updateOwnRevisions(view: ClaimView): void {
    const now = getOwnRevisions(this.#attempt, view);
    if (now === "broken" || view.own.size === 0) return;
    this.#ownRevisions = now;
    this.#tickets = [...view.own.values()].map(({ key, modRevision }) => ({ key, modRevision }));
  }

  #completeGrant({ entries, histories }: StepGrant): AcquireResult {
    const inOrder = listOwnKeys(this.#attempt).flatMap(
      (key) => entries.find((entry) => entry.key === key) ?? [],
    );
    const [first] = inOrder;
    if (first === undefined) throw new SignalboxError(EXIT.internal, "a claim without tickets was granted");
    const findRevision = (keys: readonly string[]) =>
      inOrder.find(({ key }) => keys.includes(key))?.createRevision;
    this.#ownRevisions = {
      lock: findRevision(this.#attempt.lockKeys),
      resources: findRevision(this.#attempt.resourceKeys),
    };
    this.isGranted = true;
    const grantedAt = first.ticket?.grantedAt ?? this.#getWallTime();
    return { kind: "granted", grant: { attempt: this.#attempt, entries: inOrder, grantedAt, histories } };
  }

  #getWallTime(): WallTime {
    return this.#ports.clock.getWallTime();
  }

  /** Waits for a change, or until the run directly ahead, which is in this process, ends and grants this claim. */
  async #waitBehind(
    successors: Successors,
    next: NextGrant,
    watch: (signal: AbortSignal) => Promise<WakeReason>,
  ): Promise<StepGrant | WakeReason> {
    const attempt = this.#attempt;
    let act: StepTransaction | undefined;
    const successor = successors.add({
      ahead: next.ahead,
      session: attempt.session.id,
      buildGrant: () => {
        act = buildStepTransaction(attempt, { kind: "grant", ...next }, this.#getWallTime());
        return act.txn;
      },
    });
    const over = new AbortController();
    try {
      const wake = await Promise.race([
        successor.granted,
        watch(AbortSignal.any([this.#signal, over.signal])),
      ]);
      // The event of the grant may arrive before its answer.
      const answer = typeof wake === "object" ? wake : await this.#waitForAnswer(successor.offered);
      if (answer !== undefined && act?.readGrant) return act.readGrant(answer);
      return typeof wake === "object" ? "broken" : wake;
    } finally {
      successor.leave();
      over.abort(NO_LONGER_NEEDED);
    }
  }

  async #waitForAnswer(offered: Promise<TxnResponse | undefined> | undefined) {
    if (offered === undefined) return undefined;
    const late = this.#ports.clock.sleep(LATE_ANSWER_MS, this.#signal).then(() => undefined);
    late.catch(() => {}); // the run stops waiting
    return await Promise.race([offered, late]);
  }
}
