import type { QueueEntry } from "../protocol/ticket.ts";
import type { Op, OpResult, Txn, TxnResponse } from "../protocol/txn.ts";

/** A run of this process that waits for a lock, directly behind the ticket of another run. */
interface Successor {
  /** The ticket directly ahead. While it exists, nobody comes between: later tickets are behind. */
  ahead: Pick<QueueEntry, "key" | "createRevision">;
  /** The session of the successor. */
  session: bigint;
  /** Builds the transaction that grants its claim. Its guards do not cover the ticket ahead. */
  buildGrant(): Txn;
}

/** The end of an offer: the answer to the grant, or undefined if it failed or its answer was lost. */
type OfferOutcome = TxnResponse | undefined;

/** A grant that is sent with the release of the ticket ahead. */
export interface Offer {
  /** The operation for the transaction that deletes the ticket ahead, which must be guarded by its `create_revision`. */
  op: Op;
  /** Passes on the result of the operation; undefined if it was not applied, or is unknown. Later calls do nothing. */
  settle(result: OpResult | undefined, answer?: Pick<TxnResponse, "revision" | "raftTerm">): void;
}

/** A place among the successors. */
export interface SuccessorEntry {
  /** The offer that is on its way; undefined if none is. */
  readonly offered: Promise<OfferOutcome> | undefined;
  /** Resolves when the claim has been granted with the release of the ticket ahead. */
  readonly granted: Promise<NonNullable<OfferOutcome>>;
  leave(): void;
}

/**
 * The runs of this process that wait for a lock behind another run. If that is also one of this process, the transaction
 * that frees its claim grants that of the successor: the command of the successor starts one write earlier.
 *
 * The run that frees the lock holds it, so nobody is ahead of it, and its `create_revision` is compared. If the answer is
 * lost, the successor reads that its ticket is held, as after any lost answer.
 */
export class Successors {
  readonly #entries = new Map<string, Entry>();

  add(successor: Successor): SuccessorEntry {
    const { key } = successor.ahead;
    const entry = new Entry(successor, () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    this.#entries.set(key, entry);
    return entry;
  }

  /** Offers the lock to the successor of a ticket. Returns undefined if none waits here on the same session. */
  offer({ key, createRevision }: Successor["ahead"], session: bigint): Offer | undefined {
    const entry = this.#entries.get(key);
    const { successor } = entry ?? {};
    const isNext = successor?.ahead.createRevision === createRevision && successor.session === session;
    return isNext ? entry?.offer() : undefined;
  }
}

class Entry implements SuccessorEntry {
  readonly successor: Successor;
  readonly leave: () => void;
  offered: Promise<OfferOutcome> | undefined;
  readonly #granted = Promise.withResolvers<NonNullable<OfferOutcome>>();

  constructor(successor: Successor, leave: () => void) {
    this.successor = successor;
    this.leave = leave;
  }

  get granted(): Promise<NonNullable<OfferOutcome>> {
    return this.#granted.promise;
  }

  offer(): Offer {
    const txn = this.successor.buildGrant();
    const { promise, resolve } = Promise.withResolvers<OfferOutcome>();
    this.offered = promise;
    return {
      op: { op: "txn", txn },
      settle: (result, header) => {
        const isGranted = header !== undefined && result?.op === "txn" && result.succeeded;
        const outcome = isGranted ? { ...header, succeeded: true, results: result.results } : undefined;
        resolve(outcome);
        if (outcome !== undefined) this.#granted.resolve(outcome);
      },
    };
  }
}
