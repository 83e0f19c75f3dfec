import type { Clock } from "../../base/clock.ts";
import { listenForAbort, OVER } from "../../base/wait.ts";
import { type AttemptOptions, joinErrors, type Member, MemberError } from "../member.ts";
import type { Timeouts } from "../options.ts";
import { isUnavailable } from "../retry.ts";
import { StoreError } from "../store.ts";

/** Factor by which the slowest time decays with each response. */
const DECAY = 0.8;

/** Response times of the members, and the time of the last message from each. Shared by the calls of a store. */
class MemberLatency {
  /** The slowest of the recent responses, decaying, ms. */
  #slowest = 0;
  readonly #heard = new Map<Member, number>();

  /** Records the response to an attempt. */
  recordAnswer(member: Member, startedAt: number, now: number): void {
    this.#slowest = Math.max(now - startedAt, this.#slowest * DECAY);
    this.recordMessage(member, now);
  }

  recordMessage(member: Member, now: number): void {
    this.#heard.set(member, now);
  }

  hasMessageSince(member: Member, since: number): boolean {
    return (this.#heard.get(member) ?? Number.NEGATIVE_INFINITY) > since;
  }

  /**
   * Returns how long an only member may be silent before a first attempt on it fails, ms: half the attempt timeout
   * while it has been quick. A member that has answered another call since is only slow and gets the full timeout.
   */
  computeSilenceTimeout({ attempt }: Timeouts): number {
    return Math.min(attempt, Math.max(attempt / 2, 4 * this.#slowest));
  }

  /**
   * Returns the delay before a copy of an attempt goes to another member, ms. The delay grows with the response times,
   * because copies would only double the load when all members are slow. Infinity: the attempt times out first.
   */
  computeHedgeDelay({ hedge, attempt }: Timeouts): number {
    const after = Math.max(hedge, 2 * this.#slowest);
    return after < attempt ? after : Number.POSITIVE_INFINITY;
  }
}

type Attempt<T> = (member: Member, options: AttemptOptions) => Promise<T>;

interface InFlightAttempt {
  member: Member;
  control: AbortController;
  startedAt: number;
}

const BACKOFF_MS = [0, 50, 100, 200, 400];

/** One call, tried on one member after the other, and on several at once when a member is slow. Settles once. */
class FailoverCall<T> {
  readonly #failover: Failover;
  readonly #attempt: Attempt<T>;
  readonly #discard: (late: T) => void;
  readonly #outcome = Promise.withResolvers<T>();
  /** Stops all timers of the call. */
  readonly #timers = new AbortController();
  readonly #flights = new Set<InFlightAttempt>();
  /** Number of attempts per member. */
  readonly #tried = new Map<Member, number>();
  readonly #unusable = new Set<Member>();
  readonly #causes = new Map<Member, StoreError>();
  #failures = 0;
  #isSettled = false;

  constructor(failover: Failover, attempt: Attempt<T>, discard: (late: T) => void = () => {}) {
    this.#failover = failover;
    this.#attempt = attempt;
    this.#discard = discard;
  }

  start(): Promise<T> {
    this.#runAfter(this.#failover.timeouts.total, () => this.giveUp());
    this.#launch();
    return this.#outcome.promise;
  }

  abort(reason: unknown): void {
    this.#settle(() => this.#outcome.reject(reason));
  }

  #launch(): void {
    const member = this.#choose();
    if (this.#isSettled || member === undefined) return;
    const { clock, timeouts, latency } = this.#failover;
    const flight = { member, control: new AbortController(), startedAt: clock.now() };
    const before = this.#tried.get(member) ?? 0;
    const within = timeouts.attempt * 2 ** before;
    this.#flights.add(flight);
    this.#tried.set(member, before + 1);
    const hedge = latency.computeHedgeDelay(timeouts);
    if (hedge < within) this.#runAfter(hedge, () => this.#hedge(flight));
    this.#limit(flight, within, latency.computeSilenceTimeout(timeouts) * 2 ** before);
    this.#attempt(member, { signal: flight.control.signal, fresh: before > 0 }).then(
      (value) => this.#succeed(flight, value),
      (error) => this.#fail(flight, error),
    );
  }

  /**
   * @param silent  time, ms, after which an attempt on the only member fails if that member has sent nothing else
   * meanwhile
   */
  #limit(flight: InFlightAttempt, within: number, silent: number): void {
    const { member, startedAt } = flight;
    this.#runAfter(within, () => this.#expire(flight, within));
    const hasOthers = this.#failover.members.length - this.#unusable.size > 1; // a copy goes to another member sooner
    if (hasOthers || silent >= within) return;
    this.#runAfter(silent, () => {
      if (!this.#failover.latency.hasMessageSince(member, startedAt)) this.#expire(flight, silent);
    });
  }

  /**
   * Returns the next member, counting from the preferred one. Skips members with an attempt in flight: a second copy
   * there would only add load.
   */
  #choose(): Member | undefined {
    const { members, preferred } = this.#failover;
    const usable = members
      .map((_, i) => members[(preferred + this.#failures + i) % members.length])
      .filter((member): member is Member => member !== undefined && !this.#unusable.has(member));
    const busy = new Set([...this.#flights].map((flight) => flight.member));
    return usable.find((member) => !busy.has(member));
  }

  #hedge(flight: InFlightAttempt): void {
    if (this.#flights.has(flight)) this.#launch();
  }

  #expire(flight: InFlightAttempt, within: number): void {
    if (!this.#flights.has(flight)) return;
    this.#suspect(flight);
    const text = `${flight.member.endpoint}: no answer within ${within} ms`;
    this.#fail(flight, new MemberError("unavailable", "retry", text));
  }

  #succeed(flight: InFlightAttempt, value: T): void {
    if (this.#isSettled || !this.#flights.delete(flight)) {
      this.#discard(value);
      return;
    }
    const { members, clock, latency, timeouts } = this.#failover;
    this.#failover.preferred = members.indexOf(flight.member);
    const now = clock.now();
    latency.recordAnswer(flight.member, flight.startedAt, now);
    const slow = [...this.#flights].filter((other) => other.startedAt <= now - timeouts.hedge);
    this.#settle(() => this.#outcome.resolve(value));
    for (const other of slow) this.#suspect(other);
  }

  /** A member that has answered another call meanwhile is only slow. */
  #suspect({ member, startedAt }: InFlightAttempt): void {
    if (!this.#failover.latency.hasMessageSince(member, startedAt)) this.#failover.onSuspect(member);
  }

  #fail(flight: InFlightAttempt, error: unknown): void {
    if (this.#isSettled || !this.#flights.delete(flight)) return;
    flight.control.abort(error);
    if (!(error instanceof MemberError) || error.advice === "final" || error.advice === "relogin") {
      this.#settle(() => this.#outcome.reject(error));
      return;
    }
    this.#causes.set(flight.member, error);
    if (error.advice === "elsewhere") this.#unusable.add(flight.member);
    this.#failures += 1;
    const usable = this.#failover.members.length - this.#unusable.size;
    if (usable > 0) this.#retry(usable);
    else if (this.#flights.size === 0) this.giveUp();
  }

  /** Tries the other members at once, and starts another round only after a pause. */
  #retry(usable: number): void {
    const round = Math.floor(this.#failures / usable);
    const pause = this.#failures % usable === 0 ? (BACKOFF_MS[round - 1] ?? 400) : 0;
    if (pause === 0) this.#launch();
    else this.#runAfter(pause, () => this.#launch());
  }

  /** Fails the call with the error or missing response of each member so far. */
  giveUp(): void {
    const causes = [...this.#causes.values()];
    for (const { member } of this.#flights) {
      causes.push(new MemberError("unavailable", "retry", `${member.endpoint}: no answer yet`));
    }
    const other = causes.find(({ kind }) => kind === "otherCluster");
    const error = joinErrors(causes, other?.kind);
    this.#settle(() => this.#outcome.reject(error));
  }

  #settle(tell: () => void): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    tell();
    this.#timers.abort(OVER);
    for (const { control } of this.#flights)
      control.abort(new StoreError("unavailable", "another attempt was faster"));
    this.#flights.clear();
  }

  #runAfter(ms: number, act: () => void): void {
    this.#failover.clock.sleep(ms, this.#timers.signal).then(
      () => {
        if (!this.#isSettled) act();
      },
      () => {}, // the call has settled
    );
  }
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  attempt: 2000,
  hedge: 600,
  total: 6000,
  probe: 10_000,
  login: 10_000,
};

/** Runs each call on the member that answered last, and on others when it does not answer. */
export class Failover {
  readonly members: readonly Member[];
  readonly clock: Clock;
  readonly timeouts: Timeouts;
  readonly latency = new MemberLatency();
  /** Called with a member that left a call without a response. Its watches may be dead too. */
  onSuspect: (member: Member) => void = () => {};
  /** Index of the member that each call tries first: the one that answered last, or that returned the token of a login. */
  preferred: number;
  readonly #calls = new Set<{ abort(reason: unknown): void }>();
  readonly #closing = new AbortController();

  constructor(members: readonly Member[], clock: Clock, timeouts: Timeouts, preferred = 0) {
    this.members = members;
    this.clock = clock;
    this.timeouts = timeouts;
    this.preferred = preferred;
  }

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * @param attempt one attempt on one member; its signal is aborted when another attempt won, never when it won itself
   * @param discard receives the value of an attempt that succeeded after another had won
   * @throws StoreError `unavailable` with the causes; a member's final error; the signal's reason
   */
  async run<T>(attempt: Attempt<T>, signal?: AbortSignal, discard?: (late: T) => void): Promise<T> {
    signal?.throwIfAborted();
    this.closed.throwIfAborted();
    const call = new FailoverCall(this, attempt, discard);
    // At the caller's deadline, report the errors so far.
    const stopListening = listenForAbort(signal, () =>
      isUnavailable(signal?.reason) ? call.giveUp() : call.abort(signal?.reason),
    );
    this.#calls.add(call);
    try {
      return await call.start();
    } finally {
      this.#calls.delete(call);
      stopListening();
    }
  }

  /** Fails all current and future calls. */
  close(): void {
    this.#closing.abort(new StoreError("unavailable", "the connection to etcd was closed"));
    for (const call of this.#calls) call.abort(this.closed.reason);
    for (const member of this.members) member.close();
  }
}
