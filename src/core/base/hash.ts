/**
 * Computes FNV-1a of the UTF-16 units of a text, 32 bits, followed by a mixing step. Without the step, the high bits
 * hardly differ between texts that differ only in their last character.
 * @returns an integer from 0 to 2^32 - 1
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
