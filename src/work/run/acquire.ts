import { EXIT, SignalboxError } from "../../base/errors.ts";
import { changed } from "../../etcd/changed.ts";
import { isUnavailable, persist } from "../../etcd/persist.ts";
import type { Keeper, Proof } from "../../etcd/session.ts";
import type { Place } from "../../protocol/ticket.ts";
import type { KeyValue, Txn, TxnAnswer } from "../../protocol/txn.ts";
import { type Attempt, ownKeys } from "./attempt.ts";
import { decide } from "./decide.ts";
import { type Anchor, inspect } from "./inspect.ts";
import { Presence } from "./presence.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import { standingOf } from "./standing.ts";
import type { Refusal, Step } from "./step.ts";
import { type Act, actionOf } from "./transactions.ts";
import { BLIND, look, type Standing, type View } from "./view.ts";

/** A claim that is held. */
export interface Grant {
  attempt: Attempt;
  /** The lock's place first. */
  places: readonly Place[];
  /** Wall clock, ms since the epoch. */
  grantedAt: number;
  /** The lock's history as it was at the grant; undefined where it was not read. */
  history: { kv: KeyValue | undefined } | undefined;
}

export type Acquired = { kind: "granted"; grant: Grant } | { kind: "refused"; refusal: Refusal };

/** Instants on the clock, ms; Infinity for never. */
export interface Limits {
  /** Until when a silent etcd is tried, by a run that does not wait or has had no answer yet. */
  connect: number;
  /** Until when the lock, and everything else that has no limit of its own, must be granted. */
  wait: number;
}

/** How far a look reads the queues of resources, as in `look`. */
type Depth = number;
const NEAR: Depth = 0;

/** Longest pause after a call without an answer, in ms: one that fails fast must not be repeated in a tight loop. */
const AFTER_SILENCE = 100;

/**
 * Gets a claim: look, decide, act or wait, look again. Answers may be lost: a call that got none is followed by a look,
 * which shows whether it was applied.
 */
export class Acquisition implements Keeper {
  /** What this attempt tells others of its host. */
  readonly presence: Presence;
  readonly #ports: ClaimPorts;
  readonly #request: ClaimRequest;
  readonly #attempt: Attempt;
  readonly #limits: Limits;
  readonly #signal: AbortSignal;
  #standing: Standing = { lock: undefined, resources: undefined };
  #hasAnswered = false;
  #isGranted = false;
  #leasesUntil: number | undefined;
  /** What it waited for last; said once, not at every look. */
  #why: string | undefined;

  /** @param signal aborted when the run is to leave at once, or its session is lost */
  constructor(
    ports: ClaimPorts,
    request: ClaimRequest,
    attempt: Attempt,
    limits: Limits,
    signal: AbortSignal,
  ) {
    this.#ports = ports;
    this.#request = request;
    this.#attempt = attempt;
    this.#limits = limits;
    this.#signal = signal;
    this.presence = new Presence(ports, request);
  }

  get isGranted(): boolean {
    return this.#isGranted;
  }

