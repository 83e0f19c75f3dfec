import type { Etcd3 } from "etcd3";
import type { Credentials } from "../credentials.ts";
import { type AttemptOptions, type Member, MemberError, type Rpc, type WatchStream } from "../member.ts";
import { askOnce, openStream } from "./stream.ts";
import { type CallOptions, CallTap } from "./tap.ts";

/** gRPC's own deadline of a call, in milliseconds: a safety net far above failover's. */
const DEADLINE_MS = 30_000;

/** One member over gRPC. Its client is replaced when the connection is in doubt. */
export class GrpcMember implements Member {
  readonly endpoint: string;
  readonly #make: () => Etcd3;
  readonly #credentials: Credentials | undefined;
  #client: Etcd3 | undefined;
  #closed = false;

  /** @param make a new client with a connection of its own */
  constructor(endpoint: string, make: () => Etcd3, credentials: Credentials | undefined) {
    this.endpoint = endpoint;
    this.#make = make;
    this.#credentials = credentials;
  }

  async call(rpc: Rpc, request: object, { signal, fresh }: AttemptOptions): Promise<unknown> {
    signal.throwIfAborted();
    if (fresh) this.#replace();
    const attempt = (token?: string) => {
      return this.#tapped(token, signal, (options) => this.#invoke(rpc, request, options));
    };
    return await (this.#credentials ? this.#credentials.use(this.#authenticate(signal), attempt) : attempt());
  }

  async stream(signal: AbortSignal): Promise<WatchStream> {
    const token = await this.#credentials?.token(this.#authenticate(signal));
    const tap = new CallTap(this.endpoint, token, undefined);
    return openStream(await this.#current().watchClient.watch(tap.options), tap, signal);
  }

  forgetToken(): boolean {
    return this.#credentials?.forget() ?? false;
  }

  close(): void {
    this.#closed = true;
    this.#client?.close();
  }

  /** Makes a call that is cancelled with the signal and throws MemberErrors. */
  async #tapped<T>(
    token: string | undefined,
    signal: AbortSignal,
    call: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const tap = new CallTap(this.endpoint, token, DEADLINE_MS);
    const onAbort = () => tap.cancel();
    signal.addEventListener("abort", onAbort);
    try {
      return await call(tap.options);
    } catch (error) {
      throw tap.error(error);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async #invoke(rpc: Rpc, request: object, options: CallOptions): Promise<unknown> {
    const { kv, leaseClient, maintenance, cluster } = this.#current();
    switch (rpc) {
      case "grant":
        return await leaseClient.leaseGrant(request as Parameters<typeof leaseClient.leaseGrant>[0], options);
      case "remaining":
        return await leaseClient.leaseTimeToLive(
          request as Parameters<typeof leaseClient.leaseTimeToLive>[0],
          options,
        );
      case "revoke":
        return await leaseClient.leaseRevoke(
          request as Parameters<typeof leaseClient.leaseRevoke>[0],
          options,
        );
      case "renew":
        // A stream of its own an attempt: etcd3's lasting one may hang on a frozen member.
        return await askOnce(await leaseClient.leaseKeepAlive(options), request);
      case "range":
        return await kv.range(request as Parameters<typeof kv.range>[0], options);
      case "txn":
        return await kv.txn(request as Parameters<typeof kv.txn>[0], options);
      case "status":
        return await maintenance.status(options);
      case "roster":
        return await cluster.memberList({}, options);
    }
  }

  #authenticate(signal: AbortSignal) {
    return async (name: string, password: string): Promise<string | undefined> => {
      try {
        const login = (options: CallOptions) =>
          this.#current().auth.authenticate({ name, password }, options);
        return (await this.#tapped(undefined, signal, login)).token;
      } catch (error) {
        if (error instanceof MemberError && error.message.endsWith("authentication is not enabled"))
          return undefined;
        throw error;
      }
    };
  }

  #current(): Etcd3 {
    if (this.#closed)
      throw new MemberError("unavailable", "retry", `${this.endpoint}: the connection was closed`);
    this.#client ??= this.#make();
    return this.#client;
  }

  /** Drops the client with its connection. What still runs on it has been given up by its callers. */
  #replace(): void {
    this.#client?.close();
    this.#client = undefined;
  }
}
