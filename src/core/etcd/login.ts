import {
  addMs,
  forwardAbort,
  listenForAbort,
  type Millis,
  type MonotonicTime,
  NO_LONGER_NEEDED,
  subtractTime,
} from "../base/clock.ts";
import { readFileWithMode, readPassword } from "../config/files.ts";
import type { Failover } from "./failover.ts";
import { isAuthenticationOff, joinErrors, type Member, MemberError } from "./member.ts";
import type { CheckedOptions } from "./options.ts";
import { isUnavailable, StoreError } from "./store.ts";
import type { WireStatus } from "./wire-codec.ts";

/** The token that etcd returned for user and password. Valid on every member. */
interface Token {
  /** Undefined when authentication is disabled. */
  text: string | undefined;
  since: MonotonicTime;
  /** Number of refusals while the token was so new that the member may not have received it yet. */
  doubts: number;
}

interface RunningLogin {
  /** The members of the store that the login runs through. */
  route: Failover;
  stop: AbortController;
  promise: Promise<Token>;
}

/** Maximum number of attempts of a call whose token is refused. */
const MAX_CALL_TRIES = 5;
/** Age below which a token may not have reached every member yet, ms. */
const MIN_TOKEN_AGE_MS = 2_000;
const MAX_DOUBTS = 2;
/** Interval between checks of the password file while etcd refuses its password, ms. */
const CHECK_INTERVAL = 250;
/** How long refusals of a previously accepted user count as a password change, ms. */
const PASSWORD_CHANGE_TIME_MS = 120_000;
/** First and longest pause after a login without a response, ms. */
const [FIRST_LOGIN_PAUSE_MS, LONGEST_LOGIN_PAUSE_MS] = [250, 5_000];

/**
 * A user's login, shared by all stores of the process with the same login options: one token, and at most one login in
 * flight. Callers wait for that login and may stop waiting; the login continues.
 */
export class Login {
  readonly #user: string;
  readonly #passwords: Passwords;
  readonly #unit: () => number;
  #token: Token | undefined;
  #running: RunningLogin | undefined;
  #call: LoginCall | undefined;
  #wasLoggedIn = false;
  #refusal: { error: MemberError; since: MonotonicTime } | undefined;
  /** Why the last login failed without a response; undefined after a login that etcd has answered. */
  #failure: StoreError | undefined;
  #pause = 0;

  /** @param unit  uniform in [0, 1), for pauses */
  constructor(user: string, passwords: Passwords, unit: () => number) {
    this.#user = user;
    this.#passwords = passwords;
    this.#unit = unit;
  }

