import { Session, type SessionOwner } from "../etcd/session/session.ts";
import type { Store } from "../etcd/store.ts";

/** The session of an attempt, as its claim uses it: a `Session` of its own, or the share of one that many runs use. */
export interface ClaimSession
  extends Pick<
    Session,
    | "id"
    | "signal"
    | "grantTerm"
    | "horizon"
    | "isDoubted"
    | "ttl"
    | "waitUntilHorizonNear"
    | "stopRenewing"
    | "lose"
  > {
  /** Renews until the session is lost. A later owner replaces an earlier one. */
  keepAlive(owner: SessionOwner): void;
  /**
   * Ends the use of the session by this attempt.
   * @param until  instant on the clock until which an unreachable etcd is retried
   * @param keys   keys of the attempt that may still exist; they are removed
   */
  end(until: number, keys: readonly string[]): Promise<void>;
}

/** A session for one attempt, and the store for every transaction of that attempt. */
export interface OpenedSession {
  session: ClaimSession;
  store: Store;
}

/** Opens sessions for attempts. */
export interface SessionSource {
  /**
   * Opens a session for a new attempt.
   * @param until  instant on the clock until which an unreachable etcd is retried
   * @throws StoreError, or the signal's reason
   */
  open(user: SessionUser, until: number, signal: AbortSignal): Promise<OpenedSession>;
  /** Opens the session of an attempt that another process began. Returns undefined when that session is gone. */
  resume?(
    user: SessionUser & { session: bigint },
    until: number,
    signal: AbortSignal,
  ): Promise<OpenedSession | undefined>;
}

/** The attempt that needs a session. */
export interface SessionUser {
  run: string;
  /** Time to live, in whole seconds. */
  ttl: number;
}

/** Opens a session of its own for each attempt. */
export function createOwnSessions(ports: Parameters<typeof Session.open>[0]): SessionSource {
  return {
    open: async ({ ttl }, until, signal) => ({
      session: await Session.open(ports, ttl, until, signal),
      store: ports.store,
    }),
  };
}
