import type { CommandIo } from "../spec.ts";
import { formatChanges } from "./screen/paint-changes.ts";

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[J"; // the alternate screen, empty, without cursor and line wrap
const LEAVE = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Synchronized output: terminals that support it show the text between these at once; others ignore them. */
const [BEGIN, END] = ["\x1b[?2026h", "\x1b[?2026l"];
/** A terminal gets shorter output in one piece, and shows it at once anyway. */
const SHORT = 256;
/** So many parts of a screen are painted from the top. Those after them begin where the last one ended. */
const FROM_TOP = 3;

/** Sequences that switch further terminal modes on and off. */
export interface TerminalModes {
  on: string;
  off: string;
}

/** The alternate screen of a terminal, repainted in place without flicker. Leaving it restores the user's screen. */
export class AnsiScreen {
  readonly #io: Pick<CommandIo, "writeOutput" | "terminal">;
  readonly #modes: TerminalModes;
  #shown: readonly string[] = [];
  #size = "";
  /** How many calls of `paint` in succession have left something out, and where the last one ended. */
  #incomplete = 0;
  #next = 0;

  constructor(io: Pick<CommandIo, "writeOutput" | "terminal">, modes: TerminalModes = { on: "", off: "" }) {
    this.#io = io;
    this.#modes = modes;
  }

  /** Whether all lines of the last call of `paint` are on the screen. */
  get isComplete(): boolean {
    return this.#incomplete === 0;
  }

  enter(): void {
    this.#size = "";
    this.#io.writeOutput(ENTER + this.#modes.on);
  }

  /**
   * Paints lines from the top, as many as fit. Writes only what changed, to save bandwidth.
   * @param lines  escaped and cut for the terminal
   * @param partLength  about how many bytes to write; `isComplete` says whether something is left for the next call
   * @returns false once the output is closed
   */
  paint(lines: readonly string[], partLength = Number.POSITIVE_INFINITY): boolean {
    const { rows, columns } = this.#io.terminal.getSize();
    const isResized = this.#size !== `${columns}x${rows}`;
    const before = isResized ? [] : this.#shown;
    const now = lines.slice(0, rows);
    // From the top, so that what a key leads to comes first; but rows there that change all the time must not hold up the others.
    const from = this.#incomplete < FROM_TOP ? 0 : this.#next;
    const { output, shown, next } = formatChanges(before, now, columns, { length: partLength, from });
    const text = (isResized ? "\x1b[m\x1b[H\x1b[J" : "") + output; // clears what a resize has left
    [this.#shown, this.#size] = [shown, `${columns}x${rows}`];
    this.#incomplete = shown.every((line, row) => line === (now[row] ?? "")) ? 0 : this.#incomplete + 1;
    this.#next = next;
    if (text === "") return true;
    return this.#io.writeOutput(text.length < SHORT ? text : BEGIN + text + END);
  }

  /** Paints the whole next frame, because the content of the screen is unknown. */
  forget(): void {
    this.#size = "";
  }

  leave(): void {
    this.#io.writeOutput(this.#modes.off + LEAVE);
  }
}
