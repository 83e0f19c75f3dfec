import type { CommandIo } from "../command.ts";

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[J"; // the alternate screen, empty, without cursor and line wrap
const LEAVE = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Synchronized output: terminals that support it show the text between these at once; others ignore them. */
const [BEGIN, END] = ["\x1b[?2026h", "\x1b[?2026l"];

/** The alternate screen of a terminal, repainted in place without flicker. Leaving it restores the user's screen. */
export class AnsiScreen {
  readonly #io: Pick<CommandIo, "writeOutput" | "terminal">;
  #shown: readonly string[] = [];
  #size = "";

  constructor(io: Pick<CommandIo, "writeOutput" | "terminal">) {
    this.#io = io;
  }

  enter(): void {
    this.#io.writeOutput(ENTER);
  }

  /**
   * Paints lines from the top, as many as fit. Writes only the lines that have changed.
   * @param lines  escaped and cut for the terminal
   * @returns false once the output is closed
   */
  paint(lines: readonly string[]): boolean {
    const { rows, columns } = this.#io.terminal.getSize();
    const isResized = this.#size !== `${columns}x${rows}`;
    const before = isResized ? [] : this.#shown;
    this.#shown = Array.from({ length: rows }, (_, row) => lines[row] ?? "");
    this.#size = `${columns}x${rows}`;
    // A row is cleared first: the terminal may take some characters to be wider or narrower than we do.
    const changes = this.#shown.flatMap((line, row) =>
      line === (before[row] ?? "") ? [] : [`\x1b[${row + 1}H\x1b[m\x1b[K${line}`],
    );
    const text = (isResized ? "\x1b[m\x1b[H\x1b[J" : "") + changes.join("");
    return text === "" || this.#io.writeOutput(BEGIN + text + END);
  }

  leave(): void {
    this.#io.writeOutput(LEAVE);
  }
}
