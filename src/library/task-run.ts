import type { Clock } from "../base/clock.ts";
import { clean } from "../base/text.ts";
import { type Handler, type Task, TaskLost, type Verdict } from "../work/schedule/handler.ts";
import type { TaskHandler, WorkerTask } from "./schedule-types.ts";
import { durationOf } from "./values.ts";

const LONGEST_REASON = 500;

/** Runs tasks by a function of this program. */
export class FunctionHandler implements Handler {
  readonly #handle: TaskHandler;
  readonly #clock: Clock;
  readonly #terminationTimeout: number;

  constructor(handle: TaskHandler, clock: Clock, terminationTimeout: number) {
    this.#handle = handle;
    this.#clock = clock;
    this.#terminationTimeout = terminationTimeout;
  }

  /** Returns when the function has, or when it does not end in time though it was told to. */
  async run(task: Task): Promise<Verdict> {
    const over = new AbortController();
    const timedOut = new AbortController();
    const { timeout } = task.definition;
    if (timeout !== undefined)
      void this.#clock.sleep(timeout, over.signal).then(
        () => timedOut.abort(new Error("the task's timeout has passed")),
        () => {},
      );
    const signal = AbortSignal.any([task.signal, timedOut.signal]);
    try {
      const verdict = await Promise.race([this.#outcome(task, signal), this.#tooLate(task, signal)]);
      if (verdict.result === "ok" || !signal.aborted) return verdict;
      return ended(signal.reason, verdict.reason);
    } finally {
      over.abort();
    }
  }

  async #outcome(task: Task, signal: AbortSignal): Promise<Verdict> {
    let asked: Verdict | undefined;
    const facts: WorkerTask = {
      ...{ id: task.id, type: task.type, data: task.definition.data, run: task.run, token: task.token },
      ...{ scheduledTime: new Date(task.scheduled), attempt: task.attempt, signal },
      retry: (wait) => {
        asked ??= { result: "retry", ...(wait !== undefined && { wait: durationOf("wait", wait) }) };
      },
      release: () => {
        asked ??= { result: "released" };
      },
    };
    try {
      await this.#handle(facts);
      return asked ?? { result: "ok" };
    } catch (error) {
      return { result: "failed", reason: reasonOf(error) };
    }
  }

  async #tooLate(task: Task, signal: AbortSignal): Promise<Verdict> {
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    const left = Math.max(0, task.horizon() - this.#clock.now());
    await this.#clock.sleep(Math.min(this.#terminationTimeout, left));
    return { result: "failed", reason: "its handler did not end when it was told to" };
  }
}

/** What was ended from without came out as the end says, whatever its handler made of that. */
function ended(reason: unknown, said: string | undefined): Verdict {
  if (!(reason instanceof TaskLost)) return { result: "timeout", reason: said ?? reasonOf(reason) };
  return { result: reason.result, reason: reason.message };
}

function reasonOf(error: unknown): string {
  return clean(error instanceof Error ? `${error.name}: ${error.message}` : String(error), LONGEST_REASON);
}
