import type { QueueEntry } from "../protocol/ticket.ts";
import type { Txn, TxnResponse } from "../protocol/txn.ts";

/** The claim of a run that waits for a ticket ahead of it. */
interface SuccessorClaim {
  /** The ticket directly ahead. While it exists, no ticket can come between: later ones queue behind. */
  ahead: Pick<QueueEntry, "key" | "createRevision">;
  /** The session of the successor. */
  session: bigint;
  /** Builds the transaction that grants its claim. Its guards do not cover the ticket ahead. */
  buildGrant(): Txn;
}

/**
 * The runs of this process that wait for a lock directly behind another run. If that run is in this process too, the
 * transaction that frees its claim also grants the successor's: the successor's command starts one write earlier.
 *
 * The run that frees the lock holds it, so no run is ahead of it, and its `create_revision` is compared. If the answer is
 * lost, the successor reads that its ticket is held, as after any lost answer.
 */
export class Successors {
  readonly #waiting = new Map<string, Successor>();

  add(claim: SuccessorClaim): Successor {
    const { key } = claim.ahead;
    const successor = new Successor(claim, () => {
      if (this.#waiting.get(key) === successor) this.#waiting.delete(key);
    });
    this.#waiting.set(key, successor);
    return successor;
  }

  /**
   * Offers the lock to the successor of a ticket.
   * @param ahead  the ticket. The caller adds the operation of the offer, as the last one, to the transaction that deletes
   *   the ticket, which must compare the ticket's `create_revision`
   * @returns undefined if no run of this process with the same session waits for the ticket
   */
  offer(ahead: SuccessorClaim["ahead"], session: bigint): ReturnType<Successor["offer"]> | undefined {
    const successor = this.#waiting.get(ahead.key);
    const { claim } = successor ?? {};
    const isNext = claim?.ahead.createRevision === ahead.createRevision && claim.session === session;
    return isNext ? successor?.offer() : undefined;
  }
}

/** A run of this process that waits for a lock, directly behind the ticket of another run. */
class Successor {
  readonly claim: SuccessorClaim;
  readonly leave: () => void;
  /** Result of the offer in flight: the answer to the grant; undefined if it failed or its answer was lost. */
  offered: Promise<TxnResponse | undefined> | undefined;
  readonly #granted = Promise.withResolvers<TxnResponse>();

  constructor(claim: SuccessorClaim, leave: () => void) {
    this.claim = claim;
    this.leave = leave;
  }

  /** Resolves when the claim has been granted with the release of the ticket ahead. */
  get granted(): Promise<TxnResponse> {
    return this.#granted.promise;
  }

  /** @returns the operation that grants the claim, and a function for the answer to its transaction, if there is one */
  offer() {
    const txn = this.claim.buildGrant();
    const { promise, resolve } = Promise.withResolvers<TxnResponse | undefined>();
    this.offered = promise;
    const settle = (answer: TxnResponse | undefined) => {
      const result = answer?.succeeded ? answer.results.at(-1) : undefined;
      const isGranted = answer !== undefined && result?.op === "txn" && result.succeeded;
      const outcome = isGranted ? { ...answer, results: result.results } : undefined;
      resolve(outcome);
      if (outcome !== undefined) this.#granted.resolve(outcome);
    };
    return { op: { op: "txn", txn } as const, settle };
  }
}
