import type { Random } from "./random.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32, without similar-looking characters

/** Generates a run id: 80 random bits as 16 characters of `[0-9a-z]`. Each attempt gets a new one. */
export function generateRunId(random: Random): string {
  return Array.from(random.generateBytes(16), (byte) => ALPHABET[byte % 32]).join("");
}

/**
 * Generates a session id: 63 random bits, never 0. The client chooses the id, so that a repeated grant cannot leak a
 * second session.
 */
export function generateSessionId(random: Random): bigint {
  const bytes = random.generateBytes(8);
  const id = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) & 0x7fff_ffff_ffff_ffffn;
  return id === 0n ? generateSessionId(random) : id;
}
