import { closeSync, constants, openSync, readSync } from "node:fs";
import type { ReadStream } from "node:tty";
import type { CommandIo } from "../../commands/command.ts";

/**
 * Signals that keys send to all programs of a terminal. While another program has the terminal, they are meant for that
 * program.
 */
const OF_KEYS: ReadonlySet<NodeJS.Signals> = new Set(["SIGINT", "SIGQUIT"]);

/**
 * Tells whether another program, such as a pager, has the terminal. Until it ends, the console does not write, and keys
 * do not end it.
 */
export class TerminalLoan {
  isActive = false;

  /** Creates the io of the console. While the terminal is lent, it ignores output and signals of keys. */
  wrapIo(io: CommandIo): CommandIo {
    return {
      ...io,
      writeOutput: (text) => (this.isActive ? true : io.writeOutput(text)),
      onSignal: (listener) =>
        io.onSignal((name) => {
          if (!this.isActive || !OF_KEYS.has(name)) listener(name);
        }),
    };
  }
}

/**
 * Resets modes that a killed program may leave on in the terminal: application keys, mouse, focus events, pastes,
 * colours, the scroll region, a hidden cursor. Restores the position of the cursor, which the reset of the scroll
 * region changes.
 */
const RESET_TERMINAL =
  "\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b7\x1b[r\x1b8\x1b[0m\x1b[?25h";

/** Discards input that was typed for the other program but not read by it, so that it has no effect in the console. */
function discardInput(): void {
  const buffer = Buffer.alloc(4_096);
  readUnblocked((descriptor) => {
    while (readSync(descriptor, buffer) > 0);
  });
}

/**
 * Opens standard input again for non-blocking reads. Ignores the error that ends them: no input is left (EAGAIN), or
 * the terminal is closed.
 */
export function readUnblocked(read: (descriptor: number) => void): void {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    const descriptor = openSync("/dev/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY);
    try {
      read(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // see above
  }
}

/** Events of a terminal other than keys. */
interface TerminalEvents {
  onBytes(bytes: Buffer): void;
  onResize(): void;
  /** The console has taken the terminal: at the start, and when the process continues after a stop. */
  onTaken(): void;
  /** The console gives the terminal back. Also called from handlers of `exit`. */
  onGiven(): void;
  /** The process was not stopped, because no shell could continue it. The console has the terminal again. */
  onNotStopped(): void;
  /** The terminal is closed. */
  onGone(): void;
}

/** Time within which the system stops a process, ms. Normally it does so at once. */
const AT_ONCE = 100;

/**
 * Controls the user's terminal in raw mode. `leave` restores the terminal on every way out; it may be called more
 * than once, and from a handler of `exit`.
 */
export class TerminalSession {
  readonly #stdin: ReadStream;
  readonly #events: TerminalEvents;
  readonly #io: CommandIo;
  readonly #loan: TerminalLoan;
  #isOn = false;
  #stops: (() => void)[] = [];

  constructor(
    { io, loan }: { io: CommandIo; loan: TerminalLoan },
    stdin: ReadStream,
    events: TerminalEvents,
  ) {
    this.#io = io;
    this.#loan = loan;
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
    const offResize = this.#io.terminal.onResize(onResize);
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

  /** Gives the terminal back and stops the process, as Ctrl+Z does elsewhere; `fg` continues it. */
  suspend(): void {
    this.#give();
    process.kill(0, "SIGTSTP"); // the whole job, as the terminal itself would
    setTimeout(() => this.#takeAnyway(), AT_ONCE);
  }

  /**
   * Takes the terminal again if the process was not stopped. Without a shell, for example in a separate window, the
   * system ignores the signal, because the process could not be continued with `fg`.
   */
  #takeAnyway(): void {
    if (this.#isOn || this.#stops.length === 0) return;
    this.#take();
    this.#events.onNotStopped();
  }

  /**
   * Lends the terminal to another program, and takes it back in its previous state, however the program ends. Runs one
   * program at a time.
   * @throws what `use` throws
   */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    if (!this.#isOn) throw new Error("the terminal is not here to be lent");
    this.#give();
    this.#stdin.pause();
    this.#loan.isActive = true;
    const { restoreModes, saveModes } = await import("./terminal-modes.ts"); // seldom needed, and slow to load
    const modes = saveModes();
    try {
      return await use();
    } finally {
      restoreModes(modes);
      this.#loan.isActive = false;
      if (this.#stops.length > 0) this.#takeBack();
    }
  }

  #takeBack(): void {
    this.#io.writeOutput(RESET_TERMINAL);
    this.#take();
    discardInput();
    this.#stdin.resume();
  }

  leave(): void {
    for (const stop of this.#stops.splice(0)) stop();
    this.#give();
    this.#stdin.pause();
  }

  /** Takes the terminal again after a stop: a shell may have restored its own modes meanwhile. */
  #continue(): void {
    if (this.#loan.isActive) return; // the other program has the terminal
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
      // the terminal is closed: there is nothing to restore
    }
  }
}
