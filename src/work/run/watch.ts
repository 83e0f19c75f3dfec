import { changed } from "../../etcd/changed.ts";
import type { Proof } from "../../etcd/session.ts";
import { StoreError } from "../../etcd/store.ts";
import type { Grant } from "./acquire.ts";
import { inspect, type Loss } from "./inspect.ts";
import type { ClaimPorts, ClaimRequest } from "./request.ts";

/** What is done about a claim that was lost. */
export type OnLoss = (loss: Loss) => void;

/** Watches a claim that is held, in every way in which it can be lost but with its session. */
export class ClaimWatch {
  readonly #ports: ClaimPorts;
  readonly #request: ClaimRequest;
  readonly #grant: Grant;
  readonly #lose: OnLoss;

  constructor(ports: ClaimPorts, request: ClaimRequest, grant: Grant, lose: OnLoss) {
    this.#ports = ports;
    this.#request = request;
    this.#grant = grant;
    this.#lose = lose;
  }

  /** For the session: whether the claim still stands. A reset is noticed here too, should the watch be dead. */
  async prove(): Promise<Proof> {
    const { places, attempt } = this.#grant;
    const { signal } = attempt.session; // not that of the claim's end: it is still being freed then
    const { raftTerm, loss } = await inspect(this.#ports, this.#request, places, signal);
    if (loss !== undefined) this.#lose(loss);
    return { raftTerm, fault: loss?.kind === "gone" ? loss.why : undefined };
  }

  /** The instant on the clock, ms, at which what relies on the claim must be told to end. */
  termAt(): number {
    return this.#grant.attempt.session.horizon - this.#request.terminationTimeout;
  }

  /**
   * Waits until there is time to work: the next renewal makes room, or none does.
   * @param isOver  looked at meanwhile: what a renewal reads may end the claim, a reset for one
   * @throws SessionLost, or the signal's reason
   */
  async enoughHorizon(isOver: () => boolean, leave: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const either = AbortSignal.any([this.#grant.attempt.session.signal, leave]);
    while (!isOver() && this.termAt() <= clock.now()) await clock.sleep(100, either);
    either.throwIfAborted();
  }

  /** Resolves when `termAt` has passed, or with `over`. */
  async horizonNear(over: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    while (!over.aborted && clock.now() < this.termAt()) {
      await clock.sleep(this.termAt() - clock.now(), over).catch(() => {});
    }
  }

  /** Reports what others do to the claim, until `over` or the session is lost. @param after ms before the first look */
  async follow(after: number, over: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#grant.attempt.session.signal, over]);
    await this.#ports.clock.sleep(after, signal).catch(() => {}); // over already
    while (!signal.aborted) {
      await this.#once(signal).catch((error) => this.#failed(error, signal));
    }
  }

  async #once(signal: AbortSignal): Promise<void> {
    const { places, attempt } = this.#grant;
    const { revision, loss } = await inspect(this.#ports, this.#request, places, signal);
    if (loss !== undefined) this.#lose(loss);
    const groups = this.#request.group === undefined ? [] : [this.#ports.keys.groups()];
    const ranges = [...places.map(({ key }) => ({ key })), ...groups];
    await changed(this.#ports, { ranges, from: revision + 1n }, attempt.session.ttl, signal);
  }

  async #failed(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const isExpected = error instanceof StoreError && error.kind === "unavailable";
    if (!isExpected) this.#ports.log.warn("watching the claim failed", { error: String(error) });
    await this.#ports.clock.sleep(500, signal).catch(() => {});
  }
}
