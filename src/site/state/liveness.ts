import { formatDuration, type Millis, type Seconds, type WallTime } from "../../core/base/clock.ts";
import { memoizeWeakly } from "../../core/base/memoize.ts";
import type { HostRecord } from "../../core/fleet/host-record.ts";
import { HOST_RECORD_INTERVAL } from "../../core/fleet/host-record.ts";

/**
 * State of a session in etcd: seconds left and time to live (whole seconds). `isShared`: an agent uses it for many runs.
 * Undefined if the session is gone.
 */
export type SessionLiveness = { left: Seconds; ttl: Seconds; isShared?: boolean } | undefined;

/**
 * Whether a runner is alive. `alive`: it renewed its session in time. `quiet`: the renewal is late, so the runner is
 * frozen, disconnected or gone; its guardian ends the command before the session ends. `gone`: its session has ended.
 * `agent`: its agent renewed the session in time, which does not show whether this run is alive; the agent removes the
 * tickets of runs that have ended. `unknown`: the session could not be read.
 */
export type LivenessVerdict = "alive" | "agent" | "quiet" | "gone" | "unknown";

export interface RunnerLiveness {
  verdict: LivenessVerdict;
  /** Text for people: `its session was renewed 3s ago`. */
  text: string;
  /** Whole seconds until the session ends without a renewal. */
  left: Seconds | undefined;
}

/** Share of the time to live after which a renewal is late. Runners renew after every sixth of it. */
const LATE_RENEWAL_SHARE = 1 / 2;

/**
 * Determines the liveness of a runner from its session. etcd counts whole seconds, and restarts every session in full
 * when its leader changes. A runner may therefore appear alive for one time to live after its end.
 * @param session  undefined: the session is gone; `null`: it could not be read
 */
export function judgeRunnerLiveness(session: SessionLiveness | null | undefined): RunnerLiveness {
  if (session === null) return { verdict: "unknown", text: "its session could not be read", left: undefined };
  if (session === undefined) return { verdict: "gone", text: "its session is over", left: undefined };
  return judgeSession(session);
}

/** Judges a session once for all its runs. */
const judgeSession = memoizeWeakly(
  ({ left, ttl, isShared = false }: NonNullable<SessionLiveness>): RunnerLiveness => {
    const ago = formatDuration(Math.max(0, ttl - left) * 1000);
    if (ttl - left <= Math.max(1, Math.ceil(ttl * LATE_RENEWAL_SHARE)))
      return isShared
        ? { verdict: "agent", text: `its agent renewed the session of its runs ${ago} ago`, left }
        : { verdict: "alive", text: `its session was renewed ${ago} ago`, left };
    const text = `${isShared ? "the session of its agent" : "its session"} was not renewed for ${ago}, and ends in ${formatDuration(left * 1000)}`;
    return { verdict: "quiet", text, left };
  },
);

/** Whether the session is renewed in time. That of an agent proves nothing of a run, but is no reason to doubt it. */
export function isSessionRenewed({ verdict }: Pick<RunnerLiveness, "verdict">): boolean {
  return verdict === "alive" || verdict === "agent";
}

/**
 * Returns the age of a host record, ms; undefined without a record. Hosts write the record at intervals of
 * `HOST_RECORD_INTERVAL`, so the age of a live host may be that high.
 */
export function computeSeenAgo(record: HostRecord | undefined, wall: WallTime): number | undefined {
  return record === undefined || record.seenAt <= 0 ? undefined : Math.max(0, wall - record.seenAt);
}

/** Whether a host was seen within a time. @param within  ms; one `HOST_RECORD_INTERVAL` is added to it */
export function isSeenWithin(record: HostRecord | undefined, within: Millis, wall: WallTime): boolean {
  const ago = computeSeenAgo(record, wall);
  return ago !== undefined && ago <= within + HOST_RECORD_INTERVAL;
}
