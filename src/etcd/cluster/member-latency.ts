import type { Member } from "../member.ts";
import type { Timeouts } from "../timeouts.ts";

/** Factor by which the slowest time decays with each response. */
const DECAY = 0.8;

/** Response times of the members, and the time of the last message from each. Shared by the calls of a store. */
export class MemberLatency {
  /** The slowest of the recent responses, decaying, ms. */
  #slowest = 0;
  readonly #heard = new Map<Member, number>();

  /** Records the response to an attempt. */
  recordAnswer(member: Member, startedAt: number, now: number): void {
    this.#slowest = Math.max(now - startedAt, this.#slowest * DECAY);
    this.recordMessage(member, now);
  }

  recordMessage(member: Member, now: number): void {
    this.#heard.set(member, now);
  }

  hasMessageSince(member: Member, since: number): boolean {
    return (this.#heard.get(member) ?? Number.NEGATIVE_INFINITY) > since;
  }

  /**
   * Returns how long an only member may be silent before a first attempt on it fails, ms: half the attempt timeout
   * while it has been quick. A member that has answered another call since is only slow and gets the full timeout.
   */
  computeSilenceTimeout({ attempt }: Timeouts): number {
    return Math.min(attempt, Math.max(attempt / 2, 4 * this.#slowest));
  }

  /**
   * Returns the delay before a copy of an attempt goes to another member, ms. The delay grows with the response times,
   * because copies would only double the load when all members are slow. Infinity: the attempt times out first.
   */
  computeHedgeDelay({ hedge, attempt }: Timeouts): number {
    const after = Math.max(hedge, 2 * this.#slowest);
    return after < attempt ? after : Number.POSITIVE_INFINITY;
  }
}
