import type {
  CallOptions,
  ClientDuplexStream,
  InterceptingCall,
  Interceptor,
  StatusObject,
} from "@grpc/grpc-js";
import type { Etcd3 } from "etcd3";
import { listenForAbort, type Millis } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import {
  type AttemptOptions,
  createStatusError,
  explainGrpcFault,
  explainTlsFault,
  type Member,
  MemberError,
  type Rpc,
  type WatchStream,
} from "../member.ts";
import type { FrequentCalls } from "./messages.ts";

/** gRPC's own deadline for a call, ms: a safety net far above the timeouts of failover. */
const DEADLINE_MS = 30_000;

/**
 * Creates a member that is reached over gRPC. Frequent calls have their own connection, so that a long answer does not
 * delay the renewal of a session.
 */
export function createGrpcMember(
  endpoint: string,
  grpc: GrpcPackage,
  open: { openEtcd3(): Etcd3; openFrequentCalls(): FrequentCalls },
): Member {
  const frequent = new ClientPool(open.openFrequentCalls);
  const etcd3 = new ClientPool(open.openEtcd3);
  let isClosed = false;

  const checkOpen = () => {
    if (isClosed) throw new MemberError("unavailable", "retry", `${endpoint}: the connection was closed`);
  };

  const createInterceptor = <C extends Closable>(
    shared: SharedClient<C>,
    token: string | undefined,
    deadline?: Millis,
  ) => new CallInterceptor(grpc, endpoint, token, deadline, () => shared.markAlive());

  /** Makes a call that is cancelled with the signal and throws MemberErrors. */
  const run = async <C extends Closable, T>(
    pool: ClientPool<C>,
    { signal, fresh, token }: AttemptOptions,
    call: (client: C, options: CallOptions) => Promise<T>,
  ) => {
    checkOpen();
    if (fresh) pool.replaceDoubted();
    const shared = pool.getClient();
    const end = shared.beginUse();
    const interceptor = createInterceptor(shared, token, DEADLINE_MS);
    const stopListening = listenForAbort(signal, () => {
      end(); // at once: the caller may request a fresh connection next
      interceptor.cancel();
    });
    try {
      return await call(shared.client, interceptor.options);
    } catch (error) {
      const memberError = interceptor.toMemberError(error);
      if (memberError.advice === "elsewhere") {
        end();
        pool.replaceDoubted(); // a new connection uses the certificates that the files have then
      }
      throw memberError;
    } finally {
      stopListening();
      end();
    }
  };

  return {
    endpoint,

    async call(rpc, request, options) {
      options.signal.throwIfAborted();
      return rpc === "range" || rpc === "txn"
        ? await run(frequent, options, (calls, callOptions) => calls.call(rpc, request, callOptions))
        : await run(etcd3, options, (etcd, callOptions) => invoke(etcd, rpc, request, callOptions));
    },

    async openWatchStream(signal, token) {
      signal.throwIfAborted();
      checkOpen();
      const shared = frequent.getClient();
      signal.addEventListener("abort", shared.beginUse(), { once: true });
      const interceptor = createInterceptor(shared, token);
      return openGrpcStream(shared.client.openWatch(interceptor.options), interceptor, signal);
    },

    close() {
      isClosed = true;
      frequent.close();
      etcd3.close();
    },
  };
}

/** Sends a request of a call that is not frequent. */
async function invoke(
  { auth, leaseClient, maintenance, cluster }: Etcd3,
  rpc: Exclude<Rpc, "range" | "txn">,
  request: object,
  options: CallOptions,
): Promise<unknown> {
  switch (rpc) {
    case "authenticate":
      return await auth.authenticate(request, options);
    case "grant":
      return await leaseClient.leaseGrant(request, options);
    case "remaining":
      return await leaseClient.leaseTimeToLive(request, options);
    case "leases":
      return await leaseClient.leaseLeases(options);
    case "revoke":
      return await leaseClient.leaseRevoke(request, options);
    case "renew":
      // One stream per attempt: the permanent stream of etcd3 may hang on a frozen member.
      return await askOnce(await leaseClient.leaseKeepAlive(options), request);
    case "status":
      return await maintenance.status(options);
    case "roster":
      return await cluster.memberList({}, options);
    case "users":
      return await auth.userList(options);
    case "user":
      return await auth.userGet(request, options);
    case "roles":
      return await auth.roleList(options);
    case "role":
      return await auth.roleGet(request, options);
  }
}

