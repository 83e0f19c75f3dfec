import { OVER } from "../../base/over.ts";
import { type Member, MemberError } from "../member.ts";
import { type MemberStatus, StoreError } from "../store.ts";
import { parseMemberStatus } from "../wire-codec.ts";
import type { Failover } from "./failover.ts";

/** Reads the status of one member, or the error with which the request failed. @throws only the signal's reason */
export async function readMemberStatus(
  { clock, timeouts }: Failover,
  member: Member,
  token: string | undefined,
  signal: AbortSignal | undefined,
): Promise<MemberStatus> {
  const done = new AbortController();
  const ended = AbortSignal.any(signal ? [done.signal, signal] : [done.signal]);
  const { endpoint } = member;
  const late = clock.sleep(timeouts.attempt, ended).then(() => {
    throw new MemberError("unavailable", "retry", `${endpoint}: no answer within ${timeouts.attempt} ms`);
  });
  const start = clock.now();
  try {
    const answer = await Promise.race([askStatus(member, token, ended), late]);
    return parseMemberStatus(endpoint, answer as object, clock.now() - start);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof StoreError) return { endpoint, ok: false, error };
    throw error;
  } finally {
    done.abort(OVER);
  }
}

/**
 * Requests the status, once more on a new connection if the first one fails at once: it may have been closed while
 * idle.
 */
async function askStatus(member: Member, token: string | undefined, signal: AbortSignal): Promise<unknown> {
  try {
    return await member.call("status", {}, { signal, token, fresh: false });
  } catch (error) {
    if (signal.aborted || !(error instanceof MemberError) || error.advice !== "retry") throw error;
    return await member.call("status", {}, { signal, token, fresh: true });
  }
}
