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
  /** There is nobody who would let it go on again: it was not stopped, and has the terminal again. */
  onNotStopped(): void;
  /** The terminal is gone. */
  onGone(): void;
}

/** Time within which the system stops a process, ms: it is at once. */
const AT_ONCE = 100;

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
    setTimeout(() => this.#takeAnyway(), AT_ONCE);
  }

  /** Without a shell behind it, as in a window of its own, the system passes over the signal: nobody would type `fg`. */
  #takeAnyway(): void {
    if (this.#isOn || this.#stops.length === 0) return;
    this.#take();
    this.#events.onNotStopped();
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
