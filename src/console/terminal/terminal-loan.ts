import { closeSync, constants, openSync, readSync } from "node:fs";
import type { CommandIo } from "../../commands/spec.ts";

/** Signals that keys send to all programs of a terminal. While another program has it, they are for that program. */
const OF_KEYS: ReadonlySet<NodeJS.Signals> = new Set(["SIGINT", "SIGQUIT"]);

/** Whether another program, such as a pager, has the terminal. Until it ends, the console neither writes nor ends by keys. */
export class TerminalLoan {
  isActive = false;

  /** Creates the io of the console: without output and signals of keys while the terminal is lent. */
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
 * Resets what a program that was killed leaves on in the terminal: application keys, mouse, focus events, pastes, colours, the
 * scroll region, a hidden cursor. The cursor stays where it is, which the reset of the scroll region would change.
 */
export const RESET_TERMINAL =
  "\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b7\x1b[r\x1b8\x1b[0m\x1b[?25h";

/** Discards what was typed for the other program but not read by it, so that it does nothing in the console. */
export function discardInput(path = "/dev/fd/0"): void {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
  const buffer = Buffer.alloc(4_096);
  try {
    const descriptor = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    try {
      while (readSync(descriptor, buffer) > 0);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // nothing is left (EAGAIN), or the terminal cannot be opened again
  }
}
