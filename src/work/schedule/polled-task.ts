import { AlreadyFinishedError, PreemptedError } from "../../schedule/errors.ts";
import type { Outcome } from "../../schedule/outcome.ts";
import type { Claimed } from "./claim.ts";
import type { SchedulePorts } from "./ports.ts";
import type { Presence } from "./presence.ts";
import { outcomeOf, type Settled, settle } from "./settle.ts";

/** How long it is tried to settle a task, ms. */
const SETTLE_WITHIN = 10_000;

/** What a task needs of the poller that took it. */
export interface Desk {
  presence: Presence;
  settled(how: Settled): void;
}

/** A task that a program has taken. */
export class PolledTask {
  readonly claimed: Claimed;
  /** Wall clock, ms since the epoch, until which a heartbeat is waited for. */
  aliveUntil: number;
  readonly #ports: SchedulePorts;
  readonly #aliveTime: number;
  readonly #desk: Desk;
  #state: "taken" | "finished" | "given back" = "taken";

  constructor(ports: SchedulePorts, claimed: Claimed, aliveTime = Number.POSITIVE_INFINITY, desk: Desk) {
    this.#ports = ports;
    this.claimed = claimed;
    this.#aliveTime = aliveTime;
    this.#desk = desk;
    this.aliveUntil = ports.clock.wall() + aliveTime;
  }

  /** Aborted when the session is lost, and the task with it. */
  get signal(): AbortSignal {
    return this.#desk.presence.session.signal;
  }

  /**
   * Says that the task is being worked on.
   * @throws PreemptedError when it is not ours any more, AlreadyFinishedError, StoreError
   */
  async heartbeat(): Promise<void> {
    this.#mustBeTaken();
    const { store } = this.#ports;
    const { kvs } = await store.range({ key: this.claimed.key });
    if (kvs[0]?.createRevision !== this.claimed.token) throw this.#preempted();
    this.aliveUntil = this.#ports.clock.wall() + this.#aliveTime;
  }

  /** The task is done; the schedule's next occurrence counts from its scheduled time. @throws as `heartbeat` */
  finish(): Promise<void> {
    return this.#settle({ result: "ok" }, "finished");
  }

  /** The same occurrence again after `wait` ms; default 300 s. @throws as `heartbeat` */
  retry(wait?: number): Promise<void> {
    return this.#settle({ result: "retry" }, "finished", wait);
  }

  /** It failed: again as the schedule's retries allow. @throws as `heartbeat` */
  fail(reason: string): Promise<void> {
    return this.#settle({ result: "failed", reason }, "finished");
  }

  /** The same occurrence again at once, by anybody. @throws as `heartbeat` */
  release(reason?: string): Promise<void> {
    return this.#settle({ result: "released", ...(reason !== undefined && { reason }) }, "given back");
  }

  async #settle(
    verdict: Pick<Outcome, "result" | "reason">,
    state: "finished" | "given back",
    wait?: number,
  ): Promise<void> {
    this.#mustBeTaken();
    const { clock } = this.#ports;
    const outcome = outcomeOf(this.claimed, verdict, clock.wall());
    const settled = await settle(this.#ports, this.claimed, { outcome, wait }, clock.now() + SETTLE_WITHIN);
    this.#state = state;
    this.#desk.settled(settled);
    if (settled.kind === "preempted") throw this.#preempted();
  }

  #mustBeTaken(): void {
    const { id, running } = this.claimed;
    const what = `the task of ${id} for ${new Date(running.scheduled).toISOString()}`;
    if (this.#state === "finished") throw new AlreadyFinishedError(`${what} is finished already`);
    if (this.#state === "given back") throw new PreemptedError(`${what} was given back already`);
  }

  #preempted(): PreemptedError {
    const { id, running } = this.claimed;
    return new PreemptedError(
      `the task of ${id} for ${new Date(running.scheduled).toISOString()} is another's now`,
    );
  }
}