  /**
   * Makes a call with the token, and repeats it with a new token when etcd refuses the first: it expired, a restarted
   * server lost it, or the password changed.
   * @throws what the call throws; StoreError `unauthenticated` or `unavailable`; the signal's reason
   */
  async use<T>(
    route: Failover,
    signal: AbortSignal | undefined,
    call: (token: string | undefined) => Promise<T>,
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const token = await this.#awaitToken(route, signal);
      try {
        return await call(token.text);
      } catch (error) {
        const isStale = error instanceof MemberError && error.advice === "relogin";
        if (!isStale || tries === MAX_CALL_TRIES) throw error;
        await this.#handleRefusedToken(token, route, signal);
      }
    }
  }

  /** Ends a login that runs through this store. Other callers that wait for it start a new one. */
  cancel(route: Failover): void {
    if (this.#running?.route === route) this.#running.stop.abort(route.closed.reason);
  }

  async #awaitToken(route: Failover, signal: AbortSignal | undefined): Promise<Token> {
    for (;;) {
      signal?.throwIfAborted();
      route.closed.throwIfAborted();
      if (this.#token !== undefined) return this.#token;
      this.#running ??= this.#startLogin(route);
      const { promise, route: through } = this.#running;
      try {
        return await this.#waitForLogin(promise, [route.closed, ...(signal ? [signal] : [])]);
      } catch (error) {
        if (!through.closed.aborted || route.closed.aborted) throw error;
      }
    }
  }

  /**
   * Waits for a login until a signal is aborted. At the caller's deadline, rejects with the login's failures so far.
   */
  async #waitForLogin(login: Promise<Token>, signals: AbortSignal[]): Promise<Token> {
    const either = AbortSignal.any(signals);
    const left = Promise.withResolvers<never>();
    const stopListening = listenForAbort(either, () => {
      const { reason } = either;
      const isLate = isUnavailable(reason) && !signals[0]?.aborted;
      left.reject(isLate ? this.#createLateError() : reason);
    });
    try {
      return await Promise.race([login, left.promise]);
    } finally {
      stopListening();
    }
  }

  #startLogin(route: Failover): RunningLogin {
    const stop = new AbortController();
    const promise = this.#logIn(route, stop.signal).finally(() => {
      this.#running = undefined;
    });
    promise.catch(() => {}); // the callers may have stopped waiting
    return { route, stop, promise };
  }

  async #logIn(route: Failover, signal: AbortSignal): Promise<Token> {
    const { clock, timeouts } = route;
    if (this.#pause > 0) await clock.sleep(this.#addJitter(this.#pause), signal);
    const until = addMs(clock.now(), timeouts.total);
    for (;;) {
      const password = this.#passwords.findNext(clock.now());
      if (password !== undefined) {
        const token = await this.#tryPassword(password, route, signal);
        if (token !== undefined) return token;
      } else if (this.#canPasswordChange(clock.now()) && clock.now() < until) {
        await clock.sleep(this.#addJitter(CHECK_INTERVAL), signal);
      } else {
        throw this.#createRefusalError(clock.now());
      }
    }
  }

  /** @returns undefined when etcd refused the password. @throws StoreError when there was no response */
  async #tryPassword(password: string, route: Failover, signal: AbortSignal): Promise<Token | undefined> {
    const { clock } = route;
    this.#call = startLogin(route, { name: this.#user, password }, this.#unit, signal);
    try {
      const text = await this.#call.token;
      this.#passwords.accept(password);
      this.#refusal = undefined;
      this.#failure = undefined;
      this.#wasLoggedIn = true;
      this.#pause = 0;
      this.#token = { text, since: clock.now(), doubts: 0 };
      return this.#token;
    } catch (error) {
      if (!(error instanceof MemberError && error.kind === "unauthenticated")) {
        if (signal.aborted) throw error;
        this.#pause = Math.min(2 * this.#pause || FIRST_LOGIN_PAUSE_MS, LONGEST_LOGIN_PAUSE_MS);
        this.#failure = error instanceof StoreError ? error : undefined;
        throw error;
      }
      this.#failure = undefined;
      this.#passwords.refuse(password, clock.now(), this.#unit());
      this.#refusal = { error, since: this.#refusal?.since ?? clock.now() };
      return undefined;
    } finally {
      this.#call = undefined;
    }
  }

  /** Whether a refusal may come from a password change. */
  #canPasswordChange(now: MonotonicTime): boolean {
    if (!this.#wasLoggedIn || !this.#passwords.canChange) return false;
    return this.#refusal === undefined || subtractTime(now, this.#refusal.since) < PASSWORD_CHANGE_TIME_MS;
  }

  /** Builds the error for a caller whose time is up: the failures of this login, else of the one before it. */
  #createLateError(): StoreError {
    if (this.#call?.hasFailed() !== true && this.#failure !== undefined) return this.#failure;
    return this.#call?.createError() ?? this.#createRefusalError();
  }

  /** Builds the error for a refused login. While the password may be changing, the error is `unavailable`. */
  #createRefusalError(now = this.#refusal?.since): StoreError {
    const { error } = this.#refusal ?? {};
    if (error === undefined || now === undefined) return createUnansweredError();
    if (!this.#canPasswordChange(now)) return error;
    const text = `${error.message}; waiting for the new password of this user in its passwordFile`;
    return new StoreError("unavailable", text, { cause: error });
  }

  /** Drops a refused token. A new token may not have reached that member yet, so it gets another attempt. */
  async #handleRefusedToken(
    token: Token,
    { clock }: Failover,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (this.#token !== token) return;
    const isYoung = token.text !== undefined && subtractTime(clock.now(), token.since) < MIN_TOKEN_AGE_MS;
    if (!isYoung || token.doubts >= MAX_DOUBTS) {
      this.#token = undefined;
      return;
    }
    token.doubts += 1;
    await clock.sleep(this.#addJitter(100 * token.doubts), signal);
  }

  #addJitter(ms: Millis): Millis {
    return ms * (0.5 + this.#unit() / 2);
  }
}

/** A login as one store uses it. */
export interface LoginShare {
  login: Login;
  user: string;
  /** Call it when the store has closed. The token is dropped with the last store. */
  release(): void;
}

