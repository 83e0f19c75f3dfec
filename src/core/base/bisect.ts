/**
 * Finds the first index at which `isBefore` is false; `length` if it is true for all.
 * @param isBefore  true for the first indexes, and false for all others
 */
export function bisect(length: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
