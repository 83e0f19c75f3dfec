import type { ReadStream } from "node:tty";
import { Screen } from "../../commands/see/screen.ts";
import type { Surroundings } from "../../commands/spec.ts";
import { modesOf } from "./modes.ts";

/** What happens to a terminal beside keys. */
export interface TerminalEvents {
  onBytes(bytes: Buffer): void;
  onResize(): void;
  /** The process was stopped and goes on: everything is to be painted again. */
  onContinue(): void;
  /** The terminal is gone. */
  onGone(): void;
}

/**
 * The user's terminal while the console has it: raw keys, the other screen. Whatever way out is taken, `leave` puts back what
 * was there; it may be called more than once, and from a handler of `exit`.
 */
export class TerminalSession {
  readonly #stdin: ReadStream;
  readonly #screen: Screen;
  readonly #events: TerminalEvents;
  readonly #world: Surroundings;
  #isOn = false;
  #stops: (() => void)[] = [];

  constructor(world: Surroundings, stdin: ReadStream, wants: { mouse: boolean }, events: TerminalEvents) {
    this.#world = world;
    this.#stdin = stdin;
    this.#events = events;
    this.#screen = new Screen(world, modesOf(wants));
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
    this.#switchOn();
    this.#stdin.resume();
  }

  /** @returns false once nobody looks any more */
  paint(lines: readonly string[]): boolean {
    return !this.#isOn || this.#screen.paint(lines);
  }

  /** Gives the terminal back and stops the process, as Ctrl+Z does elsewhere; `fg` goes on. */
  suspend(): void {
    this.#switchOff();
    process.kill(0, "SIGTSTP"); // all of the job, as the terminal itself would
  }

  leave(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#switchOff();
    this.#stdin.pause();
  }

  #continue(): void {
    this.#isOn = false; // a shell may have put its own modes back
    this.#switchOn();
    this.#events.onContinue();
  }

  #switchOn(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#stdin.setRawMode(true);
    this.#screen.enter();
  }

  #switchOff(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    try {
      this.#stdin.setRawMode(false);
      this.#screen.leave();
    } catch {
      // the terminal is gone: there is nothing to put back
    }
  }
}
