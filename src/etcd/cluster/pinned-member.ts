import type { AttemptOptions, Member, Rpc, WatchStream } from "../member.ts";
import type { WireHeader } from "../wire-types.ts";
import type { ClusterPin } from "./cluster-pin.ts";

/**
 * A request for the time to live of a session that does not exist. It changes nothing, every user may send it, and its
 * response names the cluster.
 */
const NO_SESSION = { ID: "1" };

/** A member whose responses are accepted only if they come from the pinned cluster. */
export class PinnedMember implements Member {
  readonly endpoint: string;
  readonly #member: Member;
  readonly #pin: ClusterPin;

  constructor(member: Member, pin: ClusterPin) {
    this.endpoint = member.endpoint;
    this.#member = member;
    this.#pin = pin;
  }

  async call(rpc: Rpc, request: object, options: AttemptOptions): Promise<unknown> {
    if (rpc === "grant") this.#pin.checkUnambiguous();
    // Another cluster applies the request even if its response is rejected.
    if (rpc === "txn" && !this.#pin.isTrusted(this)) await this.call("remaining", NO_SESSION, options);
    const answer = await this.#member.call(rpc, request, options);
    if (rpc !== "status") this.#check(rpc === "authenticate", answer); // callers of status compare clusters themselves
    return answer;
  }

  async openWatchStream(signal: AbortSignal, token?: string): Promise<WatchStream> {
    const { send, responses } = await this.#member.openWatchStream(signal, token);
    return { send, responses: this.#checkResponses(responses) };
  }

  close(): void {
    this.#member.close();
  }

  /** @param mayLackHeader  accept a response without a header */
  #check(mayLackHeader: boolean, answer: unknown): void {
    const { header } = answer as { header?: WireHeader | null };
    if (header || !mayLackHeader) this.#pin.check(this, header ?? undefined);
  }

  async *#checkResponses(responses: AsyncIterator<unknown>): AsyncGenerator<unknown, void> {
    try {
      for (let next = await responses.next(); !next.done; next = await responses.next()) {
        this.#check(false, next.value);
        yield next.value;
      }
    } finally {
      await responses.return?.();
    }
  }
}
