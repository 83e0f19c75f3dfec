import type { SessionProof, TicketVersion } from "../etcd/session/session.ts";
import { type Store, StoreError, type WatchEvent } from "../etcd/store.ts";
import { waitForChange } from "../etcd/wait-for-change.ts";
import type { Grant } from "./acquire.ts";
import { type ClaimLoss, findLossInEvents, inspectClaim } from "./inspect.ts";
import type { ClaimPorts } from "./request.ts";

/**
 * How often a claim that is watched is read, in times to live of its session. Each renewal proves it too, so this matters
 * only if both the watch and the renewals fail without an error.
 */
const REREAD = 10;

/** Called when a claim is lost. */
type LossListener = (loss: ClaimLoss) => void;

/** Watches a held claim for every kind of loss except the loss of its session. */
export class ClaimWatch {
  readonly #ports: ClaimPorts;
  readonly #grant: Grant;
  readonly #lose: LossListener;

  constructor(grant: Grant, lose: LossListener) {
    this.#ports = grant.attempt.ports;
    this.#grant = grant;
    this.#lose = lose;
  }

  /** The tickets of the claim. Undefined if it also depends on a group. */
  listTickets(): readonly TicketVersion[] | undefined {
    const { entries, attempt } = this.#grant;
    return attempt.request.group === undefined ? entries : undefined;
  }

  /** Called by the session: checks that the claim still exists. This also detects a reset when the watch is broken. */
  async prove(store?: Store): Promise<SessionProof> {
    const { entries, attempt } = this.#grant;
    const { signal } = attempt.session; // not the end of the claim, which is still being freed then
    const { raftTerm, loss } = await inspectClaim(attempt, entries, signal, store);
    if (loss !== undefined) this.#lose(loss);
    return { raftTerm, fault: loss?.kind === "gone" ? loss.why : undefined };
  }

  /** Returns the reading of the clock, in ms, at which the work that relies on the claim must be asked to end. */
  getTermTime(): number {
    return this.#grant.attempt.session.horizon - this.#grant.attempt.request.terminationTimeout;
  }

  /**
   * Waits until the time to the horizon is longer than the termination timeout. The next renewal extends it, or the
   * session is lost.
   * @param isOver  checked while waiting: the read that goes with a renewal may end the claim, for example on a reset
   * @throws SessionLost, or the signal's reason
   */
  async waitForHorizon(isOver: () => boolean, leave: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const either = AbortSignal.any([this.#grant.attempt.session.signal, leave]);
    const { session } = this.#grant.attempt;
    while (!isOver() && (session.isDoubted || this.getTermTime() <= clock.now()))
      await clock.sleep(100, either);
    either.throwIfAborted();
  }

  /** Resolves at `getTermTime()`, or when `over` aborts. */
  async waitUntilHorizonNear(over: AbortSignal): Promise<void> {
    const { session } = this.#grant.attempt;
    await session.waitUntilHorizonNear(this.#grant.attempt.request.terminationTimeout, over).catch(() => {}); // `over` was aborted
  }

  /**
   * Reports losses caused by others, until `over` aborts or the session is lost.
   * @param after ms before the first read
   */
  async follow(after: number, over: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#grant.attempt.session.signal, over]);
    await this.#ports.clock.sleep(after, signal).catch(() => {}); // `over` was aborted
    while (!signal.aborted) {
      await this.#checkOnce(signal).catch((error) => this.#handleFailure(error, signal));
    }
  }

  async #checkOnce(signal: AbortSignal): Promise<void> {
    const { entries, attempt } = this.#grant;
    const { revision, loss } = await inspectClaim(attempt, entries, signal);
    if (loss !== undefined) this.#lose(loss);
    const groups = attempt.request.group === undefined ? [] : [this.#ports.keys.groups()];
    const ranges = [...entries.map(({ key }) => ({ key })), ...groups];
    const request = { ranges, from: revision + 1n };
    await waitForChange(this.#ports, request, REREAD * attempt.session.ttl, signal, (events) =>
      this.#reportEvents(events),
    );
  }

  #reportEvents(events: readonly WatchEvent[]): void {
    const loss = findLossInEvents(this.#grant.entries, events);
    if (loss !== undefined) this.#lose(loss);
  }

  async #handleFailure(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const isExpected = error instanceof StoreError && error.kind === "unavailable";
    if (!isExpected) this.#ports.log.warn("watching the claim failed", { error: String(error) });
    await this.#ports.clock.sleep(500, signal).catch(() => {});
  }
}
