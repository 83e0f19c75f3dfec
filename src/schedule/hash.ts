/**
 * FNV-1a of a text's UTF-16 units, 32 bits, followed by a mixing step: on its own its high bits hardly differ between texts
 * that differ in their last character.
 * @returns a whole number from 0 to 2^32 - 1
 * @see http://www.isthe.com/chongo/tech/comp/fnv/ and the finalizer of MurmurHash3
 */
export function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  }
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35);
  return (sum ^ (sum >>> 16)) >>> 0;
}

/** A share of `most` that is always the same for a key: spreads schedules that are due together. Both in ms. */
export function jitterOf(key: string, most: number): number {
  return Math.floor((hash(key) / 2 ** 32) * most);
}

/**
 * A worker's place for a schedule among its peers, from 0, by rendezvous hashing: all agree without talking, and one that
 * leaves moves only what was its own.
 * @param workers  ids of those who can run it; `worker` among them or not
 */
export function rankOf(worker: string, workers: Iterable<string>, schedule: string): number {
  const own = hash(`${worker} ${schedule}`);
  let before = 0;
  for (const other of workers) {
    if (other === worker) continue;
    const score = hash(`${other} ${schedule}`);
    if (score > own || (score === own && other < worker)) before += 1;
  }
  return before;
}
