/** Pseudorandom numbers that depend only on a seed and a name, not on draws for other names. */
export class NamedRandom {
  #state: number;

  constructor(seed: number, name: string) {
    this.#state = [...name].reduce(
      (sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 16_777_619),
      seed ^ 2_166_136_261,
    );
  }

  /** Draws a number, uniform in [0, 1). @see mulberry32 */
  drawUnit(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let word = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  }

  drawBetween([least, most]: readonly [number, number]): number {
    return least + this.drawUnit() * (most - least);
  }

  pickOne<T>(list: readonly [T, ...T[]]): T {
    return list[Math.floor(this.drawUnit() * list.length)] ?? list[0];
  }
}
