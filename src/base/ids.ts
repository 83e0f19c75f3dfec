import type { Random } from "./random.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32, no look-alikes

/** A run's id: 80 random bits as 16 characters of `[0-9a-z]`, new for every attempt. */
export function newRunId(random: Random): string {
  return Array.from(random.bytes(16), (byte) => ALPHABET[byte % 32]).join("");
}

/** A session's id, chosen by us so that a repeated grant cannot leak a second one: 63 random bits, never 0. */
export function newSessionId(random: Random): bigint {
  const bytes = random.bytes(8);
  const id = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) & 0x7fff_ffff_ffff_ffffn;
  return id === 0n ? newSessionId(random) : id;
}