const shared = new Map<string, { login: Login; stores: number }>();

/**
 * Returns the login that all stores of this process share when they have the same members, user, password and TLS
 * options.
 * @returns undefined when no user is configured
 */
export function shareLogin(options: CheckedOptions, unit: () => number): LoginShare | undefined {
  const { user, password, passwordFile, parsed, tls } = options;
  if (user === undefined || password === undefined) return undefined;
  const urls = parsed.map(({ url }) => url).sort();
  const key = JSON.stringify([urls, user, password, passwordFile, tls]);
  const entry = shared.get(key) ?? {
    login: new Login(user, new Passwords(password, passwordFile), unit),
    stores: 0,
  };
  entry.stores += 1;
  shared.set(key, entry);
  let isReleased = false;
  return {
    login: entry.login,
    user,
    release: () => {
      if (isReleased) return;
      isReleased = true;
      entry.stores -= 1;
      if (entry.stores === 0) shared.delete(key);
    },
  };
}

/** First and longest time before a refused password is tried again, ms. */
const [FIRST_REFUSAL_DELAY_MS, LONGEST_REFUSAL_DELAY_MS] = [1_000, 30_000];

/**
 * The possible passwords of a user while the password is being changed: the current one in the file, and the last one
 * that etcd accepted. A refused password is not tried again for a while, because each attempt costs etcd as much as a
 * successful one.
 */
export class Passwords {
  readonly #file: string | undefined;
  #latest: string;
  #accepted: string | undefined;
  readonly #refused = new Map<string, { until: MonotonicTime; delay: Millis }>();

  /** @param file  the file that contained `first`, if there is one */
  constructor(first: string, file: string | undefined) {
    this.#latest = first;
    this.#file = file;
  }

  /** Whether the password can change. */
  get canChange(): boolean {
    return this.#file !== undefined;
  }

