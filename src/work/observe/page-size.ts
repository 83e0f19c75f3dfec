import type { KeyValue } from "../../protocol/txn.ts";

const LARGEST_PAGE = 10_000;
/** Size of a page in characters of keys and values: at first, and its limits. A large one needs memory while it is decoded. */
const WEIGHT = { first: 500_000, least: 100_000, most: 2_000_000 };
/** A page that takes less time may be followed by a larger one; one that takes more, by a smaller one, ms. */
const QUICK = 150;
const SLOW = 400;

/**
 * The size of the next page of a long read. For each page, etcd 3.4 visits all keys that are left in the range, so that few large
 * pages are much cheaper than many small ones. Over a slow connection, a large page would reach the time limit of a request.
 */
export class PageSize {
  #weight = WEIGHT.first;

  /** Adapts the size to the time that a page took, ms. */
  adapt(took: number): void {
    if (took < QUICK) this.#weight = Math.min(WEIGHT.most, 2 * this.#weight);
    if (took > SLOW) this.#weight = Math.max(WEIGHT.least, this.#weight / 2);
  }

  /** Computes the number of keys for the next page. @param kvs  the page before: the next keys will be similar */
  compute(kvs: readonly KeyValue[]): number {
    const weight = kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    const keys = Math.floor((this.#weight * kvs.length) / Math.max(1, weight));
    return Math.min(LARGEST_PAGE, Math.max(1, keys));
  }
}
