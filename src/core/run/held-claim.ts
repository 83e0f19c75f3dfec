import { type MonotonicTime, NO_LONGER_NEEDED } from "../base/clock.ts";
import type { AcquireResult } from "./acquire.ts";
import { claimWithRetries, describeRefusal } from "./claim.ts";
import { BusyError, ClaimLostError, type LossKind } from "./claim-errors.ts";
import { ClaimWatch } from "./claim-watch.ts";
import { finishClaim } from "./finish.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import type { Grant } from "./step.ts";

/**
 * Claims a lock, leases or both, waits as `request` allows, and holds them until `release`.
 * @throws BusyError when the claim is refused, StoreError, SignalboxError, the signal's reason
 */
export async function acquireClaim(
  ports: ClaimPorts,
  request: ClaimRequest,
  signal: AbortSignal,
): Promise<HeldClaim> {
  signal.throwIfAborted();
  const acquired: AcquireResult = await claimWithRetries(ports, request, signal);
  if (acquired.kind === "refused") {
    throw new BusyError(acquired.refusal.kind, describeRefusal(request, acquired.refusal));
  }
  const kept = new HeldClaim(acquired.grant);
  try {
    await kept.begin(signal);
    return kept;
  } catch (error) {
    await kept.release();
    throw error;
  }
}

/**
 * A claim held by this process: it is renewed and watched, and it signals a loss in time. The counterpart of
 * CommandSupervisor for claims without a command.
 */
export class HeldClaim {
  /** The fencing token: the first ticket's `create_revision`. Grows from holder to holder. */
  readonly token: string;
  readonly run: string;
  /** Undefined when the request has no lock. */
  readonly lockKey: string | undefined;
  /**
   * Aborts with a ClaimLostError when the claim is gone, was reset, was held longer than `maxHold`, or when the time to
   * the horizon is no longer than the termination timeout. `release` does not abort it.
   */
  readonly signal: AbortSignal;
  readonly #ports: ClaimPorts;
  readonly #grant: Grant;
  readonly #watch: ClaimWatch;
  readonly #lost = new AbortController();
  readonly #over = new AbortController();
  readonly #listeners = new Set<() => void>();
  #freed: Promise<void> | undefined;

  constructor(grant: Grant) {
    this.#ports = grant.attempt.ports;
    this.#grant = grant;
    this.#watch = new ClaimWatch(
      grant,
      ({ kind, why }) => this.#lose(kind, why),
      () => {
        for (const listener of this.#listeners) listener();
      },
    );
    this.token = String(grant.entries[0]?.createRevision);
    this.run = grant.attempt.run;
    this.lockKey = grant.attempt.lockKeys[0];
    this.signal = this.#lost.signal;
  }

  /** Starts renewing and watching the claim. @throws ClaimLostError, SessionLost, the signal's reason */
  async begin(leave: AbortSignal): Promise<void> {
    this.#watch.keepAlive();
    this.#watch.followSession();
    await this.#watch
      .waitForHorizon(() => this.#lost.signal.aborted, leave)
      .catch((error) => {
        leave.throwIfAborted();
        this.#lost.signal.throwIfAborted();
        throw error;
      });
    this.#lost.signal.throwIfAborted();
    void this.#watch.followHorizon(this.#over.signal);
    void this.#watch.follow(0, this.#over.signal);
    this.#startHoldLimit();
  }

  /** Asks etcd whether the claim still exists, with a linearizable read. @throws StoreError */
  async isCurrent(): Promise<boolean> {
    const [entry] = this.#grant.entries;
    if (entry === undefined || this.#lost.signal.aborted || this.#freed !== undefined) return false;
    const request = { key: entry.key, keysOnly: true, limit: 1 };
    const { kvs } = await this.#ports.store.readRange(request, this.#over.signal);
    return kvs[0]?.createRevision === entry.createRevision;
  }

  /** Instant after which nothing may rely on the claim. Every renewal moves it. */
  getHorizon(): MonotonicTime {
    return this.#grant.attempt.session.horizon;
  }

  /** Calls the listener whenever the horizon has moved. @returns a function that removes the listener */
  onExtended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Aborts the signal with a loss of kind `closed`; the claim remains held until it is released. */
  abandon(why: string): void {
    this.#lose("closed", why);
  }

  /**
   * Frees the claim once, and adds the run to the lock's history if a history is kept. Never rejects.
   * @param exit  exit code for the history, unless the claim was lost; default 0, for success
   */
  release(exit = 0): Promise<void> {
    this.#freed ??= this.#freeOnce(exit);
    return this.#freed;
  }

  async #freeOnce(exit: number): Promise<void> {
    this.#over.abort(NO_LONGER_NEEDED);
    const { aborted, reason } = this.#lost.signal;
    const end = aborted ? { exit: reason.exitCode, reason: reason.message } : { exit, reason: undefined };
    await finishClaim(this.#grant, end);
    this.#listeners.clear();
  }

  #startHoldLimit(): void {
    const { maxHold } = this.#grant.attempt.request;
    if (maxHold === undefined) return;
    const expire = () => this.#lose("overdue", "it was held too long");
    void this.#ports.clock.sleep(maxHold, this.#over.signal).then(expire, () => {});
  }

  #lose(kind: LossKind, why: string): void {
    if (this.#over.signal.aborted || this.#lost.signal.aborted) return;
    this.#ports.log.warn("the claim was lost", { why });
    this.#lost.abort(new ClaimLostError(kind, `the claim was lost: ${why}`));
  }
}
