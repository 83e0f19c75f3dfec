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
 * Routes signals sent to the runner: they end the run until the command starts, and are forwarded after that. If the
 * command already runs, all are forwarded: those that arrive before its claim is resumed, as soon as it is.
 */
export class SignalRouter {
  readonly #left = new AbortController();
  readonly #stop: () => void;
  readonly #early: NodeJS.Signals[] = [];
  #forward: Forward | undefined;

  /** @param ignored  signals with another meaning while the run waits, such as reopening a log */
  constructor(ports: Pick<RunPorts, "onSignal">, ignored: readonly NodeJS.Signals[]) {
    this.#stop = ports.onSignal((name) => {
      if (this.#forward !== undefined) return this.#forward(name);
      this.#early.push(name);
      if (!ignored.includes(name)) this.#left.abort(new RunInterruptedError(name));
    });
  }

  /** Aborts with `RunInterruptedError` when a signal ends the run. */
  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Forwards all later signals to the command. @throws RunInterruptedError when a signal arrived before */
  forwardTo(forward: Forward): void {
    this.#left.signal.throwIfAborted();
    this.#forward = forward;
  }

  /** Forwards all signals to a command that was already started, those that arrived before too. */
  forwardAllTo(forward: Forward): void {
    this.#forward = forward;
    for (const name of this.#early.splice(0)) forward(name);
  }

  close(): void {
    this.#stop();
  }
}
