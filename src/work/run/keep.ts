import type { Keeper, Proof, SessionLost } from "../../etcd/session.ts";
import type { Acquired, Grant } from "./acquire.ts";
import { claim } from "./claim.ts";
import { BusyError, ClaimLostError, type LossKind } from "./claim-errors.ts";
import { finish } from "./finish.ts";
import { memoryOf } from "./memory.ts";
import { describeRefusal } from "./refused.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";
import { ClaimWatch } from "./watch.ts";

/** A claim that is held in this process: renewed, watched, and told of its end in time. */
export interface HeldClaim {
  /** The fencing token: the first ticket's `create_revision`. Grows from holder to holder. */
  readonly token: string;
  readonly run: string;
  /** Undefined where no lock was asked for. */
  readonly lockKey: string | undefined;
  /**
   * Aborted with a ClaimLostError when the claim is gone, was reset, has been held longer than `maxHold`, or when the
   * termination timeout before the horizon begins. It is not aborted by `release`.
   */
  readonly signal: AbortSignal;
  /** Instant on `clock.now()`, ms, by which nothing may rely on the claim any more. It moves with every renewal. */
  horizon(): number;
  /** Told whenever the horizon has moved. @returns a function that ends that */
  onExtended(listener: () => void): () => void;
  /** Aborts the signal, as a loss of kind `closed`; the claim is held until it is released. */
  abandon(why: string): void;
  /**
   * Frees it, once; remembers the run in the lock's history where there is one. Never rejects.
   * @param exit  for the history, unless the claim was lost: 0 where all went well, the default
   */
  release(exit?: number): Promise<void>;
}

/**
 * Claims a lock, leases or both, waiting as `request` says, and holds them until `release`.
 * @throws BusyError when it was refused, StoreError, SignalboxError, the signal's reason
 */
export async function acquireClaim(
  ports: ClaimPorts,
  request: ClaimRequest,
  signal: AbortSignal,
): Promise<HeldClaim> {
  signal.throwIfAborted();
  const acquired: Acquired = await claim(ports, request, signal);
  if (acquired.kind === "refused") {
    throw new BusyError(acquired.refusal.kind, describeRefusal(request, acquired.refusal));
  }
  const kept = new KeptClaim(ports, request, acquired.grant);
  try {
    await kept.begin(signal);
    return kept;
  } catch (error) {
    await kept.release();
    throw error;
  }
}

/** Holds what was granted; the counterpart, without a command, of what a run holds. */
class KeptClaim implements HeldClaim, Keeper {
  readonly token: string;
  readonly run: string;
  readonly lockKey: string | undefined;
  readonly signal: AbortSignal;
  readonly #ports: ClaimPorts;
  readonly #request: ClaimRequest;
  readonly #grant: Grant;
  readonly #watch: ClaimWatch;
  readonly #lost = new AbortController();
  readonly #over = new AbortController();
  readonly #listeners = new Set<() => void>();
  #freed: Promise<void> | undefined;

  constructor(ports: ClaimPorts, request: ClaimRequest, grant: Grant) {
    this.#ports = ports;
    this.#request = request;
    this.#grant = grant;
    this.#watch = new ClaimWatch(ports, request, grant, ({ kind, why }) => this.#lose(kind, why));
    this.token = String(grant.places[0]?.createRevision);
    this.run = grant.attempt.run;
    this.lockKey = grant.attempt.lockKey;
    this.signal = this.#lost.signal;
  }

  /** From here on it is renewed and watched. @throws ClaimLostError, SessionLost, the signal's reason */
  async begin(leave: AbortSignal): Promise<void> {
    const { session } = this.#grant.attempt;
    session.keep(this);
    session.signal.addEventListener("abort", () => this.#sessionLost(), { once: true });
    if (session.signal.aborted) this.#sessionLost();
    await this.#watch
      .enoughHorizon(() => this.#lost.signal.aborted, leave)
      .catch((error) => {
        leave.throwIfAborted();
        this.#lost.signal.throwIfAborted();
        throw error;
      });
    this.#lost.signal.throwIfAborted();
    void this.#watch.horizonNear(this.#over.signal).then(() => {
      this.#lose("horizon", "the session could not be renewed in time");
    });
    void this.#watch.follow(0, this.#over.signal);
    this.#limit();
  }

  prove(): Promise<Proof> {
    return this.#watch.prove();
  }

  extended(): void {
    for (const listener of this.#listeners) listener();
  }

  horizon(): number {
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
    this.#freed ??= this.#free(exit);
    return this.#freed;
  }

  async #free(exit: number): Promise<void> {
    this.#over.abort();
    const { aborted, reason } = this.#lost.signal;
    const end = aborted ? { exit: reason.exitCode, reason: reason.message } : { exit, reason: undefined };
    const memory = memoryOf(this.#ports, this.#request, this.#grant, end);
    await finish(this.#ports, { grant: this.#grant, memory, graceUntil: undefined });
    this.#listeners.clear();
  }

  #limit(): void {
    const { maxHold } = this.#request;
    if (maxHold === undefined) return;
    const overdue = () => this.#lose("overdue", "it was held too long");
    void this.#ports.clock.sleep(maxHold, this.#over.signal).then(overdue, () => {});
  }

  #sessionLost(): void {
    const { kind, message } = this.#grant.attempt.session.signal.reason as SessionLost;
    this.#lose(kind === "horizon" ? "horizon" : "gone", message);
  }

  #lose(kind: LossKind, why: string): void {
    if (this.#over.signal.aborted || this.#lost.signal.aborted) return;
    this.#ports.log.warn("the claim was lost", { why });
    this.#lost.abort(new ClaimLostError(kind, `the claim was lost: ${why}`));
  }
}
