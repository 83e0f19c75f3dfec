import { OVER } from "../base/wait.ts";
import type { SessionOwner, SessionProof } from "../etcd/session/session.ts";
import type { SessionLost } from "../etcd/session/session-lost.ts";
import type { Store } from "../etcd/store.ts";
import type { AcquireResult, Grant } from "./acquire.ts";
import { claimWithRetries, describeRefusal } from "./claim.ts";
import { BusyError, ClaimLostError, type LossKind } from "./claim-errors.ts";
import { ClaimWatch } from "./claim-watch.ts";
import { finishClaim } from "./finish.ts";
import { buildHistoryUpdate } from "./history-update.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";

/** A claim held by this process: it is renewed and watched, and it signals a loss in time. */
export interface HeldClaim {
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
  /** Reading of `clock.now()`, ms, after which nothing may rely on the claim. Every renewal moves it. */
  getHorizon(): number;
  /** Calls the listener whenever the horizon has moved. @returns a function that removes the listener */
  onExtended(listener: () => void): () => void;
  /** Aborts the signal with a loss of kind `closed`; the claim remains held until it is released. */
  abandon(why: string): void;
  /**
   * Frees the claim once, and adds the run to the lock's history if a history is kept. Never rejects.
   * @param exit  exit code for the history, unless the claim was lost; default 0, for success
   */
  release(exit?: number): Promise<void>;
}

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
  const kept = new WatchedClaim(acquired.grant);
  try {
    await kept.begin(signal);
    return kept;
  } catch (error) {
    await kept.release();
    throw error;
  }
}

/** Holds a granted claim; the counterpart of CommandSupervisor for claims without a command. */
class WatchedClaim implements HeldClaim, SessionOwner {
  readonly token: string;
  readonly run: string;
  readonly lockKey: string | undefined;
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
    this.#watch = new ClaimWatch(grant, ({ kind, why }) => this.#lose(kind, why));
    this.token = String(grant.entries[0]?.createRevision);
    this.run = grant.attempt.run;
    this.lockKey = grant.attempt.lockKey;
    this.signal = this.#lost.signal;
  }

  /** Starts renewing and watching the claim. @throws ClaimLostError, SessionLost, the signal's reason */
  async begin(leave: AbortSignal): Promise<void> {
    const { session } = this.#grant.attempt;
    session.keepAlive(this);
    session.signal.addEventListener("abort", () => this.#handleSessionLost(), { once: true });
    if (session.signal.aborted) this.#handleSessionLost();
    await this.#watch
      .waitForHorizon(() => this.#lost.signal.aborted, leave)
      .catch((error) => {
        leave.throwIfAborted();
        this.#lost.signal.throwIfAborted();
        throw error;
      });
    this.#lost.signal.throwIfAborted();
    void this.#watch.waitUntilHorizonNear(this.#over.signal).then(() => {
      this.#lose("horizon", "the session could not be renewed in time");
    });
    void this.#watch.follow(0, this.#over.signal);
    this.#startHoldLimit();
  }

  prove(store?: Store): Promise<SessionProof> {
    return this.#watch.prove(store);
  }

  onHorizonMoved(): void {
    for (const listener of this.#listeners) listener();
  }

  getHorizon(): number {
    return this.#grant.attempt.session.horizon;
  }

  onExtended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  abandon(why: string): void {
    this.#lose("closed", why);
  }

  release(exit = 0): Promise<void> {
    this.#freed ??= this.#freeOnce(exit);
    return this.#freed;
  }

  async #freeOnce(exit: number): Promise<void> {
    this.#over.abort(OVER);
    const { aborted, reason } = this.#lost.signal;
    const end = aborted ? { exit: reason.exitCode, reason: reason.message } : { exit, reason: undefined };
    const update = buildHistoryUpdate(this.#grant, end);
    await finishClaim({ grant: this.#grant, historyUpdate: update, graceUntil: undefined });
    this.#listeners.clear();
  }

  #startHoldLimit(): void {
    const { maxHold } = this.#grant.attempt.request;
    if (maxHold === undefined) return;
    const expire = () => this.#lose("overdue", "it was held too long");
    void this.#ports.clock.sleep(maxHold, this.#over.signal).then(expire, () => {});
  }

  #handleSessionLost(): void {
    const { kind, message } = this.#grant.attempt.session.signal.reason as SessionLost;
    this.#lose(kind === "horizon" ? "horizon" : "gone", message);
  }

  #lose(kind: LossKind, why: string): void {
    if (this.#over.signal.aborted || this.#lost.signal.aborted) return;
    this.#ports.log.warn("the claim was lost", { why });
    this.#lost.abort(new ClaimLostError(kind, `the claim was lost: ${why}`));
  }
}
