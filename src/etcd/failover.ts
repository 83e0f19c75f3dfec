import type { Clock } from "../base/clock.ts";
import { type Attempt, FailoverCall, type Pool, type Timeouts } from "./failover-call.ts";
import type { Member } from "./member.ts";
import { StoreError } from "./store.ts";

export const DEFAULT_TIMEOUTS: Timeouts = { attempt: 2000, hedge: 600, total: 6000, probe: 10_000 };

/** Runs each call on the member that answered last, and on others when it does not answer. */
export class Failover implements Pool {
  readonly members: readonly Member[];
  readonly clock: Clock;
  readonly timeouts: Timeouts;
  onSuspect: (member: Member) => void = () => {};
  preferred: number;
  readonly #calls = new Set<{ abort(reason: unknown): void }>();
  #closed: StoreError | undefined;

  constructor(members: readonly Member[], clock: Clock, timeouts: Timeouts, preferred = 0) {
    this.members = members;
    this.clock = clock;
    this.timeouts = timeouts;
    this.preferred = preferred;
  }

  /**
   * @param attempt one try on one member; its signal is aborted when it lost, never when it won
   * @param discard gets the value of an attempt that succeeded after another had won
   * @throws StoreError `unavailable` with the causes; a member's final error; the signal's reason
   */
  async run<T>(attempt: Attempt<T>, signal?: AbortSignal, discard?: (late: T) => void): Promise<T> {
    signal?.throwIfAborted();
    if (this.#closed) throw this.#closed;
    const call = new FailoverCall(this, attempt, discard);
    // A caller whose time is up wants to know what was met so far.
    const onAbort = () => (isLate(signal?.reason) ? call.giveUp() : call.abort(signal?.reason));
    signal?.addEventListener("abort", onAbort);
    this.#calls.add(call);
    try {
      return await call.start();
    } finally {
      this.#calls.delete(call);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Fails every call under way and all to come. */
  close(): void {
    this.#closed ??= new StoreError("unavailable", "the connection to etcd was closed");
    for (const call of this.#calls) call.abort(this.#closed);
    for (const member of this.members) member.close();
  }
}

function isLate(reason: unknown): boolean {
  return reason instanceof StoreError && reason.kind === "unavailable";
}
