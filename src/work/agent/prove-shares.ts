import type { SessionProof, TicketVersion } from "../../etcd/session/session.ts";
import type { Store } from "../../etcd/store.ts";
import { guardUnchanged } from "../../protocol/guards.ts";
import type { Txn } from "../../protocol/txn.ts";
import type { ClaimShare } from "./claim-share.ts";

/** Tickets that one transaction compares: fewer than etcd's 128 operations. */
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
