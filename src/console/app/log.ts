import { clean } from "../../base/text.ts";

const MOST = 500;

/** What the console has to say of itself, the newest first. */
export class ScreenLog {
  readonly #wall: () => number;
  #lines: readonly string[] = [];

  constructor(wall: () => number) {
    this.#wall = wall;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  add(text: string): void {
    const time = new Date(this.#wall()).toISOString().slice(11, 19);
    this.#lines = [`${time} ${clean(text, 2000)}`, ...this.#lines].slice(0, MOST);
  }
}
