import type { Clock } from "../../base/clock.ts";
import type { ScheduledTask } from "../handler.ts";

/** Why a request was aborted. */
export type RequestEnding = "task" | "timeout" | "horizon";

/** How long before the horizon a request is aborted, ms. */
const MARGIN = 500;
/** Pause between looks whether the horizon has moved, ms. */
const LOOK = 100;

/** Aborts the request of a task when the task ends, its timeout passes, or the horizon comes near. */
export class RequestDeadline {
  readonly #clock: Clock;
  readonly #task: ScheduledTask;
  readonly #request = new AbortController();
  readonly #over = new AbortController();
  #horizonTimer = new AbortController();
  #stopListening = () => {};
  #ending: RequestEnding | undefined;

  constructor(clock: Clock, task: ScheduledTask) {
    this.#clock = clock;
    this.#task = task;
  }

  /** Aborted when the request must end. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** Why the request was aborted; undefined if it was not. */
  get ending(): RequestEnding | undefined {
    return this.#ending;
  }

  /**
   * Waits until a request has time before the horizon, and begins to watch.
   * @param timeout  ms until the request is aborted
   * @throws the task's reason if the task has ended
   */
  async start(timeout: number): Promise<void> {
    const { signal } = this.#task;
    while (this.#computeTimeLeft() <= 0) await this.#clock.sleep(LOOK, signal);
    signal.throwIfAborted();
    signal.addEventListener("abort", () => this.#end("task"), { once: true, signal: this.#over.signal });
    this.#clock.sleep(timeout, this.#over.signal).then(() => this.#end("timeout"), doNothing);
    this.#stopListening = this.#task.onExtended(() => this.#watchHorizon());
    this.#watchHorizon();
  }

  /** Stops watching. */
  close(): void {
    this.#stopListening();
    this.#over.abort();
    this.#horizonTimer.abort();
  }

  #computeTimeLeft(): number {
    return this.#task.getHorizon() - MARGIN - this.#clock.now();
  }

  #watchHorizon(): void {
    this.#horizonTimer.abort();
    this.#horizonTimer = new AbortController();
    const left = this.#computeTimeLeft();
    if (left <= 0) return this.#end("horizon");
    this.#clock.sleep(left, this.#horizonTimer.signal).then(() => this.#watchHorizon(), doNothing);
  }

  #end(ending: RequestEnding): void {
    if (this.#over.signal.aborted) return;
    this.#ending = ending;
    this.close();
    this.#request.abort();
  }
}

const doNothing = () => {};
