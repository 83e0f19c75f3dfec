import type { Socket } from "node:net";
import { CallConnection } from "./call-connection.ts";
import { CallRefusal, type CallRequest } from "./call-request.ts";
import { checkCaller } from "./caller-check.ts";
import { IncomingCall } from "./incoming-call.ts";
import { encodeDecline, LaunchedCall } from "./launched-call.ts";
import { ListeningSocket, type PathCheck } from "./listening-socket.ts";
import type { Peer, PeerAddon } from "./peer.ts";
import type { AgentAddress } from "./socket-address.ts";
import { UserConnections, type UserLimits } from "./user-connections.ts";

/** Limits of the agent's socket. */
export interface SocketLimits {
  /** Of each user. */
  user: UserLimits;
  /** Time from the connection to the end of the call, ms. */
  callMs: number;
}

const MIB = 1024 * 1024;
const LIMITS: SocketLimits = {
  user: {
    ...{ connections: 4096, unfinished: 64, bytes: 64 * MIB },
    traffic: { burst: 64 * MIB, rate: 8 * MIB }, // a thousand calls at once, and their commands
  },
  callMs: 5_000,
};

/**
 * Why a connection was declined. `user`: its user is not served; `limit`: its user has too many connections; `call`: its
 * call is malformed, too long or too slow, or comes from another namespace.
 */
type DeclinedConnection = "user" | "limit" | "call";

interface AgentListenerOptions {
  address: AgentAddress;
  addon: PeerAddon;
  /** Whether the agent serves a peer; otherwise the reason, which the launcher may print. */
  isServed(peer: Peer): true | string;
  /** Receives each complete call. It must accept, decline or end it. */
  onCall(call: LaunchedCall): void;
  /** Called for each connection that was declined before its call was complete. */
  onDeclined?(why: DeclinedConnection): void;
  /** Receives errors of the socket. */
  onFault(error: Error): void;
  limits?: SocketLimits;
}

/**
 * The agent's socket: yields the calls of launchers. Whoever may connect can delay neither this process nor the calls of
 * others: everything that a peer can send or keep open is limited.
 */
export class AgentListener {
  readonly #options: AgentListenerOptions;
  readonly #limits: SocketLimits;
  readonly #socket: ListeningSocket;
  readonly #users = new Map<number, UserConnections>();
  readonly #incoming = new Set<IncomingCall>();

  private constructor(options: AgentListenerOptions) {
    this.#options = options;
    this.#limits = options.limits ?? LIMITS;
    this.#socket = new ListeningSocket(options.address, {
      onConnection: (socket) => this.#handleConnection(socket),
      onFault: options.onFault,
    });
  }

  /**
   * Begins to listen.
   * @throws ConfigError when the path cannot be used, or another agent listens there
   */
  static async open(options: AgentListenerOptions): Promise<AgentListener> {
    const listener = new AgentListener(options);
    await listener.#socket.open();
    return listener;
  }

  /** Stops listening, and declines calls that are not complete. Complete calls keep their connections. */
  close(): void {
    this.#socket.close();
    for (const call of this.#incoming) call.decline("the agent ends");
  }

  /** Looks whether launchers find the socket, and gives it its path again if it has none. Never rejects. */
  async checkPath(): Promise<PathCheck> {
    return await this.#socket.checkPath();
  }

  #handleConnection(socket: Socket): void {
    socket.on("error", () => {}); // the close event follows
    const peer = this.#readPeer(socket);
    if (peer === undefined) return;
    const served = this.#options.isServed(peer);
    if (served !== true) return this.#refuse(socket, "user", served);
    const user = this.#findUser(peer.uid);
    if (user.isFull) this.#refuse(socket, "limit", `user ${peer.uid} has too many connections`);
    else this.#readCall(socket, peer, user);
  }

  #readPeer(socket: Socket): Peer | undefined {
    try {
      return this.#options.addon.readPeer(socket);
    } catch (error) {
      socket.destroy();
      this.#options.onFault(error as Error);
      return undefined;
    }
  }

  #readCall(socket: Socket, peer: Peer, user: UserConnections): void {
    const connection = new CallConnection(socket, user.traffic);
    user.addConnection();
    socket.once("close", () => user.removeConnection());
    const call = new IncomingCall(connection, this.#limits.callMs, {
      onComplete: (request) => this.#completeCall(connection, peer, request),
      onDeclined: () => this.#options.onDeclined?.("call"),
      onEnd: () => {
        this.#incoming.delete(call);
        user.finish(call);
      },
    });
    this.#incoming.add(call);
    user.read(call);
  }

  #completeCall(connection: CallConnection, peer: Peer, request: CallRequest): void {
    const bootTime = this.#options.addon.readBootTime();
    checkCaller(peer, request, bootTime);
    const user = this.#findUser(peer.uid);
    if (!user.reserve(request.length))
      throw new CallRefusal(`the calls of user ${peer.uid} have too many words and settings`);
    void connection.closed.then(() => user.free(request.length));
    this.#options.onCall(new LaunchedCall(connection, peer, request, bootTime - request.bootTime));
  }

  /** Users stay known: one who closes all connections must not be allowed another burst. */
  #findUser(uid: number): UserConnections {
    const found = this.#users.get(uid);
    if (found !== undefined) return found;
    const user = new UserConnections(this.#limits.user);
    this.#users.set(uid, user);
    return user;
  }

  /** Declines a connection without reading from it. */
  #refuse(socket: Socket, why: DeclinedConnection, reason: string): void {
    this.#options.onDeclined?.(why);
    socket.write(encodeDecline(reason));
    socket.destroySoon();
  }
}
