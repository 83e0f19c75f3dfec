import { forwardAbort, OVER } from "../../base/wait.ts";
import type { Failover } from "../cluster/failover.ts";
import { joinErrors, type Member, MemberError } from "../member.ts";
import { isAuthenticationOff } from "../member-errors.ts";
import { StoreError } from "../store.ts";
import type { WireStatus } from "../wire-codec.ts";

/** First and longest pause between rounds in which every member failed, ms. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [200, 2_000];

/** Number of consecutive unanswered status requests after which a member counts as dead. */
const QUESTIONS = 6;

/**
 * One login: requests a token from the members, one at a time. etcd spends tens of milliseconds of processor time on a
 * password, and completes a login even after its caller has given up. A slow login is therefore never sent twice: the
 * next member is tried only when this one has failed or answers no other request either.
 */
export class LoginCall {
  readonly #route: Failover;
  readonly #request: { name: string; password: string };
  readonly #unit: () => number;
  readonly #stop = new AbortController();
  readonly #causes = new Map<Member, MemberError>();
  readonly #unusable = new Set<Member>();
  #asked: Member | undefined;

  /** @param unit  uniform in [0, 1), for pauses */
  constructor(route: Failover, request: { name: string; password: string }, unit: () => number) {
    this.#route = route;
    this.#request = request;
    this.#unit = unit;
  }

  /**
   * @returns the token; undefined when authentication is disabled
   * @throws MemberError when etcd refuses; StoreError `unavailable` when no member answers in time; the signal's reason
   */
  async run(signal: AbortSignal): Promise<string | undefined> {
    const { clock, timeouts } = this.#route;
    forwardAbort(signal, this.#stop);
    const over = new AbortController();
    clock.sleep(timeouts.login, over.signal).then(
      () => this.#stop.abort(this.createError()),
      () => {}, // the login has ended
    );
    try {
      return await this.#runRounds();
    } finally {
      over.abort(OVER);
    }
  }

  /** Whether a member has failed so far. */
  get hasFailed(): boolean {
    return this.#causes.size > 0;
  }

  /** Builds an error from the failures so far, for callers whose time is up. */
  createError(): StoreError {
    const causes = [...this.#causes.values()];
    const asked = this.#asked;
    if (asked !== undefined) {
      causes.push(new MemberError("unavailable", "retry", `${asked.endpoint}: no answer to the login yet`));
    }
    return causes.length > 0 ? joinErrors(causes) : createUnansweredError();
  }

  async #runRounds(): Promise<string | undefined> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      for (const member of this.#listUsableMembers()) {
        const answer = await this.#tryMember(member);
        if (answer !== undefined) return answer.token;
      }
      if (this.#listUsableMembers().length === 0) throw this.createError();
      await this.#route.clock.sleep(pause * (0.5 + this.#unit() / 2), this.#stop.signal);
    }
  }

  #listUsableMembers(): Member[] {
    const { members, preferred } = this.#route;
    return [...members.slice(preferred), ...members.slice(0, preferred)].filter(
      (member) => !this.#unusable.has(member),
    );
  }

  /**
   * Tries one member.
   * @returns undefined when another member may succeed
   * @throws errors that every member would return
   */
  async #tryMember(member: Member): Promise<{ token: string | undefined } | undefined> {
    try {
      this.#asked = member;
      const token = await this.#authenticate(member);
      this.#route.preferred = this.#route.members.indexOf(member);
      return { token };
    } catch (error) {
      this.#stop.signal.throwIfAborted();
      if (!(error instanceof MemberError)) throw error;
      if (isAuthenticationOff(error)) return { token: undefined };
      if (isRefusal(error)) throw error;
      this.#causes.set(member, error);
      if (error.advice === "elsewhere") this.#unusable.add(member);
      return undefined;
    } finally {
      this.#asked = undefined;
    }
  }

  async #authenticate(member: Member): Promise<string | undefined> {
    const over = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, over.signal]);
    try {
      const asked = member.call("authenticate", this.#request, { signal, fresh: true });
      const answer = await Promise.race([asked, this.#awaitSilence(member, signal)]);
      return (answer as { token?: string }).token;
    } finally {
      over.abort(new StoreError("unavailable", "the login has ended"));
    }
  }

  /**
   * Throws when the member has answered nothing for as long as a call may take: it will not answer the login either.
   * Elapsed time alone is no proof, because this machine may have been paused. Only status requests whose time ran out
   * on schedule count.
   */
  async #awaitSilence(member: Member, signal: AbortSignal): Promise<never> {
    const { clock, timeouts } = this.#route;
    const every = timeouts.total / QUESTIONS;
    for (let unanswered = 0; unanswered < QUESTIONS; ) {
      const due = clock.now() + every;
      if (await this.#isServing(member, every, signal)) unanswered = 0;
      else if (clock.now() < due + every / 4) unanswered += 1;
      await clock.sleep(Math.max(0, due - clock.now()), signal);
    }
    throw new MemberError("unavailable", "retry", `${member.endpoint}: no answer to the login`);
  }

  /** Whether the member answers and has a leader. Without a leader it cannot process a login. */
  async #isServing(member: Member, within: number, signal: AbortSignal): Promise<boolean> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const late = this.#route.clock.sleep(within, either).then(() => undefined);
    try {
      const asked = member.call("status", {}, { signal: either, fresh: false });
      const status = (await Promise.race([asked, late])) as WireStatus | undefined;
      return Number(status?.leader ?? 0) !== 0;
    } catch (error) {
      return isRefusal(error); // later versions refuse it without a login
    } finally {
      over.abort(new StoreError("unavailable", "the question has ended"));
    }
  }
}

/** Whether every member would return this error. */
function isRefusal(error: unknown): boolean {
  return error instanceof MemberError && (error.advice === "final" || error.advice === "relogin");
}

/** Builds the error of a login that no member has answered, or refused, so far. */
export function createUnansweredError(): StoreError {
  return new StoreError("unavailable", "no answer to the login yet");
}
