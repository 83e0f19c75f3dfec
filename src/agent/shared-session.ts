import {
  type Millis,
  type MonotonicTime,
  NO_LONGER_NEEDED,
  pickEarlier,
  pickLater,
  subtractTime,
} from "../core/base/clock.ts";
import { waitUntilNear } from "../core/etcd/session/horizon.ts";
import type { Session, SessionOwner, SessionProof, TicketVersion } from "../core/etcd/session/session.ts";
import { SessionLost } from "../core/etcd/session/session.ts";
import { retryUnavailable, type Store } from "../core/etcd/store.ts";
import { deleteMarks, guardUnchanged } from "../core/protocol/guards.ts";
import type { Keys } from "../core/protocol/keys.ts";
import type { Compare, Op, Txn } from "../core/protocol/txn.ts";
import type { ClaimSession } from "../core/run/request.ts";
import { type AgentPorts, createFencedStore, type Fence, inspectFence } from "./fence.ts";

/**
 * A renewal. The proofs of its runs arrive one by one, because the deadline of a run must not wait for another run's
 * proof.
 */
interface ProofRound {
  /** Raft term of the read that proves the session. */
  raftTerm?: bigint;
  /** The horizon of the session after this renewal. Undefined: the renewal does not count yet. */
  horizon?: MonotonicTime;
  /** Proofs that have not moved a deadline yet. */
  proofs: Map<ClaimShare, SessionProof>;
  /** How often the horizon had moved back at the start of the renewal. If it moves back later, the proofs do not count. */
  shortenings: number;
}

/** A session for all runs of this host with the same time to live. */
export class SharedSession implements SessionOwner {
  readonly ports: AgentPorts;
  readonly session: Session;
  readonly store: Store;
  readonly sweepFrom: MonotonicTime | undefined;
  readonly #fence: Fence;
  readonly #shares = new Set<ClaimShare>();
  /** The newest share of each run. */
  readonly #runs = new Map<string, ClaimShare>();
  readonly #condemned = new Set<string>();
  readonly #onRenewed: (session: SharedSession) => void;
  #round: ProofRound | undefined;
  /** How often the horizon has moved back. */
  #shortenings = 0;
  #horizonBefore: MonotonicTime;
  #idleSince: MonotonicTime;