  /** Returns a password to try now, if there is one. */
  findNext(now: MonotonicTime): string | undefined {
    this.#rereadFile();
    const known = this.#accepted === undefined ? [this.#latest] : [this.#latest, this.#accepted];
    return known.find((password) => (this.#refused.get(password)?.until ?? now) <= now);
  }

  accept(password: string): void {
    this.#accepted = password;
    this.#refused.clear();
  }

  /** @param unit  uniform in [0, 1); spreads the retries of processes whose password was refused at the same time */
  refuse(password: string, now: MonotonicTime, unit: number): void {
    const before = this.#refused.get(password);
    const delay =
      before === undefined ? FIRST_REFUSAL_DELAY_MS : Math.min(2 * before.delay, LONGEST_REFUSAL_DELAY_MS);
    this.#refused.set(password, { delay, until: addMs(now, delay * (0.5 + unit / 2)) });
  }

  /** Reads the file again. Ignores a file that is being written or is missing for a moment. */
  #rereadFile(): void {
    const isUntried = this.#accepted === undefined && this.#refused.size === 0;
    if (this.#file === undefined || isUntried) return;
    try {
      this.#latest = readPassword(this.#file, readFileWithMode);
    } catch {
      // keep the last known password
    }
  }
}

/** First and longest pause between rounds in which every member failed, ms. */
const [FIRST_CALL_PAUSE_MS, LONGEST_CALL_PAUSE_MS] = [200, 2_000];

/** Number of consecutive unanswered status requests after which a member counts as dead. */
const MOST_UNANSWERED = 6;

/** A login under way. */
interface LoginCall {
  /**
   * Resolves to the token; undefined when authentication is disabled. Rejects with a MemberError when etcd refuses, a
   * StoreError `unavailable` when no member answers in time, or the signal's reason.
   */
  token: Promise<string | undefined>;
  /** Whether a member has failed so far. */
  hasFailed(): boolean;
  /** Builds an error from the failures so far, for callers whose time is up. */
  createError(): StoreError;
}

/**
 * Starts one login: requests a token from the members, one at a time. etcd spends tens of milliseconds of processor
 * time on a password, and completes a login even after its caller has given up. A slow login is therefore never sent
 * twice: the next member is tried only when this one has failed or answers no other request either.
 * @param unit  uniform in [0, 1), for pauses
 */
function startLogin(
  failover: Failover,
  request: { name: string; password: string },
  unit: () => number,
  signal: AbortSignal,
): LoginCall {
  const { members, clock, timeouts } = failover;
  const stop = new AbortController();
  const causes = new Map<Member, MemberError>();
  const unusable = new Set<Member>();
  let pendingMember: Member | undefined;

  const createError = () => {
    const all = [...causes.values()];
    if (pendingMember !== undefined)
      all.push(
        new MemberError("unavailable", "retry", `${pendingMember.endpoint}: no answer to the login yet`),
      );
    return all.length > 0 ? joinErrors(all) : createUnansweredError();
  };

  const listUsableMembers = () =>
    [...members.slice(failover.preferred), ...members.slice(0, failover.preferred)].filter(
      (member) => !unusable.has(member),
    );

  /** Whether the member answers and has a leader. Without a leader it cannot process a login. */
  const isServing = async (member: Member, within: Millis, ended: AbortSignal) => {
    const over = new AbortController();
    const either = AbortSignal.any([ended, over.signal]);
    const late = clock.sleep(within, either).then(() => undefined);
    try {
      const answer = member.call("status", {}, { signal: either, fresh: false });
      const status = (await Promise.race([answer, late])) as WireStatus | undefined;
      return Number(status?.leader ?? 0) !== 0;
    } catch (error) {
      return isRefusal(error); // later versions of etcd refuse the request without a login
    } finally {
      over.abort(new StoreError("unavailable", "the status request has ended"));
    }
  };

  /**
   * Throws when the member has answered nothing for as long as a call may take: it will not answer the login either.
   * Elapsed time alone is no proof, because this machine may have been paused. Only status requests whose time ran out
   * on schedule count.
   */
  const awaitSilence = async (member: Member, ended: AbortSignal): Promise<never> => {
    const every = timeouts.total / MOST_UNANSWERED;
    for (let unanswered = 0; unanswered < MOST_UNANSWERED; ) {
      const due = addMs(clock.now(), every);
      if (await isServing(member, every, ended)) unanswered = 0;
      else if (clock.now() < addMs(due, every / 4)) unanswered += 1;
      await clock.sleep(Math.max(0, subtractTime(due, clock.now())), ended);
    }
    throw new MemberError("unavailable", "retry", `${member.endpoint}: no answer to the login`);
  };

  const authenticate = async (member: Member) => {
    const over = new AbortController();
    const ended = AbortSignal.any([stop.signal, over.signal]);
    try {
      const answer = member.call("authenticate", request, { signal: ended, fresh: true });
      return ((await Promise.race([answer, awaitSilence(member, ended)])) as { token?: string }).token;
    } finally {
      over.abort(new StoreError("unavailable", "the login has ended"));
    }
  };

  /**
   * Tries one member.
   * @returns undefined when another member may succeed
   * @throws errors that every member would return
   */
  const tryMember = async (member: Member) => {
    try {
      pendingMember = member;
      const token = await authenticate(member);
      failover.preferred = members.indexOf(member);
      return { token };
    } catch (error) {
      stop.signal.throwIfAborted();
      if (!(error instanceof MemberError)) throw error;
      if (isAuthenticationOff(error)) return { token: undefined };
      if (isRefusal(error)) throw error;
      causes.set(member, error);
      if (error.advice === "elsewhere") unusable.add(member);
      return undefined;
    } finally {
      pendingMember = undefined;
    }
  };

  const runRounds = async () => {
    for (let pause = FIRST_CALL_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_CALL_PAUSE_MS)) {
      for (const member of listUsableMembers()) {
        const answer = await tryMember(member);
        if (answer !== undefined) return answer.token;
      }
      if (listUsableMembers().length === 0) throw createError();
      await clock.sleep(pause * (0.5 + unit() / 2), stop.signal);
    }
  };

  forwardAbort(signal, stop);
  const over = new AbortController();
  clock.sleep(timeouts.login, over.signal).then(
    () => stop.abort(createError()),
    () => {}, // the login has ended
  );
  const token = runRounds().finally(() => over.abort(NO_LONGER_NEEDED));
  return { token, hasFailed: () => causes.size > 0, createError };
}

/** Whether every member would return this error. */
function isRefusal(error: unknown): boolean {
  return error instanceof MemberError && (error.advice === "final" || error.advice === "relogin");
}

/** Builds the error of a login that no member has answered, or refused, so far. */
function createUnansweredError(): StoreError {
  return new StoreError("unavailable", "no answer to the login yet");
}
