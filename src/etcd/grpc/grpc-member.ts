import type { Etcd3 } from "etcd3";
import { type AttemptOptions, type Member, MemberError, type Rpc, type WatchStream } from "../member.ts";
import { CallInterceptor, type CallOptions } from "./call-interceptor.ts";
import { callKv, openWatch } from "./own-messages.ts";
import { SharedClient } from "./shared-client.ts";
import { askOnce, openGrpcStream } from "./stream.ts";

/** gRPC's own deadline for a call, ms: a safety net far above the timeouts of failover. */
const DEADLINE_MS = 30_000;

/** One member over gRPC. Its client is replaced when the connection may be dead. */
export class GrpcMember implements Member {
  readonly endpoint: string;
  readonly #make: () => Etcd3;
  #client: SharedClient | undefined;
  /** Clients with a connection: the current one, and replaced ones that still have calls in flight. */
  readonly #open = new Set<SharedClient>();
  #closed = false;

  /** @param make builds a client with its own connection */
  constructor(endpoint: string, make: () => Etcd3) {
    this.endpoint = endpoint;
    this.#make = make;
  }

  async call(rpc: Rpc, request: object, { signal, fresh, token }: AttemptOptions): Promise<unknown> {
    signal.throwIfAborted();
    if (fresh) this.#replaceDoubtedClient();
    const client = this.#getClient();
    const end = client.beginUse();
    signal.addEventListener("abort", end); // at once: the caller may request a fresh connection next
    try {
      return await this.#runIntercepted(client, token, signal, (options) =>
        invoke(client.etcd, rpc, request, options),
      );
    } finally {
      signal.removeEventListener("abort", end);
      end();
    }
  }

  async openWatchStream(signal: AbortSignal, token?: string): Promise<WatchStream> {
    signal.throwIfAborted();
    const client = this.#getClient();
    signal.addEventListener("abort", client.beginUse(), { once: true });
    const tap = new CallInterceptor(this.endpoint, token, undefined, () => client.markAlive());
    return openGrpcStream(await openWatch(client.etcd, tap.options), tap, signal);
  }

  close(): void {
    this.#closed = true;
    for (const { etcd } of this.#open) etcd.close();
  }

  /** Makes a call that is cancelled with the signal and throws MemberErrors. */
  async #runIntercepted<T>(
    client: SharedClient,
    token: string | undefined,
    signal: AbortSignal,
    call: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const tap = new CallInterceptor(this.endpoint, token, DEADLINE_MS, () => client.markAlive());
    const onAbort = () => tap.cancel();
    signal.addEventListener("abort", onAbort);
    try {
      return await call(tap.options);
    } catch (error) {
      throw tap.toMemberError(error);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #getClient(): SharedClient {
    if (this.#closed)
      throw new MemberError("unavailable", "retry", `${this.endpoint}: the connection was closed`);
    if (this.#client === undefined) {
      const client: SharedClient = new SharedClient(this.#make(), () => this.#open.delete(client));
      this.#open.add(client);
      this.#client = client;
    }
    return this.#client;
  }

  /** Drops the client, unless the server has sent something on its connection since the unanswered call began. */
  #replaceDoubtedClient(): void {
    if (!this.#client?.isDoubted) return;
    this.#client.retire();
    this.#client = undefined;
  }
}

/** Sends a request, which wire-codec.ts has built in the shape of the call. */
async function invoke(etcd: Etcd3, rpc: Rpc, request: object, options: CallOptions): Promise<unknown> {
  const { auth, leaseClient, maintenance, cluster } = etcd;
  switch (rpc) {
    case "authenticate":
      return await auth.authenticate(request as never, options);
    case "grant":
      return await leaseClient.leaseGrant(request as never, options);
    case "remaining": {
      const { keys, ...rest } = await leaseClient.leaseTimeToLive(request as never, options);
      return { ...rest, keys: keys.map((key) => key.toString("latin1")) };
    }
    case "revoke":
      return await leaseClient.leaseRevoke(request as never, options);
    case "renew":
      // One stream per attempt: the permanent stream of etcd3 may hang on a frozen member.
      return await askOnce(await leaseClient.leaseKeepAlive(options), request);
    case "range":
    case "txn":
      return await callKv(etcd, rpc, request, options);
    case "status":
      return await maintenance.status(options);
    case "roster":
      return await cluster.memberList({}, options);
  }
}
