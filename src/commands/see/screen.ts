import { displayWidth } from "../../base/text.ts";
import type { Surroundings } from "../spec.ts";

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[J"; // the alternate screen, empty, without cursor and line breaks
const LEAVE = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/** Terminals that know these show what stands between them at once; others pass over them. */
const [BEGIN, END] = ["\x1b[?2026h", "\x1b[?2026l"];

/** What a terminal is switched to beside the other screen, and back. */
export interface Modes {
  on: string;
  off: string;
}

/** A terminal's other screen, repainted in place: no flicker, and the user's own screen is there again afterwards. */
export class Screen {
  readonly #world: Pick<Surroundings, "out" | "terminal">;
  readonly #modes: Modes;
  #shown: readonly string[] = [];
  #size = "";

  constructor(world: Pick<Surroundings, "out" | "terminal">, modes: Modes = { on: "", off: "" }) {
    this.#world = world;
    this.#modes = modes;
  }

  enter(): void {
    this.#size = "";
    this.#world.out(ENTER + this.#modes.on);
  }

  /**
   * Shows lines from the top, those for which there is room. Only what changed is written, which slow connections like.
   * @param lines  fit for the terminal
   * @returns false once nobody looks any more
   */
  paint(lines: readonly string[]): boolean {
    const { rows, columns } = this.#world.terminal.size();
    const isResized = this.#size !== `${columns}x${rows}`;
    const before = isResized ? [] : this.#shown;
    const now = lines.slice(0, rows);
    const changes = Array.from({ length: Math.max(now.length, before.length) }, (_, at) =>
      now[at] === before[at] ? "" : `\x1b[${at + 1};1H${ended(now[at] ?? "", columns)}`,
    ).join("");
    const text = (isResized ? "\x1b[H\x1b[J" : "") + changes; // what the terminal has made of a frame of another size goes
    [this.#shown, this.#size] = [now, `${columns}x${rows}`];
    return text === "" || this.#world.out(BEGIN + text + END);
  }

  /** What was shown is no longer known: the next frame is painted whole. */
  forget(): void {
    this.#size = "";
  }

  leave(): void {
    this.#world.out(this.#modes.off + LEAVE);
  }
}

/** What is beyond letters of one column and our own signs: terminals differ in how wide it is. */
const UNSURE = /[^\x00-\u02ff\u2010-\u2027\u2190-\u25ff\u2700-\u27bf]/;

/** Clears what stood behind a line; one that fills its row would lose its last character to that. */
function ended(line: string, columns: number): string {
  if (UNSURE.test(line)) return `\x1b[2K${line}`;
  return displayWidth(line.replaceAll(/\x1b\[[0-9;:]*m/g, "")) < columns ? `${line}\x1b[K` : line;
}
