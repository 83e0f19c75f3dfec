import { StoreError, type StoreErrorKind } from "./store.ts";

/** The etcd calls that the store port needs. */
export type Rpc =
  | "authenticate"
  | "grant"
  | "renew"
  | "remaining"
  | "leases"
  | "revoke"
  | "range"
  | "txn"
  | "status"
  | "roster"
  | "users"
  | "user"
  | "roles"
  | "role";

/**
 * The narrower port behind the store port: one cluster member over one transport. wire-codec.ts builds the requests.
 */
export interface Member {
  /** URL, for messages. */
  readonly endpoint: string;
  /**
   * Makes one attempt of one call, without retries.
   * @param options.fresh do not reuse a connection: an open one may be dead without an error
   * @param options.token token of a login; also for watches
   * @throws MemberError; soon after the signal is aborted, any error
   */
  call(rpc: Rpc, request: object, options: AttemptOptions): Promise<unknown>;
  /** Opens a stream for watches. Watching starts only with a create request. Ends when the signal is aborted. */
  openWatchStream(signal: AbortSignal, token?: string): Promise<WatchStream>;
  close(): void;
}

export interface AttemptOptions {
  signal: AbortSignal;
  fresh: boolean;
  token?: string | undefined;
}

export interface WatchStream {
  /** Sends a watch request. Does nothing on a stream that has ended. */
  send(request: object): void;
  /** @throws MemberError, or the signal's reason */
  responses: AsyncIterator<unknown>;
}

/**
 * How failover handles a failed attempt: `retry` on any member; `elsewhere` only (this member will not recover within
 * the call); `relogin` (the token is stale); or `final` (every member would return the same error).
 */
export type Advice = "retry" | "elsewhere" | "relogin" | "final";

/** A StoreError from one member, with advice for failover. */
export class MemberError extends StoreError {
  readonly advice: Advice;

  constructor(kind: StoreErrorKind, advice: Advice, message: string, options?: { cause?: unknown }) {
    super(kind, message, options);
    this.advice = advice;
  }
}

/**
 * Builds the error of a call that failed on several members.
 * @param kind  by default the one that all have, else `unavailable`
 */
export function joinErrors(causes: readonly StoreError[], kind?: StoreErrorKind): StoreError {
  const [first] = causes;
  const isSame = causes.every((cause) => cause.kind === first?.kind);
  const text = [...new Set(causes.map(({ message }) => message))].join("; ");
  const cause = new AggregateError(causes);
  return new StoreError(kind ?? (first && isSame ? first.kind : "unavailable"), text, { cause });
}
