/** Bytes that a viewer gets at once, and then for each second: etcd keeps what is written until it is compacted. */
const AT_ONCE = 1024 * 1024;
const EACH_SECOND = 16 * 1024;

/** How much one viewer may get. */
export class OutputBudget {
  #left = AT_ONCE;
  #at: number;

  /** @param now  reading of the clock, ms */
  constructor(now: number) {
    this.#at = now;
  }

  getLeft(now: number): number {
    this.#left = Math.min(AT_ONCE, this.#left + ((now - this.#at) / 1_000) * EACH_SECOND);
    this.#at = now;
    return this.#left;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }
}
