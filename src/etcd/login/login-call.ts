import { forwardAbort, OVER } from "../../base/wait.ts";
import type { Failover } from "../failover.ts";
import { joinErrors, type Member, MemberError } from "../member.ts";
import { isAuthenticationOff } from "../member-errors.ts";
import { StoreError } from "../store.ts";
import type { WireStatus } from "../wire-codec.ts";

/** First and longest pause between rounds in which every member failed, ms. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [200, 2_000];

/** Number of consecutive unanswered status requests after which a member counts as dead. */
const MOST_UNANSWERED = 6;

/** A login under way. */
export interface LoginCall {
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
export function startLogin(
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
  const isServing = async (member: Member, within: number, ended: AbortSignal) => {
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
      const due = clock.now() + every;
      if (await isServing(member, every, ended)) unanswered = 0;
      else if (clock.now() < due + every / 4) unanswered += 1;
      await clock.sleep(Math.max(0, due - clock.now()), ended);
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
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
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
  const token = runRounds().finally(() => over.abort(OVER));
  return { token, hasFailed: () => causes.size > 0, createError };
}

/** Whether every member would return this error. */
function isRefusal(error: unknown): boolean {
  return error instanceof MemberError && (error.advice === "final" || error.advice === "relogin");
}

/** Builds the error of a login that no member has answered, or refused, so far. */
export function createUnansweredError(): StoreError {
  return new StoreError("unavailable", "no answer to the login yet");
}
