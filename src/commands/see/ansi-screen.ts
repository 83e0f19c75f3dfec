import { computeStyledWidth } from "../../base/display-width.ts";
import type { CommandIo } from "../spec.ts";

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[J"; // the alternate screen, empty, without cursor and line wrap
const LEAVE = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Synchronized output: terminals that support it show the text between these at once; others ignore them. */
const [BEGIN, END] = ["\x1b[?2026h", "\x1b[?2026l"];

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

  constructor(io: Pick<CommandIo, "writeOutput" | "terminal">, modes: TerminalModes = { on: "", off: "" }) {
    this.#io = io;
    this.#modes = modes;
  }

  enter(): void {
    this.#size = "";
    this.#io.writeOutput(ENTER + this.#modes.on);
  }

  /**
   * Paints lines from the top, as many as fit. Writes only what changed, to save bandwidth.
   * @param lines  escaped and cut for the terminal
   * @returns false once the output is closed
   */
  paint(lines: readonly string[]): boolean {
    const { rows, columns } = this.#io.terminal.getSize();
    const isResized = this.#size !== `${columns}x${rows}`;
    const before = isResized ? [] : this.#shown;
    const now = lines.slice(0, rows);
    const changes = Array.from({ length: Math.max(now.length, before.length) }, (_, at) =>
      now[at] === before[at] ? "" : `\x1b[${at + 1};1H${clearLineEnd(now[at] ?? "", columns)}`,
    ).join("");
    const text = (isResized ? "\x1b[H\x1b[J" : "") + changes; // clears what a resize has left
    [this.#shown, this.#size] = [now, `${columns}x${rows}`];
    return text === "" || this.#io.writeOutput(BEGIN + text + END);
  }

  /** Paints the whole next frame, because the content of the screen is unknown. */
  forget(): void {
    this.#size = "";
  }

  leave(): void {
    this.#io.writeOutput(this.#modes.off + LEAVE);
  }
}

/** Characters whose width differs between terminals. */
const UNSURE = /[^\x00-\u02ff\u2010-\u2027\u2190-\u25ff\u2700-\u27bf]/;

/** Clears the rest of a line. In a line that fills its row, this would delete the last character. */
function clearLineEnd(line: string, columns: number): string {
  if (UNSURE.test(line)) return `\x1b[2K${line}`;
  return computeStyledWidth(line) < columns ? `${line}\x1b[K` : line;
}
