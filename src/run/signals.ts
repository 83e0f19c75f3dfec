import { constants } from "node:os";
import type { RunPorts } from "./request.ts";

/** A signal ended the run before its command started. */
export class RunInterruptedError extends Error {
  /** 128 + the signal's number. */
  readonly exitCode: number;

  constructor(name: NodeJS.Signals) {
    super(`interrupted by ${name}`);
    this.name = "Interrupted";
    this.exitCode = 128 + constants.signals[name];
  }
}

/** Passes a signal to the command. */
type Forward = (name: NodeJS.Signals) => void;

/**
 * Routes signals sent to the runner. Until the command starts, they end the run; after that, they are forwarded. If the
 * command already runs, those that arrive before its claim is resumed are forwarded afterwards.
 */
export class SignalRouter {
  readonly #interrupted = new AbortController();
  readonly #stop: () => void;
  readonly #early: NodeJS.Signals[] = [];
  #forward: Forward | undefined;

  /** @param ignored  signals with another meaning while the run waits, such as reopening a log */
  constructor(ports: Pick<RunPorts, "onSignal">, ignored: readonly NodeJS.Signals[]) {
    this.#stop = ports.onSignal((name) => {
      if (this.#forward !== undefined) return this.#forward(name);
      this.#early.push(name);
      if (!ignored.includes(name)) this.#interrupted.abort(new RunInterruptedError(name));
    });
  }

  /** Aborts with `RunInterruptedError` when a signal ends the run. */
  get signal(): AbortSignal {
    return this.#interrupted.signal;
  }

  /** Forwards all later signals to the command. @throws RunInterruptedError when a signal arrived before */
  forwardTo(forward: Forward): void {
    this.#interrupted.signal.throwIfAborted();
    this.#forward = forward;
  }

  /** Forwards all signals to a command that was already started, including those that arrived before. */
  forwardAllTo(forward: Forward): void {
    this.#forward = forward;
    for (const name of this.#early.splice(0)) forward(name);
  }

  close(): void {
    this.#stop();
  }
}
