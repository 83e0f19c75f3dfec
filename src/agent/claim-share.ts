import { OVER } from "../base/wait.ts";
import { retryUnavailable } from "../etcd/retry.ts";
import { waitUntilNear } from "../etcd/session/horizon.ts";
import type { Session, SessionOwner, SessionProof, TicketVersion } from "../etcd/session/session.ts";
import { SessionLost } from "../etcd/session/session-lost.ts";
import type { Store } from "../etcd/store.ts";
import { deleteMarks } from "../protocol/guards.ts";
import type { Keys } from "../protocol/keys.ts";
import type { Compare, Op, Txn } from "../protocol/txn.ts";
import type { ClaimSession } from "../run/claim-session.ts";
import type { AgentPorts } from "./ports.ts";

/** What a share needs from the session that it is part of. */
export interface ShareOwner {
  readonly ports: AgentPorts;
  readonly session: Session;
  /** The store whose transactions are guarded by the session's fence. */
  readonly store: Store;
  /** Removes a share. Its run is no longer one of this agent. */
  removeShare(share: ClaimShare): void;
}

/**
 * The share that one run has in a session of many. Its horizon moves only when its own tickets were read after a renewal
 * of the session: the session may live on without them.
 */
export class ClaimShare implements ClaimSession {
  readonly run: string;
  readonly #owner: ShareOwner;
  readonly #lost = new AbortController();
  #claim: SessionOwner | undefined;
  #horizon: number;
  /** Aborted when the horizon moves back, so that waiting callers check again. */
  #moved = new AbortController();

  constructor(owner: ShareOwner, run: string) {
    this.run = run;
    this.#owner = owner;
    this.#horizon = owner.session.horizon;
  }

  get id(): bigint {
    return this.#owner.session.id;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  get grantTerm(): bigint | undefined {
    return this.#owner.session.grantTerm;
  }

  get ttl(): number {
    return this.#owner.session.ttl;
  }

  get isDoubted(): boolean {
    return this.#owner.session.isDoubted;
  }

  get horizon(): number {
    return Math.min(this.#horizon, this.#owner.session.horizon);
  }

  async waitUntilHorizonNear(lead: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#owner.ports;
    await waitUntilNear(clock, () => ({ at: this.horizon, moved: this.#moved.signal }), lead, signal);
  }

  keepAlive(owner: SessionOwner): void {
    this.#claim = owner;
  }

  /** Lists the tickets of the claim as they should be. Undefined if that is not known. */
  listTickets(): readonly TicketVersion[] | undefined {
    return this.#claim?.listTickets?.();
  }

  /** Reads whether the claim still exists. Returns undefined if it has no owner, or if etcd does not answer. */
  async prove(store: Store): Promise<SessionProof | undefined> {
    return await this.#claim?.prove(store).catch(() => undefined);
  }

  /** Moves the horizon, after a renewal and a proof. @param horizon  that of the renewal; a later one may have come first */
  extend(horizon: number): void {
    this.#horizon = Math.max(this.#horizon, horizon);
    this.#claim?.onHorizonMoved();
  }

  /** Called when the horizon of the session has moved back. */
  shorten(): void {
    const moved = this.#moved;
    this.#moved = new AbortController();
    this.#claim?.onHorizonMoved();
    moved.abort(OVER);
  }

  lose(reason: SessionLost): void {
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(reason);
    this.stopRenewing();
  }

  stopRenewing(): void {
    this.#owner.removeShare(this);
  }

  /** Removes the keys that may be left. The session goes on: other runs use it. */
  async end(until: number, keys: readonly string[]): Promise<void> {
    const { ports, store, session } = this.#owner;
    try {
      if (keys.length === 0) return;
      const txn: Txn = {
        compare: [],
        success: keys.map((key) => buildRemoval(ports.keys, key, session.id)),
        failure: [],
      };
      await retryUnavailable(ports, until, (call) => store.commitTxn(txn, call));
    } catch (error) {
      if (!(error instanceof SessionLost)) throw error; // its keys are gone with the session, or are those of another agent
    } finally {
      this.stopRenewing();
    }
  }
}

/** Removes a ticket with its mark if it is on the session: a ticket in grace is on another one. */
function buildRemoval(keys: Keys, key: string, session: bigint): Op {
  const compare: Compare[] = [{ key, target: "session", is: "equal", value: session }];
  const success: Op[] = [{ op: "delete", key }, ...deleteMarks(keys, [{ key }])];
  return { op: "txn", txn: { compare, success, failure: [] } };
}
