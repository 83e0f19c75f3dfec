import { type Member, MemberError } from "../member.ts";
import { StoreError } from "../store.ts";
import type { WireHeader } from "../wire-types.ts";

/**
 * The cluster from which responses are accepted: the configured one, else the first one that answers. If the endpoints
 * belonged to two clusters, both would grant the same lock, and each would count its own tokens.
 */
export class ClusterPin {
  readonly #isConfigured: boolean;
  #id: bigint | undefined;
  /** Members of the cluster that have answered so far. */
  readonly #trusted = new Set<Member>();
  /** The error text for an endpoint that belongs to another cluster. */
  #fault: string | undefined;

  /** @param configured  undefined: the first response sets the cluster */
  constructor(configured: bigint | undefined) {
    this.#id = configured;
    this.#isConfigured = configured !== undefined;
  }

  /**
   * Whether a member may receive a write. Another cluster applies a write even if its response is rejected. Returns
   * true while the cluster is still undefined: the first response then sets it.
   */
  isTrusted(member: Member): boolean {
    return this.#id === undefined || this.#trusted.has(member);
  }

  /**
   * Checks which cluster a response comes from.
   * @throws MemberError, usually `otherCluster`; other endpoints may belong to the right cluster
   */
  check(member: Member, header: WireHeader | undefined): void {
    const id = BigInt(header?.cluster_id ?? 0) || undefined;
    if (id === undefined && !this.#isConfigured) return; // a server that speaks etcd's protocol need not be etcd
    this.#id ??= id;
    if (id === this.#id) {
      this.#trusted.add(member);
      return;
    }
    this.#trusted.delete(member);
    this.#fault = this.#describe(member.endpoint, id);
    // If members of the configured cluster have answered before, they may be only temporarily unavailable.
    const isKnown = this.#isConfigured && this.#trusted.size > 0;
    throw new MemberError(isKnown ? "unavailable" : "otherCluster", "elsewhere", this.#fault);
  }

  /**
   * Call this before granting a session: with two clusters among the endpoints and none configured, no new session is
   * granted.
   * @throws StoreError
   */
  checkUnambiguous(): void {
    if (this.#fault !== undefined && !this.#isConfigured) throw new StoreError("otherCluster", this.#fault);
  }

  #describe(endpoint: string, id: bigint | undefined): string {
    const theirs =
      id === undefined
        ? "does not say which cluster it belongs to"
        : `belongs to cluster ${formatClusterId(id)}`;
    const ours = formatClusterId(this.#id ?? 0n);
    const expected = this.#isConfigured
      ? `clusterId is ${ours}`
      : `another endpoint belongs to cluster ${ours}; name the members of one cluster only, and set clusterId`;
    return `${endpoint} ${theirs}, but ${expected}`;
  }
}

/** Formats a cluster id as in etcd's log. */
function formatClusterId(id: bigint): string {
  return id.toString(16);
}
