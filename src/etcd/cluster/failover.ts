import type { Clock } from "../../base/clock.ts";
import type { Member } from "../member.ts";
import { StoreError } from "../store.ts";
import type { Timeouts } from "../timeouts.ts";
import { type Attempt, FailoverCall, type FailoverContext } from "./failover-call.ts";
import { MemberLatency } from "./member-latency.ts";

export const DEFAULT_TIMEOUTS: Timeouts = {
  attempt: 2000,
  hedge: 600,
  total: 6000,
  probe: 10_000,
  login: 10_000,
};

/** Runs each call on the member that answered last, and on others when it does not answer. */
export class Failover implements FailoverContext {
  readonly members: readonly Member[];
  readonly clock: Clock;
  readonly timeouts: Timeouts;
  readonly latency = new MemberLatency();
  onSuspect: (member: Member) => void = () => {};
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
    const call = new FailoverCall(this, attempt, discard);
    // At the caller's deadline, report the errors so far.
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

  /** Fails all current and future calls. */
  close(): void {
    this.#closing.abort(new StoreError("unavailable", "the connection to etcd was closed"));
    for (const call of this.#calls) call.abort(this.closed.reason);
    for (const member of this.members) member.close();
  }
}

function isLate(reason: unknown): boolean {
  return reason instanceof StoreError && reason.kind === "unavailable";
}