/** The stream of the call that renews sessions, as etcd3 declares it. */
type RenewalStream = Awaited<ReturnType<Etcd3["leaseClient"]["leaseKeepAlive"]>>;

/** Sends one request, reads one response and ends the stream. @throws the error that ended the stream */
async function askOnce(stream: RenewalStream, request: object): Promise<unknown> {
  try {
    return await new Promise((resolve, reject) => {
      stream.on("data", resolve);
      stream.on("error", reject);
      stream.on("end", () => reject(new Error("the stream ended without an answer")));
      stream.write(request);
    });
  } finally {
    stream.end();
    stream.cancel();
  }
}

/** Sends and receives messages over a stream. Ends when the signal is aborted. */
function openGrpcStream(
  duplex: ClientDuplexStream<object, object>,
  interceptor: CallInterceptor,
  signal: AbortSignal,
): WatchStream {
  let over = false;
  const stop = () => {
    over = true;
    duplex.cancel();
    duplex.destroy(); // the reader ends at once, even if gRPC reports the end late
  };
  duplex.on("error", () => {
    over = true; // the reader receives it too, but there may be none
  });
  const stopListening = listenForAbort(signal, stop);
  return {
    send: (message) => {
      if (!over) duplex.write(message);
    },
    responses: readResponses(duplex, interceptor, signal, stopListening),
  };
}

async function* readResponses(
  duplex: ClientDuplexStream<object, object>,
  interceptor: CallInterceptor,
  signal: AbortSignal,
  done: () => void,
): AsyncGenerator<unknown, void> {
  try {
    yield* duplex;
  } catch (error) {
    signal.throwIfAborted();
    throw interceptor.toMemberError(error) satisfies MemberError;
  } finally {
    done();
    duplex.cancel();
  }
}

/** Codes that gRPC sets locally, without a response from the server: cancelled, deadline exceeded, unavailable. */
const LOCAL_CODES = new Set([1, 4, 14]);

type GrpcPackage = Pick<typeof import("@grpc/grpc-js"), "InterceptingCall">;

/**
 * Intercepts one gRPC call below etcd3 for features that etcd3 lacks: a token in the metadata (etcd3 never renews its
 * own for streams), the status with its code (etcd3 keeps only the text), and cancellation.
 */
class CallInterceptor {
  readonly options: CallOptions;
  readonly #endpoint: string;
  #call: InterceptingCall | undefined;
  #status: StatusObject | undefined;
  #cancelled = false;
  readonly #onReceived: () => void;

