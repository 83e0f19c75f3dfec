import { constants } from "node:os";
import type { RunPorts } from "./request.ts";

/** The run was told to leave by a signal, before it had started its command. */
export class Interrupted extends Error {
  /** 128 + the signal's number. */
  readonly exitCode: number;

  constructor(name: NodeJS.Signals) {
    super(`interrupted by ${name}`);
    this.name = "Interrupted";
    this.exitCode = 128 + constants.signals[name];
  }
}

/** Where signals go once the command runs. */
export interface SignalTarget {
  forward(name: NodeJS.Signals): void;
}

/** Signals sent to the runner: until the command starts they make the run leave, from then on they are forwarded. */
export class SignalDesk {
  readonly #left = new AbortController();
  readonly #stop: () => void;
  #target: SignalTarget | undefined;

  /** @param ignored  signals that mean something else while the run waits, such as reopening a log */
  constructor(ports: RunPorts, ignored: readonly NodeJS.Signals[]) {
    this.#stop = ports.onSignal((name) => {
      if (this.#target !== undefined) this.#target.forward(name);
      else if (!ignored.includes(name)) this.#left.abort(new Interrupted(name));
    });
  }

  /** Aborted with `Interrupted` when the run is to leave. */
  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** From here on, signals are the command's. @throws Interrupted when one came before */
  forwardTo(target: SignalTarget): void {
    this.#left.signal.throwIfAborted();
    this.#target = target;
  }

  close(): void {
    this.#stop();
  }
}
