import type { Surroundings } from "./spec.ts";

const ENTER = "\x1b[?1049h\x1b[?25l"; // the alternate screen, without a cursor
const LEAVE = "\x1b[?25h\x1b[?1049l";

/** A terminal's other screen, repainted in place: no flicker, and the user's own screen is there again afterwards. */
export class Screen {
  readonly #world: Surroundings;
  #shown = "";

  constructor(world: Surroundings) {
    this.#world = world;
    world.out(ENTER);
  }

  /** Shows lines from the top; those for which there is no room are left out. @param lines  fit for the terminal */
  paint(lines: readonly string[]): void {
    const { rows } = this.#world.terminal.size();
    const frame = lines
      .slice(0, rows)
      .map((line) => `${line}\x1b[K`)
      .join("\r\n");
    if (frame === this.#shown) return;
    this.#shown = frame;
    this.#world.out(`\x1b[H${frame}\x1b[J`);
  }

  leave(): void {
    this.#world.out(LEAVE);
  }
}
