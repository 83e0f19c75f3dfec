import { createHash } from "node:crypto";

/**
 * Computes the id that a new etcd will have, as etcd does. The id of a member is a hash of its address for peers and of the
 * cluster's token; that of the cluster is a hash of its members' ids.
 * @param peers  one address for each member
 */
export function computeClusterId(peers: readonly string[], token: string): string {
  const members = peers.map((peer) => hashToId(Buffer.from(peer + token)));
  return hashToId(Buffer.concat(members.sort(Buffer.compare))).toString("hex");
}

/** The first eight bytes of the SHA-1. */
function hashToId(bytes: Buffer): Buffer {
  return createHash("sha1").update(bytes).digest().subarray(0, 8);
}
