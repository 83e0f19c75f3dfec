/** Source of randomness; the simulation has a seeded one. */
export interface Random {
  /** `n` unpredictable bytes. */
  bytes(n: number): Uint8Array;
  /** Uniform in [0, 1). */
  unit(): number;
}
