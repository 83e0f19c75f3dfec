/** Counts what an agent has done since its start. */
export class AgentStatistics {
  /** Start of the agent, wall clock, ms since the epoch. */
  readonly since: number;
  readonly #declined = new Map<string, number>();
  #served = 0;

  constructor(since: number) {
    this.since = since;
  }

  /** Calls that were served to their end. */
  get served(): number {
    return this.#served;
  }

  /** Calls that were declined, by reason. */
  get declined(): ReadonlyMap<string, number> {
    return this.#declined;
  }

  countServed(): void {
    this.#served += 1;
  }

  /** @param reason  one word, of a small number of words */
  countDeclined(reason: string, count = 1): void {
    this.#declined.set(reason, (this.#declined.get(reason) ?? 0) + count);
  }
}
