import type { ReadStream } from "node:tty";
import type { Surroundings } from "../../commands/spec.ts";

/** What happens to a terminal, beside keys. */
export interface TerminalEvents {
  onBytes(bytes: Buffer): void;
  onResize(): void;
  /** The terminal is the console's now: at first, and when the process goes on after it was stopped. */
  onTaken(): void;
  /** It is given back. Called from handlers of `exit` too. */
  onGiven(): void;
  /** The terminal is gone. */
  onGone(): void;
}

/**
 * The user's terminal while the console has it, with raw keys. Whatever way out is taken, `leave` puts back what was there; it
 * may be called more than once, and from a handler of `exit`.
 */
export class TerminalSession {
  readonly #stdin: ReadStream;
  readonly #events: TerminalEvents;
  readonly #world: Surroundings;
  #isOn = false;
  #stops: (() => void)[] = [];

  constructor(world: Surroundings, stdin: ReadStream, events: TerminalEvents) {
    this.#world = world;
    this.#stdin = stdin;
    this.#events = events;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  enter(): void {
    const { onBytes, onResize, onGone } = this.#events;
    this.#stdin.on("data", onBytes);
    this.#stdin.on("end", onGone);
    this.#stdin.on("error", onGone);
    const offResize = this.#world.terminal.onResize(onResize);
    const onContinue = () => this.#continue();
    process.on("SIGCONT", onContinue);
    this.#stops = [
      () => this.#stdin.off("data", onBytes),
      offResize,
      () => process.off("SIGCONT", onContinue),
    ];
    this.#take();
    this.#stdin.resume();
  }

  /** Gives the terminal back and stops the process, as Ctrl+Z does elsewhere; `fg` goes on. */
  suspend(): void {
    this.#give();
    process.kill(0, "SIGTSTP"); // all of the job, as the terminal itself would
  }

  leave(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#give();
    this.#stdin.pause();
  }

  /** A shell may have put its own modes back meanwhile, whoever stopped us. */
  #continue(): void {
    this.#isOn = false;
    this.#take();
  }

  #take(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#stdin.setRawMode(true);
    this.#events.onTaken();
  }

  #give(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    try {
      this.#events.onGiven();
      this.#stdin.setRawMode(false);
    } catch {
      // the terminal is gone: there is nothing to put back
    }
  }
}