  /**
   * @param sweepFrom  instant after which tickets without a run may be removed; undefined for a session of this agent
   * @param onRenewed  called after each renewal that counts
   */
  constructor(
    ports: AgentPorts,
    session: Session,
    fence: Fence,
    sweepFrom: MonotonicTime | undefined,
    onRenewed: (session: SharedSession) => void,
  ) {
    this.ports = ports;
    this.session = session;
    this.#fence = fence;
    this.sweepFrom = sweepFrom;
    this.#onRenewed = onRenewed;
    this.store = createFencedStore(ports.store, ports.keys, fence, (reason) => session.lose(reason));
    this.#horizonBefore = session.horizon;
    this.#idleSince = ports.clock.now();
    session.signal.addEventListener("abort", () => this.#loseShares(session.signal.reason as SessionLost));
    session.keepAlive(this);
  }

  addShare(run: string): ClaimShare {
    const share = new ClaimShare(this, run);
    this.#shares.add(share);
    this.#runs.set(run, share);
    return share;
  }

  /** Removes a run. It is never resumed: a late copy of its last calls could then affect tickets that it has put since. */
  removeShare(share: ClaimShare): void {
    this.#shares.delete(share);
    if (this.#runs.get(share.run) === share) this.#runs.delete(share.run);
    if (this.isTakenOver) this.condemn(share.run);
    if (this.#shares.size === 0) this.#idleSince = this.ports.clock.now();
  }

  /** Whether the session was opened by an earlier agent. */
  get isTakenOver(): boolean {
    return this.sweepFrom !== undefined;
  }

  hasRun(run: string): boolean {
    return this.#runs.has(run);
  }

  /** Marks a run that must not be resumed, because it has ended or its tickets are about to be removed. */
  condemn(run: string): void {
    this.#condemned.add(run);
  }

  isCondemned(run: string): boolean {
    return this.#condemned.has(run);
  }

  /** How long no run has used the session. */
  get idleTime(): Millis {
    return this.#shares.size > 0 ? 0 : subtractTime(this.ports.clock.now(), this.#idleSince);
  }

  /** Called by the session after a renewal: checks the fence. Claims are proved separately, so that none delays another. */
  async prove() {
    const { proofStore } = this.ports;
    const round: ProofRound = { proofs: new Map(), shortenings: this.#shortenings };
    this.#round = round;
    void proveShares(proofStore, [...this.#shares], this.#fence.key, (share, proof) => {
      round.proofs.set(share, proof);
      this.#applyProofs(round);
    });
    const fence = await inspectFence(proofStore, this.#fence);
    round.raftTerm = fence.raftTerm;
    if (fence.loss?.kind === "moved") this.session.lose(fence.loss);
    return fence;
  }

  /** Called by the session when its horizon has moved: forward after `prove`, or back after a pause of the machine. */
  onHorizonMoved() {
    const isShortened = this.session.horizon < this.#horizonBefore;
    this.#horizonBefore = this.session.horizon;
    if (isShortened) {
      this.#shortenings += 1;
      for (const share of this.#shares) share.shorten();
    } else {
      if (this.#round !== undefined) {
        this.#round.horizon = this.session.horizon;
        this.#applyProofs(this.#round);
      }
      this.#onRenewed(this);
    }
  }

  /** Moves the deadlines of the runs that were proved, once the renewal counts. */
  #applyProofs({ proofs, raftTerm, horizon, shortenings }: ProofRound): void {
    if (horizon === undefined || shortenings !== this.#shortenings) return;
    for (const [share, proof] of proofs) {
      if (!this.#shares.has(share)) continue; // it has ended meanwhile
      if (proof.fault !== undefined) share.lose(new SessionLost("unfounded", proof.fault));
      else if (proof.raftTerm === raftTerm) share.extend(horizon);
    }
    proofs.clear();
  }

  #loseShares(reason: SessionLost): void {
    for (const share of [...this.#shares]) share.lose(reason);
  }
}

/** Maximum number of tickets that one transaction compares. etcd allows 128 operations. */
const MAX_COMPARED_TICKETS = 100;

/** A share whose tickets are known. */
interface KnownShare {
  share: ClaimShare;
  tickets: readonly TicketVersion[];
}

/**
 * Proves the claims of all shares, many of them with one linearizable read: a ticket whose `mod_revision` is unchanged is
 * the same ticket, without a request to reset it. If a ticket has changed, the claims of that read are proved one by one.
 * @param anchor   a key to read: a transaction without operations is not a linearizable read
 * @param onProof  receives each proof when it arrives; none if etcd does not answer
 */
export async function proveShares(
  store: Store,
  shares: readonly ClaimShare[],
  anchor: string,
  onProof: (share: ClaimShare, proof: SessionProof) => void,
): Promise<void> {
  const known = shares.flatMap((share): KnownShare[] => {
    const tickets = share.listTickets();
    return tickets === undefined || tickets.length === 0 || tickets.length > MAX_COMPARED_TICKETS
      ? []
      : [{ share, tickets }];
  });
  const isKnown = new Set(known.map(({ share }) => share));
  const proveAlone = async (share: ClaimShare) => {
    const proof = await share.prove(store);
    if (proof !== undefined) onProof(share, proof);
  };
  await Promise.all([
    ...splitShares(known).map(async (chunk) => {
      const proof = await proveTogether(store, chunk, anchor);
      if (proof === undefined) await Promise.all(chunk.map(({ share }) => proveAlone(share)));
      else for (const { share } of chunk) onProof(share, proof);
    }),
    ...shares.filter((share) => !isKnown.has(share)).map(proveAlone),
  ]);
}

function splitShares(all: readonly KnownShare[]): KnownShare[][] {
  const chunks: KnownShare[][] = [];
  let left = 0;
  for (const known of all) {
    if (known.tickets.length > left) {
      chunks.push([]);
      left = MAX_COMPARED_TICKETS;
    }
    chunks.at(-1)?.push(known);
    left -= known.tickets.length;
  }
  return chunks;
}

/** @returns undefined if a ticket has changed, or etcd does not answer */
async function proveTogether(
  store: Store,
  chunk: readonly KnownShare[],
  anchor: string,
): Promise<SessionProof | undefined> {
  const read = { op: "range", key: anchor } as const;
  const compare = guardUnchanged(chunk.flatMap(({ tickets }) => tickets));
  const txn: Txn = { compare, success: [read], failure: [read] };
  const answer = await store.commitTxn(txn).catch(() => undefined);
  return answer?.succeeded ? { raftTerm: answer.raftTerm, fault: undefined } : undefined;
}

/**
 * One run on a session that many runs share. The session may outlive the run's tickets, so the horizon of the run moves
 * only after a renewal that is followed by a read of these tickets.
 */
export class ClaimShare implements ClaimSession {
  readonly run: string;
  readonly #owner: SharedSession;
  readonly #lost = new AbortController();
  #claim: SessionOwner | undefined;
  #horizon: MonotonicTime;
  /** Aborted when the horizon moves back, so that waiting callers check again. */
  #moved = new AbortController();

  constructor(owner: SharedSession, run: string) {
    this.run = run;
    this.#owner = owner;
    this.#horizon = owner.session.horizon;
  }

  get id() {
    return this.#owner.session.id;
  }

  get signal() {
    return this.#lost.signal;
  }

  get grantTerm() {
    return this.#owner.session.grantTerm;
  }

  get ttl() {
    return this.#owner.session.ttl;
  }

  get isDoubted() {
    return this.#owner.session.isDoubted;
  }

  get horizon() {
    return pickEarlier(this.#horizon, this.#owner.session.horizon);
  }

  async waitUntilHorizonNear(lead: Millis, signal: AbortSignal) {
    const { clock } = this.#owner.ports;
    await waitUntilNear(clock, () => ({ at: this.horizon, moved: this.#moved.signal }), lead, signal);
  }

  keepAlive(owner: SessionOwner) {
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

  /**
   * Moves the horizon after a renewal and a proof.
   * @param horizon  that of the renewal; those of later renewals may arrive first
   */
  extend(horizon: MonotonicTime): void {
    this.#horizon = pickLater(this.#horizon, horizon);
    this.#claim?.onHorizonMoved();
  }

  /** Called when the horizon of the session has moved back. */
  shorten(): void {
    const moved = this.#moved;
    this.#moved = new AbortController();
    this.#claim?.onHorizonMoved();
    moved.abort(NO_LONGER_NEEDED);
  }

  lose(reason: SessionLost) {
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(reason);
    this.stopRenewing();
  }

  stopRenewing() {
    this.#owner.removeShare(this);
  }

  /** Removes the keys that may be left. The session continues: other runs use it. */
  async end(until: MonotonicTime, keys: readonly string[]) {
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
      if (!(error instanceof SessionLost)) throw error; // the keys are gone with the session, or belong to another agent now
    } finally {
      this.stopRenewing();
    }
  }
}

/** Removes a ticket and its mark if the ticket is on the session. A ticket in grace is on another one, and stays. */
function buildRemoval(keys: Keys, key: string, session: bigint): Op {
  const compare: Compare[] = [{ key, target: "session", is: "equal", value: session }];
  const success: Op[] = [{ op: "delete", key }, ...deleteMarks(keys, [{ key }])];
  return { op: "txn", txn: { compare, success, failure: [] } };
}
