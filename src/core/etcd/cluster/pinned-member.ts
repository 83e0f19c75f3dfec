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
  #remembering: Promise<void> | undefined;

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
    if (id !== undefined && this.#id === undefined) this.#id = id;
    if (id === this.#id || (id === undefined && this.#origin === undefined)) {
      this.#trusted.add(member);
      return;
    }
    const wasReplaced = this.#trusted.delete(member);
    this.#fault = this.#describe(member.endpoint, id, wasReplaced);
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

  /**
   * Remembers the cluster of the first response on this host, unless another process has remembered one meanwhile. Before that,
   * asks all members: with two clusters among the endpoints, each host could remember another one.
   * @throws StoreError `otherCluster`
   */
  async remember(members: readonly Member[]): Promise<void> {
    if (this.#memory === undefined || this.#origin !== undefined || this.#id === undefined) return;
    this.#remembering ??= this.#rememberVerified(this.#memory, members, this.#id);
    await this.#remembering;
    this.checkUnambiguous();
  }

  async #rememberVerified(memory: ClusterMemory, members: readonly Member[], id: bigint): Promise<void> {
    if (members.length > 1)
      await Promise.all(members.map((member) => askCluster(member, this).catch(() => undefined)));
    if (this.#fault !== undefined) return;
    const remembered = memory.remember(id);
    if ("id" in remembered && remembered.id !== id) this.#use(remembered);
  }

  #use({ id, path }: RememberedCluster): void {
    this.#id = id;
    this.#origin = `this host remembers the cluster ${formatClusterId(id)} for these endpoints (${path}); if that cluster was replaced, run: signalbox init --forget-cluster`;
  }

  #describe(endpoint: string, id: bigint | undefined, wasReplaced: boolean): string {
    const theirs =
      id === undefined
        ? "does not say which cluster it belongs to"
        : `belongs to cluster ${formatClusterId(id)}`;
    const ours = formatClusterId(this.#id ?? 0n);
    if (wasReplaced && this.#origin === undefined)
      return `${endpoint} ${theirs}, but to cluster ${ours} before: the cluster was replaced; start this program again`;
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
export const NO_SESSION = { ID: "1" };

/** Time for a member to say which cluster it belongs to, ms. One that does not answer says nothing. */
const IDENTITY_WITHIN_MS = 1_000;

/** Asks a member which cluster it belongs to. @throws what the call throws; MemberError of the check */
async function askCluster(member: Member, pin: ClusterPin): Promise<void> {
  const signal = AbortSignal.timeout(IDENTITY_WITHIN_MS);
  const answer = await member.call("remaining", NO_SESSION, { signal, fresh: false });
  pin.check(member, (answer as { header?: WireHeader | null }).header ?? undefined);
}

/** Returns members whose responses are accepted only if they come from the pinned cluster. */
export function pinMembers(members: readonly Member[], pin: ClusterPin): Member[] {
  return members.map((member) => pinMember(member, members, pin));
}

function pinMember(member: Member, members: readonly Member[], pin: ClusterPin): Member {
  const check = (answer: unknown) =>
    pin.check(pinned, (answer as { header?: WireHeader | null }).header ?? undefined);
  const rethrow = (error: unknown): never => {
    throw pin.isTrusted(pinned) ? explainRefusedCertificate(error) : error;
  };
  const pinned: Member = {
    endpoint: member.endpoint,
    async call(rpc, request, options) {
      if (rpc === "grant") pin.checkUnambiguous();
      // Another cluster applies the request even if its response is rejected.
      if (rpc === "txn" && !pin.isTrusted(pinned)) await pinned.call("remaining", NO_SESSION, options);
      const answer = await member.call(rpc, request, options).catch(rethrow);
      const mayLackHeader = rpc === "authenticate" && !(answer as { header?: WireHeader | null }).header;
      if (rpc === "status" || mayLackHeader) return answer; // callers of status compare clusters themselves
      check(answer);
      await pin.remember(members);
      check(answer); // another process may have remembered another cluster
      return answer;
    },
    async openWatchStream(signal, token) {
      const { send, responses } = await member.openWatchStream(signal, token).catch(rethrow);
      return { send, responses: checkResponses(responses, check, rethrow) };
    },
    close: () => member.close(),
  };
  return pinned;
}

/** Explains that etcd refuses a certificate that it has accepted before. It is renewed sooner or later, so calls are repeated. */
function explainRefusedCertificate(error: unknown): unknown {
  const isRefused =
    error instanceof MemberError && error.kind === "unauthenticated" && error.advice === "elsewhere";
  if (!isRefused) return error;
  const text = `${error.message}: they are read again for each connection`;
  return new MemberError("unavailable", "elsewhere", text, { cause: error });
}

async function* checkResponses(
  responses: AsyncIterator<unknown>,
  check: (answer: unknown) => void,
  rethrow: (error: unknown) => never,
): AsyncGenerator<unknown, void> {
  try {
    for (let next = await responses.next(); !next.done; next = await responses.next()) {
      check(next.value);
      yield next.value;
    }
  } catch (error) {
    rethrow(error);
  } finally {
    await responses.return?.();
  }
}
