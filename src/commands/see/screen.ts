import type { Surroundings } from "../spec.ts";

const ENTER = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[J"; // the alternate screen, empty, without a cursor
const LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l";

/** A terminal's other screen, repainted in place: no flicker, and the user's own screen is there again afterwards. */
export class Screen {
  readonly #world: Surroundings;
  #shown: readonly string[] = [];
  #size = "";

  constructor(world: Surroundings) {
    this.#world = world;
    world.out(ENTER);
  }

  /**
   * Shows lines from the top, those for which there is room. Only what changed is written, which slow connections like.
   * @param lines  fit for the terminal, and narrower than it: behind its last column there is nowhere to go on from
   * @returns false once nobody looks any more
   */
  paint(lines: readonly string[]): boolean {
    const { rows, columns } = this.#world.terminal.size();
    const isResized = this.#size !== `${columns}x${rows}`;
    const before = isResized ? [] : this.#shown;
    const now = lines.slice(0, rows);
    const changes = Array.from({ length: Math.max(now.length, before.length) }, (_, at) =>
      now[at] === before[at] ? "" : `\x1b[${at + 1};1H${now[at] ?? ""}\x1b[K`,
    ).join("");
    const text = (isResized ? "\x1b[H\x1b[J" : "") + changes; // what the terminal has made of a frame of another size goes
    [this.#shown, this.#size] = [now, `${columns}x${rows}`];
    return text === "" || this.#world.out(text);
  }

  leave(): void {
    this.#world.out(LEAVE);
  }
}
