import type { Ticket } from "../protocol/ticket.ts";

/**
 * Numbers the attempts of one call. A call can pass from one process to another, and an earlier attempt of it may have
 * been granted without anybody knowing: its tickets then stop the later ones.
 */
export class CallAttempts {
  /** Id of the call. */
  readonly id: string;
  #last: number;

  /** @param last  number of the attempts that other processes have made */
  constructor(id: string, last: number) {
    this.id = id;
    this.#last = last;
  }

  /** The number of the last attempt; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** Returns the number of the next attempt. */
  takeNumber(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Whether a ticket belongs to an attempt of this call before the given one. Its command was never started. */
  isEarlier(ticket: Ticket | undefined, number: number): boolean {
    return ticket?.call === this.id && ticket.attempt !== undefined && ticket.attempt < number;
  }
}
