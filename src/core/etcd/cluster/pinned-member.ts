import { type Member, MemberError } from "../member.ts";
import { StoreError } from "../store.ts";
import { parseInteger, type WireHeader } from "../wire-codec.ts";
import type { ClusterMemory, RememberedCluster } from "./cluster-memory.ts";

/**
 * The cluster from which responses are accepted: the configured one, else the one that this host remembers, else the first
 * one that answers. If the endpoints belonged to two clusters, both would grant the same lock, and each would count its
 * own tokens.
 */
export class ClusterPin {
  readonly #memory: ClusterMemory | undefined;
  #id: bigint | undefined;
  /** A clause that says where the cluster was configured or remembered; undefined if the first response set it. */
  #origin: string | undefined;
  /** Members of the cluster that have answered so far. */
  readonly #trusted = new Set<Member>();
  /** The error text for an endpoint that belongs to another cluster. */
  #fault: string | undefined;

  /**
   * @param configured  undefined: as remembered; if nothing is, the first response sets the cluster
   * @param memory  asked only if no cluster is configured
   * @throws ConfigError if the memory is damaged
   */
  constructor(configured: bigint | undefined, memory?: ClusterMemory) {
    this.#id = configured;
    if (configured !== undefined) this.#origin = `clusterId is ${formatClusterId(configured)}`;
    this.#memory = configured === undefined ? memory : undefined;
    const remembered = this.#memory?.recall();
    if (remembered !== undefined) this.#use(remembered);
  }

  /**
   * Whether a member may receive a write. A member of another cluster would apply the write even if its response is
   * rejected, so a member receives none before it has answered from the pinned cluster.
   */
  isTrusted(member: Member): boolean {
    return this.#trusted.has(member);
  }

  /**
   * Checks which cluster a response comes from.
   * @throws MemberError, usually `otherCluster`; other endpoints may belong to the right cluster
   */
  check(member: Member, header: WireHeader | undefined): void {
    const id = parseInteger(header?.cluster_id) || undefined;
    // A server that speaks etcd's protocol need not be etcd.
    if (id !== undefined && this.#id === undefined) this.#adopt(id);
    if (id === this.#id || (id === undefined && this.#origin === undefined)) {
      this.#trusted.add(member);
      return;
    }
    this.#trusted.delete(member);
    this.#fault = this.#describe(member.endpoint, id);
    // If members of the chosen cluster have answered before, they may be only temporarily unavailable.
    const isKnown = this.#origin !== undefined && this.#trusted.size > 0;
    throw new MemberError(isKnown ? "unavailable" : "otherCluster", "elsewhere", this.#fault);
  }

  /**
   * Call this before granting a session: with two clusters among the endpoints and none chosen before, no new session is
   * granted.
   * @throws StoreError
   */
  checkUnambiguous(): void {
    if (this.#fault !== undefined && this.#origin === undefined)
      throw new StoreError("otherCluster", this.#fault);
  }

  /** Pins the cluster of the first response, unless another process on this host has already remembered one. */
  #adopt(id: bigint): void {
    this.#id = id;
    const remembered = this.#memory?.remember(id);
    if (remembered !== undefined && "id" in remembered && remembered.id !== id) this.#use(remembered);
  }

  #use({ id, path }: RememberedCluster): void {
    this.#id = id;
    this.#origin = `this host remembers the cluster ${formatClusterId(id)} for these endpoints (${path}); if that cluster was replaced, run: signalbox init --forget-cluster`;
  }

  #describe(endpoint: string, id: bigint | undefined): string {
    const theirs =
      id === undefined
        ? "does not say which cluster it belongs to"
        : `belongs to cluster ${formatClusterId(id)}`;
    const ours = formatClusterId(this.#id ?? 0n);
    const other = `another endpoint belongs to cluster ${ours}; name the members of one cluster only, and set clusterId`;
    return `${endpoint} ${theirs}, but ${this.#origin ?? other}`;
  }
}

/** Formats a cluster id as in etcd's log. */
function formatClusterId(id: bigint): string {
  return id.toString(16);
}

/**
 * A request for the time to live of a session that does not exist. It changes nothing, every user may send it, and its
 * response names the cluster.
 */
const NO_SESSION = { ID: "1" };

/** Returns a member whose responses are accepted only if they come from the pinned cluster. */
export function pinMember(member: Member, pin: ClusterPin): Member {
  const check = (answer: unknown) =>
    pin.check(pinned, (answer as { header?: WireHeader | null }).header ?? undefined);
  const pinned: Member = {
    endpoint: member.endpoint,
    async call(rpc, request, options) {
      if (rpc === "grant") pin.checkUnambiguous();
      // Another cluster applies the request even if its response is rejected.
      if (rpc === "txn" && !pin.isTrusted(pinned)) await pinned.call("remaining", NO_SESSION, options);
      const answer = await member.call(rpc, request, options);
      const mayLackHeader = rpc === "authenticate" && !(answer as { header?: WireHeader | null }).header;
      if (rpc !== "status" && !mayLackHeader) check(answer); // callers of status compare clusters themselves
      return answer;
    },
    async openWatchStream(signal, token) {
      const { send, responses } = await member.openWatchStream(signal, token);
      return { send, responses: checkResponses(responses, check) };
    },
    close: () => member.close(),
  };
  return pinned;
}

async function* checkResponses(
  responses: AsyncIterator<unknown>,
  check: (answer: unknown) => void,
): AsyncGenerator<unknown, void> {
  try {
    for (let next = await responses.next(); !next.done; next = await responses.next()) {
      check(next.value);
      yield next.value;
    }
  } finally {
    await responses.return?.();
  }
}
