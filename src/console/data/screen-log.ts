import { cleanToWidth } from "../../core/base/display-width.ts";

const MAX_LINES = 500;

/** The console's own messages, newest first. */
export class ScreenLog {
  readonly #wall: () => number;
  readonly #keep: (text: string) => void;
  #lines: readonly string[] = [];

  /** @param keep  writes a message to the destination of `--log-file` */
  constructor(wall: () => number, keep: (text: string) => void) {
    this.#wall = wall;
    this.#keep = keep;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  add(text: string): void {
    this.#keep(text);
    const time = new Date(this.#wall()).toISOString().slice(11, 19);
    this.#lines = [`${time} ${cleanToWidth(text, 2000)}`, ...this.#lines].slice(0, MAX_LINES);
  }
}