  /** For the session: whether the tickets that were put still stand. */
  async prove(): Promise<Proof> {
    const anchors = this.#anchors();
    const { raftTerm, loss } = await inspect(this.#ports, this.#request, anchors, this.#signal);
    return { raftTerm, fault: loss?.kind === "gone" ? loss.why : undefined };
  }

  extended(): void {}

  /** @throws StoreError, ConfigError, SignalboxError 69, or the signal's reason (SessionLost, a signal's name) */
  async run(): Promise<Acquired> {
    const { leases, group } = this.#request;
    let view = leases.length === 0 && group === undefined ? BLIND : await this.#look(NEAR);
    for (;;) {
      const step = decide(this.#ports, this.#request, this.#attempt, this.#standing, view, this.#wall());
      this.#ports.log.debug(`next: ${step.kind}`, step.kind === "wait" ? { why: step.why } : {});
      this.#noteStanding(view);
      if (step.kind === "leave") return { kind: "refused", refusal: step.refusal };
      if (step.kind === "granted") return this.#granted(step.places, undefined);
      const next = await this.#do(step, view);
      if (typeof next === "object") return next;
      view = await this.#look(next);
    }
  }

  async #do(step: Exclude<Step, { kind: "leave" | "granted" }>, view: View): Promise<Acquired | Depth> {
    if (step.kind === "closer") return Number.POSITIVE_INFINITY;
    if (step.kind === "wait") return this.#wait(step, view);
    const act = actionOf(this.#ports, this.#request, this.#attempt, step, this.#wall());
    const call = (txn: Txn) => this.#call(txn);
    const answer = await (step.kind === "claim" ? this.presence.along(act.txn, call) : call(act.txn));
    if (answer === undefined || !answer.succeeded) return NEAR;
    return act.grants ? this.#granted(placesAt(act, answer), historyIn(act, answer)) : NEAR;
  }

  /** A transaction, once. Undefined when no answer came: the next look shows whether it was applied. */
  async #call(txn: Txn): Promise<TxnAnswer | undefined> {
    try {
      const answer = await this.#ports.store.txn(txn, this.#signal);
      this.#hasAnswered = true;
      return answer;
    } catch (error) {
      this.#signal.throwIfAborted();
      if (!isUnavailable(error)) throw error;
      await this.#ports.clock.sleep(AFTER_SILENCE * this.#ports.random.unit(), this.#signal);
      return undefined;
    }
  }

  async #look(depth: Depth): Promise<View> {
    const how = { standing: this.#standing, depth, host: this.presence.asks };
    const read = (signal: AbortSignal) => look(this.#ports, this.#request, this.#attempt, how, signal);
    const { patience, leases } = this.#request;
    const waits = this.#hasAnswered && (patience.queues || leases.length > 0);
    const until = waits ? this.#patienceEnds() : this.#limits.connect;
    const view = await persist(this.#ports, until, read, this.#signal);
    this.#hasAnswered = true;
    if (view.host !== undefined) this.presence.saw(view.host.text);
    return view;
  }

  /** Waits for a change, at most until the run's patience ends. */
  async #wait(step: Extract<Step, { kind: "wait" }>, view: View): Promise<Acquired | Depth> {
    const { clock, random, log } = this.#ports;
    const left = this.#patienceEnds() - clock.now();
    if (left <= 0) return { kind: "refused", refusal: { kind: "timeout", why: step.why } };
    if (step.why !== this.#why) log.info("waiting", { why: step.why });
    this.#why = step.why;
    const reread = (this.#attempt.session.ttl / 3) * (0.5 + random.unit() / 2);
    const over =
      step.until === undefined ? Number.POSITIVE_INFINITY : Math.max(0, step.until - clock.wall()) + 1;
    const request = { ranges: step.ranges, from: view.revision + 1n };
    const wake = await changed(this.#ports, request, Math.min(reread, over, left), this.#signal);
    return wake === "event" ? NEAR : step.depth;
  }

  /** The instant at which waiting ends: the leases' own limit counts from when their tickets stand. */
  #patienceEnds(): number {
    const { leases } = this.#request.patience;
    if (this.#standing.resources === undefined || leases === undefined) return this.#limits.wait;
    this.#leasesUntil ??= this.#ports.clock.now() + leases;
    return this.#leasesUntil;
  }

  #anchors(): Anchor[] {
    const { lockKey, resourceKeys } = this.#attempt;
    const { lock, resources } = this.#standing;
    return [
      ...(lockKey === undefined || lock === undefined ? [] : [{ key: lockKey, createRevision: lock }]),
      ...(resources === undefined ? [] : resourceKeys.map((key) => ({ key, createRevision: resources }))),
    ];
  }

  #noteStanding(view: View): void {
    const now = standingOf(this.#attempt, view);
    if (now !== "broken" && view.own.size > 0) this.#standing = now;
  }

  #granted(places: readonly Place[], history: Grant["history"]): Acquired {
    const inOrder = ownKeys(this.#attempt).flatMap((key) => places.find((place) => place.key === key) ?? []);
    const [first] = inOrder;
    if (first === undefined) throw new SignalboxError(EXIT.internal, "a claim without tickets was granted");
    this.#standing = {
      lock: inOrder.find(({ key }) => key === this.#attempt.lockKey)?.createRevision,
      resources: inOrder.find(({ key }) => key !== this.#attempt.lockKey)?.createRevision,
    };
    this.#isGranted = true;
    const grantedAt = first.ticket?.grantedAt ?? this.#wall();
    return { kind: "granted", grant: { attempt: this.#attempt, places: inOrder, grantedAt, history } };
  }

  #wall(): number {
    return this.#ports.clock.wall();
  }
}

/** The places that a granting transaction has put: new ones, or those it found with a new `mod_revision`. */
function placesAt(act: Act, answer: TxnAnswer): Place[] {
  return act.stakes.map(({ key, ticket }) => ({
    key,
    run: ticket.run,
    ticket,
    createRevision: act.found.find((place) => place.key === key)?.createRevision ?? answer.revision,
    modRevision: answer.revision,
    session: act.session,
  }));
}

function historyIn(act: Act, answer: TxnAnswer): Grant["history"] {
  const last = answer.results.findLast(({ op }) => op === "range");
  return act.readsHistory && last?.op === "range" ? { kv: last.kvs[0] } : undefined;
}
