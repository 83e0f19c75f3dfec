import {
  Session,
  type SessionOwner,
  type SessionProof,
  type TicketVersion,
} from "../etcd/session/session.ts";
import { SessionLost } from "../etcd/session/session-lost.ts";
import type { Store } from "../etcd/store.ts";
import { guardUnchanged } from "../protocol/guards.ts";
import type { Txn } from "../protocol/txn.ts";
import { ClaimShare, type ShareOwner } from "./claim-share.ts";
import { createFencedStore, type Fence, inspectFence, moveFence, writeNewFence } from "./fence.ts";
import type { AgentPorts } from "./ports.ts";

/** A renewal whose proofs arrive one by one: a deadline must not wait for the proof of another run. */
class ProofRound {
  /** Raft term of the read that proves the session. */
  raftTerm: bigint | undefined;
  /** The horizon of the session after this renewal. Undefined: the renewal does not count yet. */
  horizon: number | undefined;
  /** Proofs that have not moved a deadline yet. */
  readonly proofs = new Map<ClaimShare, SessionProof>();
  /** How often the horizon had moved back. If it moves back later, the proofs do not count. */
  readonly shortenings: number;

  constructor(shortenings: number) {
    this.shortenings = shortenings;
  }
}

/** A session for all runs of this host with the same time to live. */
export class SharedSession implements SessionOwner, ShareOwner {
  readonly ports: AgentPorts;
  readonly session: Session;
  readonly store: Store;
  /** Instant on the clock, ms, from which tickets without a run may be removed. */
  readonly sweepFrom: number;
  readonly #fence: Fence;
  readonly #shares = new Set<ClaimShare>();
  /** Runs with a share, each with the newest one. */
  readonly #runs = new Map<string, ClaimShare>();
  readonly #condemned = new Set<string>();
  readonly #onRenewed: (session: SharedSession) => void;
  #round: ProofRound | undefined;
  /** How often the horizon has moved back. */
  #shortenings = 0;
  #horizonBefore: number;
  #idleSince: number;

  private constructor(
    ports: AgentPorts,
    session: Session,
    fence: Fence,
    how: { sweepFrom: number; onRenewed: (session: SharedSession) => void },
  ) {
    this.ports = ports;
    this.session = session;
    this.#fence = fence;
    this.sweepFrom = how.sweepFrom;
    this.#onRenewed = how.onRenewed;
    this.store = createFencedStore(ports.store, ports.keys, fence, (reason) => session.lose(reason));
    this.#horizonBefore = session.horizon;
    this.#idleSince = ports.clock.now();
    session.signal.addEventListener("abort", () => this.#loseShares(session.signal.reason as SessionLost));
    session.keepAlive(this);
  }

  /**
   * Opens a new session.
   * @param ttl        whole seconds
   * @param onRenewed  called after each renewal that counts
   * @throws StoreError
   */
  static async open(
    ports: AgentPorts,
    ttl: number,
    until: number,
    onRenewed: (session: SharedSession) => void,
  ): Promise<SharedSession> {
    const session = await Session.open(ports, ttl, until);
    const fence = await writeNewFence(ports, session.id, until).catch((error) => {
      session.stopRenewing();
      throw error;
    });
    if (fence === undefined) throw new SessionLost("expired", "the session expired as it was opened");
    return new SharedSession(ports, session, fence, { sweepFrom: 0, onRenewed });
  }

  /**
   * Takes over a session of an earlier agent: first the fence, so that nothing of that agent is applied any more, then a
   * renewal that a read proves. For a time to live nothing on it is removed: until then a command may run by a deadline
   * that the earlier agent has given.
   * @param ttl  whole seconds
   * @returns undefined if the session is gone
   * @throws StoreError
   */
  static async takeOver(
    ports: AgentPorts,
    id: bigint,
    ttl: number,
    until: number,
    onRenewed: (session: SharedSession) => void,
  ): Promise<SharedSession | undefined> {
    const fence = await moveFence(ports, id, until);
    if (fence === undefined) return undefined;
    const sweepFrom = ports.clock.now() + ttl * 1000;
    const prove = async () => toProof(await inspectFence(ports.store, fence));
    const session = await Session.resume(ports, id, prove, until);
    return session && new SharedSession(ports, session, fence, { sweepFrom, onRenewed });
  }

  /** Adds a run. */
  addShare(run: string): ClaimShare {
    const share = new ClaimShare(this, run);
    this.#shares.add(share);
    this.#runs.set(run, share);
    return share;
  }

  /** Removes a run. It is never resumed: a late copy of its last calls must not meet tickets that it has put again. */
  removeShare(share: ClaimShare): void {
    this.#shares.delete(share);
    if (this.#runs.get(share.run) === share) this.#runs.delete(share.run);
    if (this.isTakenOver) this.condemn(share.run);
    if (this.#shares.size === 0) this.#idleSince = this.ports.clock.now();
  }

  /** Whether the session was opened by an earlier agent. */
  get isTakenOver(): boolean {
    return this.sweepFrom > 0;
  }

  hasRun(run: string): boolean {
    return this.#runs.has(run);
  }

  /** Marks a run that has ended, or whose tickets are about to be removed: it must not be resumed. */
  condemn(run: string): void {
    this.#condemned.add(run);
  }

  isCondemned(run: string): boolean {
    return this.#condemned.has(run);
  }

  /** How long no run has used it, ms. */
  get idleTime(): number {
    return this.#shares.size > 0 ? 0 : this.ports.clock.now() - this.#idleSince;
  }

  /** Called by the session after a renewal: checks the fence. Each claim is proved for itself, and delays no other. */
  async prove(): Promise<SessionProof> {
    const { proofStore } = this.ports;
    const round = new ProofRound(this.#shortenings);
    this.#round = round;
    void proveShares(proofStore, [...this.#shares], this.#fence.key, (share, proof) => {
      round.proofs.set(share, proof);
      this.#applyProofs(round);
    });
    const fence = await inspectFence(proofStore, this.#fence);
    round.raftTerm = fence.raftTerm;
    if (fence.loss?.kind === "moved") this.session.lose(fence.loss);
    return toProof(fence);
  }

  /** Called by the session when its horizon has moved: forward after `prove`, or back after a pause of the machine. */
  onHorizonMoved(): void {
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

function toProof({ raftTerm, loss }: Awaited<ReturnType<typeof inspectFence>>): SessionProof {
  return { raftTerm, fault: loss?.message };
}

/** How many tickets one transaction compares. etcd allows 128 operations. */
const CHUNK = 100;

/** A share whose tickets are known. */
interface KnownShare {
  share: ClaimShare;
  tickets: readonly TicketVersion[];
}

/**
 * Proves the claims of all shares, of many with one linearizable read: tickets with the `mod_revision` that was read are
 * the same tickets, without a request to reset them. If one has changed, each of its transaction is proved by itself.
 * @param anchor   a key to read: a transaction without operations is not a linearizable read
 * @param onProof  receives each proof as soon as it is there; none if etcd does not answer
 */
export async function proveShares(
  store: Store,
  shares: readonly ClaimShare[],
  anchor: string,
  onProof: (share: ClaimShare, proof: SessionProof) => void,
): Promise<void> {
  const known = shares.flatMap((share): KnownShare[] => {
    const tickets = share.listTickets();
    return tickets === undefined || tickets.length === 0 || tickets.length > CHUNK
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
  for (const one of all) {
    if (one.tickets.length > left) {
      chunks.push([]);
      left = CHUNK;
    }
    chunks.at(-1)?.push(one);
    left -= one.tickets.length;
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