  /**
   * @param deadline time after which gRPC itself ends the call; undefined for streams
   * @param onReceived  called whenever the server has sent something
   */
  constructor(
    grpc: GrpcPackage,
    endpoint: string,
    token: string | undefined,
    deadline: Millis | undefined,
    onReceived: () => void = () => {},
  ) {
    this.#endpoint = endpoint;
    this.#onReceived = onReceived;
    const interceptors = [this.#createInterceptor(grpc, token)];
    this.options =
      deadline === undefined ? { interceptors } : { interceptors, deadline: Date.now() + deadline };
  }

  /** Cancels the call on the wire. Safe at any time. */
  cancel(): void {
    this.#cancelled = true;
    this.#call?.cancelWithStatus(1, "given up");
  }

  /** Converts an error from etcd3. */
  toMemberError(thrown: unknown): MemberError {
    if (this.#status && this.#status.code !== 0) {
      const { code, details } = this.#status;
      const answer = explainGrpcFault(this.#endpoint, details) ?? details;
      // A retry does not help with certificates and unknown names.
      const tlsFault = code === 14 ? explainTlsFault(details) : undefined;
      if (
        tlsFault !== undefined ||
        (code === 14 && /certificate|ENOTFOUND|Name resolution failed/i.test(details))
      ) {
        const kind = /\bSSL alert number\b/.test(details) ? "unauthenticated" : "unavailable"; // as over HTTP
        return new MemberError(kind, "elsewhere", `${this.#endpoint}: ${tlsFault ?? answer}`, {
          cause: thrown,
        });
      }
      return createStatusError(this.#endpoint, code, answer, thrown);
    }
    return new MemberError("unavailable", "retry", `${this.#endpoint}: ${getErrorMessage(thrown)}`, {
      cause: thrown,
    });
  }

  #createInterceptor({ InterceptingCall }: GrpcPackage, token: string | undefined): Interceptor {
    return (options, nextCall) => {
      const call = new InterceptingCall(nextCall(options), {
        start: (metadata, _listener, next) => {
          if (token !== undefined) metadata.set("token", token);
          next(metadata, {
            onReceiveMetadata: (received, pass) => {
              this.#onReceived();
              pass(received);
            },
            onReceiveMessage: (message, pass) => {
              if (message !== null) this.#onReceived(); // null: gRPC itself ends a call without a response
              pass(message);
            },
            onReceiveStatus: (status, pass) => {
              this.#status = status;
              if (!LOCAL_CODES.has(status.code)) this.#onReceived();
              // etcd3 repeats a call without end when it recognizes this text for a stale token, so replace the text.
              const details = status.details.replace("invalid auth token", "stale auth token");
              pass({ ...status, details });
            },
          });
        },
      });
      this.#call = call;
      if (this.#cancelled) call.cancelWithStatus(1, "given up");
      return call;
    };
  }
}

interface Closable {
  close(): void;
}

/** A client whose one connection is shared by many calls and watches. It tracks whether the connection may be dead. */
class SharedClient<C extends Closable> {
  readonly client: C;
  /** How often the server has sent something. */
  #received = 0;
  #uses = 0;
  #isDoubted = false;
  #isRetired = false;
  readonly #onClosed: () => void;

  /** @param onClosed  called when the retired client is no longer used and has been closed */
  constructor(client: C, onClosed: () => void) {
    this.client = client;
    this.#onClosed = onClosed;
  }

  /** Whether a call ended without a response and the server has sent nothing since that call began. */
  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** Records that the server has sent something. */
  markAlive(): void {
    this.#received += 1;
    this.#isDoubted = false;
  }

  /** Records the start of a call or watch. @returns a function to call at its end */
  beginUse(): () => void {
    const before = this.#received;
    let isOver = false;
    this.#uses += 1;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#uses -= 1;
      if (this.#received === before) this.#isDoubted = true;
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
    this.client.close();
    this.#onClosed();
  }
}

/** The clients of one kind for one member. The current one is replaced when its connection may be dead. */
class ClientPool<C extends Closable> {
  readonly #open: () => C;
  #current: SharedClient<C> | undefined;
  /** Clients with a connection: the current one, and replaced ones that still have calls in flight. */
  readonly #all = new Set<SharedClient<C>>();

  /** @param open  builds a client with its own connection */
  constructor(open: () => C) {
    this.#open = open;
  }

  getClient(): SharedClient<C> {
    if (this.#current === undefined) {
      const client: SharedClient<C> = new SharedClient(this.#open(), () => this.#all.delete(client));
      this.#all.add(client);
      this.#current = client;
    }
    return this.#current;
  }

  /** Drops the client, unless the server has sent something on its connection since the unanswered call began. */
  replaceDoubted(): void {
    if (!this.#current?.isDoubted) return;
    this.#current.retire();
    this.#current = undefined;
  }

  close(): void {
    for (const { client } of this.#all) client.close();
  }
}
