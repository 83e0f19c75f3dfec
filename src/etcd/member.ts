import { StoreError, type StoreErrorKind } from "./store.ts";

/** The calls of etcd that the store port needs. */
export type Rpc = "grant" | "renew" | "remaining" | "revoke" | "range" | "txn" | "status" | "roster";

/** The narrower port behind the store port: one member of the cluster over one transport. Requests are wire.ts's. */
export interface Member {
  /** URL, for messages. */
  readonly endpoint: string;
  /**
   * One attempt of one call. Nothing is retried here but an expired token.
   * @param options.fresh do not use a connection that was opened before: it may be dead without our knowing
   * @throws MemberError; anything, soon, once the signal is aborted
   */
  call(rpc: Rpc, request: object, options: AttemptOptions): Promise<unknown>;
  /** Opens a stream for watches; nothing is watched until a create request is sent. Ends when the signal is aborted. */
  stream(signal: AbortSignal): Promise<WatchStream>;
  /** Drops the authentication token. @returns whether there was one, so that another try makes sense */
  forgetToken(): boolean;
  close(): void;
}

export interface AttemptOptions {
  signal: AbortSignal;
  fresh: boolean;
}

export interface WatchStream {
  /** Sends a watch request. Does nothing on a stream that has ended. */
  send(request: object): void;
  /** Throws MemberError, or the signal's reason. */
  responses: AsyncIterator<unknown>;
}

/**
 * What failover does about a failed attempt: `retry` here or elsewhere, `elsewhere` only (this member will not get
 * better within the call), `relogin` (the token is stale), or `final` (every member would say the same).
 */
export type Advice = "retry" | "elsewhere" | "relogin" | "final";

/** A StoreError of one member, with what to do about it. */
export class MemberError extends StoreError {
  readonly advice: Advice;

  constructor(kind: StoreErrorKind, advice: Advice, message: string, options?: { cause?: unknown }) {
    super(kind, message, options);
    this.advice = advice;
  }
}
