/** A source of randomness. The simulation uses a seeded one. */
export interface Random {
  /** `n` unpredictable bytes. */
  generateBytes(n: number): Uint8Array;
  /** Uniform in [0, 1). */
  generateFraction(): number;
}
