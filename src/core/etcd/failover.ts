import {
  addMs,
  type Clock,
  LONG_AGO,
  listenForAbort,
  type Millis,
  type MonotonicTime,
  NO_LONGER_NEEDED,
  sleepUntilLate,
  subtractTime,
} from "../base/clock.ts";
import { type AttemptOptions, joinErrors, type Member, MemberError } from "./member.ts";
import type { StorePorts, Timeouts } from "./options.ts";
import { isUnavailable, StoreError } from "./store.ts";

/** Factor by which the slowest time decays with each response. */
const SLOWEST_TIME_DECAY = 0.8;

/** Response times of the members, and the time of the last message from each. Shared by the calls of a store. */
class MemberLatency {
  /** The slowest of the recent responses, decaying. */
  #slowest: Millis = 0;
  readonly #heard = new Map<Member, MonotonicTime>();

  /** Records the response to an attempt. */
  recordAnswer(member: Member, startedAt: MonotonicTime, now: MonotonicTime): void {
    this.#slowest = Math.max(subtractTime(now, startedAt), this.#slowest * SLOWEST_TIME_DECAY);
    this.recordMessage(member, now);
  }

  recordMessage(member: Member, now: MonotonicTime): void {
    this.#heard.set(member, now);
  }

  hasMessageSince(member: Member, since: MonotonicTime): boolean {
    return (this.#heard.get(member) ?? LONG_AGO) > since;
  }

  /**
   * Returns how long the only member may be silent before a first attempt on it fails: half the attempt timeout
   * if it has been quick so far. A member that has answered another call since is only slow and gets the full timeout.
   */
  computeSilenceTimeout({ attempt }: Timeouts): Millis {
    return Math.min(attempt, Math.max(attempt / 2, 4 * this.#slowest));
  }

  /**
   * Returns the delay before a copy of an attempt goes to another member. The delay grows with the response times,
   * because copies would only double the load when all members are slow. Infinity: the attempt times out first.
   */
  computeHedgeDelay({ hedge, attempt }: Timeouts): Millis {
    const after = Math.max(hedge, 2 * this.#slowest);
    return after < attempt ? after : Number.POSITIVE_INFINITY;
  }
}

type Attempt<T> = (member: Member, options: AttemptOptions) => Promise<T>;

interface InFlightAttempt {
  member: Member;
  control: AbortController;
  startedAt: MonotonicTime;
}

/** How long a call is without an answer before it is reported, ms. */
const SILENCE_MS = 2_000;
const BACKOFF_MS = [0, 50, 100, 200, 400];

/** A call under way. It settles once. */
interface FailoverCall<T> {
  promise: Promise<T>;
  abort(reason: unknown): void;
  /** Fails the call with the error or missing response of each member so far. */
  giveUp(): void;
}

/** Starts a call: tries one member after the other, and several at once when a member is slow. */
function startCall<T>(
  failover: Failover,
  attempt: Attempt<T>,
  discard: (late: T) => void = () => {},
): FailoverCall<T> {
  const { members, clock, timeouts, latency } = failover;
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  /** Stops all timers of the call. */
  const timers = new AbortController();
  const flights = new Set<InFlightAttempt>();
  /** Number of attempts per member. */
  const tried = new Map<Member, number>();
  const unusable = new Set<Member>();
  const causes = new Map<Member, StoreError>();
  let failures = 0;
  let isSettled = false;

  const settle = (report: () => void) => {
    if (isSettled) return;
    isSettled = true;
    report();
    timers.abort(NO_LONGER_NEEDED);
    for (const { control } of flights)
      control.abort(new StoreError("unavailable", "another attempt was faster"));
    flights.clear();
  };

  const runAfter = (ms: Millis, act: () => void) => {
    sleepUntilLate(clock, ms, timers.signal).then(
      () => {
        if (!isSettled) act();
      },
      () => {}, // the call has settled
    );
  };

  /** Builds the error of all members that have failed or not answered so far. */
  const joinFaults = () => {
    const unanswered = [...flights]
      .filter(({ member }) => !causes.has(member))
      .map(({ member }) => new MemberError("unavailable", "retry", `${member.endpoint}: no answer yet`));
    const all = [...causes.values(), ...unanswered];
    const other = all.find(({ kind }) => kind === "otherCluster");
    return joinErrors(all, other?.kind);
  };
  const giveUp = () => settle(() => reject(joinFaults()));

  /**
   * Returns the next member, counting from the preferred one. Skips members with an attempt in flight: a second copy
   * there would only add load.
   */
  const choose = () => {
    const usable = members
      .map((_, i) => members[(failover.preferred + failures + i) % members.length])
      .filter((member): member is Member => member !== undefined && !unusable.has(member));
    const busy = new Set([...flights].map((flight) => flight.member));
    return usable.find((member) => !busy.has(member));
  };

  const launch = () => {
    const member = choose();
    if (isSettled || member === undefined) return;
    const flight = { member, control: new AbortController(), startedAt: clock.now() };
    const before = tried.get(member) ?? 0;
    const within = timeouts.attempt * 2 ** before;
    flights.add(flight);
    tried.set(member, before + 1);
    const hedge = latency.computeHedgeDelay(timeouts);
    if (hedge < within)
      runAfter(hedge, () => {
        if (flights.has(flight)) launch();
      });
    startTimers(flight, within, latency.computeSilenceTimeout(timeouts) * 2 ** before);
    attempt(member, { signal: flight.control.signal, fresh: before > 0 }).then(
      (value) => succeed(flight, value),
      (error) => fail(flight, error),
    );
  };

  /**
   * Starts the timers of an attempt.
   * @param silent  time after which an attempt on the only member fails if that member has sent nothing since
   */
  const startTimers = (flight: InFlightAttempt, within: Millis, silent: Millis) => {
    const { member, startedAt } = flight;
    runAfter(within, () => expire(flight, within));
    const hasOthers = members.length - unusable.size > 1; // a copy goes to another member sooner
    if (hasOthers || silent >= within) return;
    runAfter(silent, () => {
      if (!latency.hasMessageSince(member, startedAt)) expire(flight, silent);
    });
  };

  /** Reports a member that may be dead. One that has answered another call meanwhile is only slow. */
  const suspect = ({ member, startedAt }: InFlightAttempt) => {
    if (!latency.hasMessageSince(member, startedAt)) failover.onSuspect(member);
  };

  const expire = (flight: InFlightAttempt, within: Millis) => {
    if (!flights.has(flight)) return;
    suspect(flight);
    const text = `${flight.member.endpoint}: no answer within ${within} ms`;
    fail(flight, new MemberError("unavailable", "retry", text));
  };

  const succeed = (flight: InFlightAttempt, value: T) => {
    if (isSettled || !flights.delete(flight)) return discard(value);
    failover.preferred = members.indexOf(flight.member);
    failover.onSilence = undefined;
    const now = clock.now();
    latency.recordAnswer(flight.member, flight.startedAt, now);
    const slow = [...flights].filter((other) => other.startedAt <= addMs(now, -timeouts.hedge));
    settle(() => resolve(value));
    for (const other of slow) suspect(other);
  };

  const fail = (flight: InFlightAttempt, error: unknown) => {
    if (isSettled || !flights.delete(flight)) return;
    flight.control.abort(error);
    if (!(error instanceof MemberError) || error.advice === "final" || error.advice === "relogin") {
      settle(() => reject(error));
      return;
    }
    causes.set(flight.member, error);
    if (error.advice === "elsewhere") unusable.add(flight.member);
    failures += 1;
    const usable = members.length - unusable.size;
    if (usable > 0) retry(usable);
    else if (flights.size === 0) giveUp();
  };

  /** Tries the other members at once, and starts another round only after a pause. */
  const retry = (usable: number) => {
    const round = Math.floor(failures / usable);
    const pause = failures % usable === 0 ? (BACKOFF_MS[round - 1] ?? 400) : 0;
    if (pause === 0) launch();
    else runAfter(pause, launch);
  };

  runAfter(timeouts.total, giveUp);
  if (failover.onSilence !== undefined)
    runAfter(SILENCE_MS, () => {
      failover.onSilence?.(joinFaults());
      failover.onSilence = undefined;
    });
  launch();
  return { promise, abort: (reason) => settle(() => reject(reason)), giveUp };
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
  /** Called once if the first calls have no answer for two seconds, with what each member has done so far. */
  onSilence: StorePorts["onSilence"];
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
    const call = startCall(this, attempt, discard);
    // At the caller's deadline, report the errors so far.
    const stopListening = listenForAbort(signal, () =>
      isUnavailable(signal?.reason) ? call.giveUp() : call.abort(signal?.reason),
    );
    this.#calls.add(call);
    try {
      return await call.promise;
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
