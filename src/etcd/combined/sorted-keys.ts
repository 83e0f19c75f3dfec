import type { KeyRange } from "../../protocol/txn.ts";

/** Keys in order, so that those of a range are found by bisection. */
export class SortedKeys {
  readonly #keys: string[];

  constructor(keys: Iterable<string>) {
    this.#keys = [...keys].sort(compareKeys);
  }

  /** Adds a key, also one that is there. */
  add(key: string): void {
    this.#keys.splice(this.#findPlace(key), 0, key);
  }

  hasKeyIn({ key: start, rangeEnd }: Required<KeyRange>): boolean {
    const first = this.#keys[this.#findPlace(start)];
    return first !== undefined && first < rangeEnd;
  }

  /** Returns the index of the first key that is not before `key`. */
  #findPlace(key: string): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#keys[middle] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Keys are strings of bytes, so the order of their characters is that of etcd. */
function compareKeys(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
