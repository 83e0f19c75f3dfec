import type { Etcd3 } from "etcd3";
import { type AttemptOptions, type Member, MemberError, type Rpc, type WatchStream } from "../member.ts";
import { CallInterceptor, type CallOptions } from "./call-interceptor.ts";
import { callKv, openWatch } from "./own-messages.ts";

/** A client whose one connection is shared by many calls and watches. It tracks whether the connection may be dead. */
class SharedClient {
  readonly etcd: Etcd3;
  #heard = 0;
  #uses = 0;
  #isDoubted = false;
  #isRetired = false;
  readonly #onClosed: () => void;

  /** @param onClosed  called when the retired client is no longer used and has been closed */
  constructor(etcd: Etcd3, onClosed: () => void) {
    this.etcd = etcd;
    this.#onClosed = onClosed;
  }

  /** Whether a call ended without a response and the server has sent nothing since that call began. */
  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** Records that the server has sent something. */
  markAlive(): void {
    this.#heard += 1;
    this.#isDoubted = false;
  }

  /** Records the start of a call or watch. @returns a function to call at its end */
  beginUse(): () => void {
    const before = this.#heard;
    let isOver = false;
    this.#uses += 1;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#uses -= 1;
      if (this.#heard === before) this.#isDoubted = true;
      this.#closeIfUnused();
    };
  }

  /** Accepts no new calls. The connection closes when the last call in flight has ended. */
  retire(): void {
    this.#isRetired = true;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (!this.#isRetired || this.#uses > 0) return;
    this.etcd.close();
    this.#onClosed();
  }
}

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
    const interceptor = new CallInterceptor(this.endpoint, token, undefined, () => client.markAlive());
    return openGrpcStream(await openWatch(client.etcd, interceptor.options), interceptor, signal);
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
    const interceptor = new CallInterceptor(this.endpoint, token, DEADLINE_MS, () => client.markAlive());
    const onAbort = () => interceptor.cancel();
    signal.addEventListener("abort", onAbort);
    try {
      return await call(interceptor.options);
    } catch (error) {
      throw interceptor.toMemberError(error);
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

/** The used part of a gRPC duplex stream. etcd3's types do not declare that it is a Node stream. */
interface Duplex {
  write(message: object): unknown;
  end(): void;
  cancel(): void;
  on(event: "error", handler: (error: Error) => void): unknown;
  [Symbol.asyncIterator](): AsyncIterator<unknown>;
}

/** Sends and receives messages over a stream that etcd3 opened. Ends when the signal is aborted. */
function openGrpcStream(opened: object, interceptor: CallInterceptor, signal: AbortSignal): WatchStream {
  const duplex = opened as Duplex;
  let over = false;
  const stop = () => {
    over = true;
    duplex.cancel();
  };
  duplex.on("error", () => {
    over = true; // the reader receives it too, but there may be none
  });
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return {
    send: (message) => {
      if (!over) duplex.write(message);
    },
    responses: readResponses(duplex, interceptor, signal, () => signal.removeEventListener("abort", stop)),
  };
}

async function* readResponses(
  duplex: Duplex,
  interceptor: CallInterceptor,
  signal: AbortSignal,
  done: () => void,
): AsyncGenerator<unknown, void> {
  try {
    yield* { [Symbol.asyncIterator]: () => duplex[Symbol.asyncIterator]() };
  } catch (error) {
    signal.throwIfAborted();
    throw interceptor.toMemberError(error) satisfies MemberError;
  } finally {
    done();
    duplex.cancel();
  }
}

/** Sends one request, reads one response and ends the stream. @throws the error that ended the stream */
async function askOnce(opened: object, request: object): Promise<unknown> {
  const duplex = opened as Duplex;
  duplex.on("error", () => {});
  duplex.write(request);
  for await (const answer of duplex) {
    duplex.end();
    duplex.cancel();
    return answer;
  }
  throw new Error("the stream ended without an answer");
}
