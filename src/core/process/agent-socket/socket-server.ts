import type { Socket } from "node:net";
import type { Millis } from "../../base/clock.ts";
import { ConfigError } from "../../base/errors.ts";
import { readProcFile } from "../guarded-command/processes.ts";
import type { Frame } from "../guarded-command/wire.ts";
import { CallConnection, type TrafficLimits, UserTraffic } from "./call-connection.ts";
import { CallRefusal, type CallRequest, CallRequestReader } from "./call-request.ts";
import { encodeDecline } from "./launched-call.ts";
import { type AgentAddress, ListeningSocket } from "./listening-socket.ts";
import { checkCaller, type Peer, type PeerAddon } from "./peer.ts";
import {
  copyBytes,
  type DeclinedConnection,
  Outbox,
  type SocketNews,
  type SocketOrder,
  type ThreadPort,
  toBuffer,
} from "./socket-messages.ts";
import { isLaterEvent } from "./wire.ts";

interface UserLimits {
  connections: number;
  /** Calls that are read at the same time; more have to wait. */
  unfinished: number;
  /** Words and settings of all calls, bytes. */
  bytes: number;
  /** Traffic on connections whose call is complete, and, separately, on the others. */
  traffic: TrafficLimits;
}

/** Counts the connections of one user, so that a user who opens too many affects only their own runs. */
class UserConnections {
  /** Traffic on connections whose call is not complete. It must not delay the runs of the same user. */
  readonly callTraffic: UserTraffic;
  /** Traffic on the other connections. */
  readonly traffic: UserTraffic;
  readonly #limits: UserLimits;
  readonly #waiting: IncomingCall[] = [];
  #connections = 0;
  #unfinished = 0;
  #bytes = 0;

  constructor(limits: UserLimits) {
    this.callTraffic = new UserTraffic(limits.traffic);
    this.traffic = new UserTraffic(limits.traffic);
    this.#limits = limits;
  }

  get isFull(): boolean {
    return this.#connections >= this.#limits.connections;
  }

  addConnection(): void {
    this.#connections += 1;
  }

  removeConnection(): void {
    this.#connections -= 1;
  }

  /**
   * Reads a call, now or when it is its turn. Launchers send their whole call at once, so even many calls at the same time
   * get their turn quickly.
   */
  read(call: IncomingCall): void {
    this.#waiting.push(call);
    this.#readNext();
  }

  /** Call it when a call is complete or given up. */
  finish(call: IncomingCall): void {
    const index = this.#waiting.indexOf(call);
    if (index >= 0) this.#waiting.splice(index, 1);
    else this.#unfinished -= 1;
    this.#readNext();
  }

  /** Reserves memory for a call. @returns whether there was enough */
  reserve(bytes: number): boolean {
    if (this.#bytes + bytes > this.#limits.bytes) return false;
    this.#bytes += bytes;
    return true;
  }

  free(bytes: number): void {
    this.#bytes -= bytes;
  }

  #readNext(): void {
    while (this.#unfinished < this.#limits.unfinished) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#unfinished += 1;
      next.start();
    }
  }
}

interface IncomingCallPorts {
  /** Receives the complete call. A CallRefusal that it throws declines the call. */
  onComplete(request: CallRequest): void;
  /** Called when the call is declined. */
  onDeclined?(): void;
  /** Called once when the call is complete, declined, or its connection has ended. */
  onEnd(): void;
}

/** A connection whose call is not complete yet. Every violation of the limits declines the call. */
class IncomingCall {
  readonly #connection: CallConnection;
  readonly #ports: IncomingCallPorts;
  #reader = new CallRequestReader();
  readonly #timeout: NodeJS.Timeout;
  #isOver = false;

  /** @param timeoutMs  time until the call must be complete */
  constructor(connection: CallConnection, timeoutMs: Millis, ports: IncomingCallPorts) {
    this.#connection = connection;
    this.#ports = ports;
    this.#timeout = setTimeout(
      () => this.decline(`the call was not complete after ${timeoutMs / 1000} s`),
      timeoutMs,
    ).unref();
    void connection.closed.then(() => this.#end());
    connection.setHandler(
      (frame) => this.#handleFrame(frame),
      (message) => this.decline(message),
    );
  }

  /** Starts to read. */
  start(): void {
    this.#connection.start();
  }

  /** Declines the call, and closes the connection. */
  decline(reason: string): void {
    this.#ports.onDeclined?.();
    this.#connection.finish(encodeDecline(reason));
    this.#end();
  }

  #handleFrame(frame: Frame): void {
    try {
      const request = this.#reader.add(frame);
      if (request === undefined) return;
      this.#ports.onComplete(request);
      this.#end();
    } catch (error) {
      if (!(error instanceof CallRefusal)) throw error;
      this.decline(error.message);
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reader = new CallRequestReader(); // frees the pieces of the call
    clearTimeout(this.#timeout);
    this.#ports.onEnd();
  }
}

export interface SocketLimits {
  /** Connections of all users together. */
  connections: number;
  /** Of each user. */
  user: UserLimits;
  /** Time from the connection to the end of the call, ms. */
  callMs: Millis;
}

const MIB_BYTES = 1024 * 1024;
const SOCKET_LIMITS: SocketLimits = {
  connections: Math.floor(readDescriptorLimit() * 0.75), // etcd, /proc and files need descriptors too
  user: {
    connections: 4096,
    unfinished: 64,
    bytes: 64 * MIB_BYTES,
    traffic: { burst: 64 * MIB_BYTES, rate: 8 * MIB_BYTES }, // a thousand calls at once, and their commands
  },
  callMs: 5_000,
};

/** Reads how many descriptors this process can have. @see proc_pid_limits(5) */
function readDescriptorLimit(): number {
  const [, soft] = /^Max open files +(\d+) /m.exec(readProcFile(process.pid, "limits") ?? "") ?? [];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Interval at which declined connections are reported, ms. One report each would let a user flood the main thread. */
const REPORT_INTERVAL_MS = 250;

interface SocketServerOptions {
  address: AgentAddress;
  addon: PeerAddon;
  /** Whether the agent serves a peer; otherwise the reason, which the launcher may print. */
  isServed(peer: Peer): true | string;
  limits?: SocketLimits;
}

/**
 * Starts to listen on the agent's socket, in a separate thread. Accepts connections, passes the calls of launchers and their
 * frames to the main thread, and carries out the orders of that thread. No user can delay that thread or the calls of other
 * users: everything that a peer can send or keep open is limited.
 */
export async function startSocketServer(
  port: ThreadPort,
  { address, addon, isServed, limits = SOCKET_LIMITS }: SocketServerOptions,
): Promise<void> {
  // Posts once for all connections that were read in this turn, and after writes of this turn.
  const outbox = new Outbox<SocketNews>(port, setImmediate);
  const users = new Map<number, UserConnections>();
  let open = 0;
  const incoming = new Set<IncomingCall>();
  /** The connections of complete calls, by their ids. */
  const connections = new Map<number, CallConnection>();
  let lastId = 0;
  let declined = new Map<DeclinedConnection, number>();

  const reportFault = ({ message }: Error) => outbox.add({ kind: "fault", message });

  const countDeclined = (why: DeclinedConnection) => {
    if (declined.size === 0)
      setTimeout(() => {
        outbox.add({ kind: "declined", counts: declined });
        declined = new Map();
      }, REPORT_INTERVAL_MS).unref();
    declined.set(why, (declined.get(why) ?? 0) + 1);
  };

  /** Never forgets a user: closing all connections must not allow another burst. */
  const findUser = (uid: number) => {
    const user = users.get(uid) ?? new UserConnections(limits.user);
    users.set(uid, user);
    return user;
  };

  /** Declines a connection without reading from it. */
  const refuse = (socket: Socket, why: DeclinedConnection, reason: string) => {
    countDeclined(why);
    socket.write(encodeDecline(reason));
    socket.destroySoon();
  };

  /** Passes a complete call on, and everything that its launcher sends later. */
  const passOn = (
    connection: CallConnection,
    peer: Peer,
    { traffic }: UserConnections,
    request: CallRequest,
  ) => {
    lastId += 1;
    const id = lastId;
    const report = (news: SocketNews) => {
      traffic.addUntaken();
      outbox.add(news);
    };
    connection.setTraffic(traffic);
    connections.set(id, connection);
    report({ kind: "call", id, peer, request });
    connection.setHandler((frame: Frame) => {
      // A call cannot be changed, and launchers of its version send nothing else.
      if (!isLaterEvent(frame.kind)) return connection.destroy();
      report({ kind: "frame", id, uid: peer.uid, frame: { ...frame, block: copyBytes(frame.block) } });
    });
    void connection.closed.then(() => {
      connections.delete(id);
      outbox.add({ kind: "ended", id });
    });
  };

  const completeCall = (connection: CallConnection, peer: Peer, request: CallRequest) => {
    checkCaller(peer, request, addon.readBootTime());
    const user = findUser(peer.uid);
    if (!user.reserve(request.length))
      throw new CallRefusal(`the calls of user ${peer.uid} have too many words and settings`);
    void connection.closed.then(() => user.free(request.length));
    passOn(connection, peer, user, request);
  };

  const readCall = (socket: Socket, peer: Peer, user: UserConnections) => {
    const connection = new CallConnection(socket, user.callTraffic);
    open += 1;
    user.addConnection();
    socket.once("close", () => {
      open -= 1;
      user.removeConnection();
    });
    const call = new IncomingCall(connection, limits.callMs, {
      onComplete: (request) => completeCall(connection, peer, request),
      onDeclined: () => countDeclined("call"),
      onEnd: () => {
        incoming.delete(call);
        user.finish(call);
      },
    });
    incoming.add(call);
    user.read(call);
  };

  const readPeer = (socket: Socket) => {
    try {
      return addon.readPeer(socket);
    } catch (error) {
      socket.destroy();
      reportFault(error as Error);
      return undefined;
    }
  };

  const handleConnection = (socket: Socket) => {
    socket.on("error", () => {}); // the close event follows
    const peer = readPeer(socket);
    if (peer === undefined) return;
    const served = isServed(peer);
    if (served !== true) return refuse(socket, "user", served);
    const user = findUser(peer.uid);
    if (user.isFull) return refuse(socket, "limit", `user ${peer.uid} has too many connections`);
    if (open < limits.connections) return readCall(socket, peer, user);
    // By other users, perhaps. Guardians that report to a new agent would end their command if it declined them: they try again.
    countDeclined("limit");
    socket.destroy();
  };

  const listening = new ListeningSocket(address, handleConnection, reportFault);

  const handleOrder = (order: SocketOrder) => {
    switch (order.kind) {
      case "send":
        return connections.get(order.id)?.send(toBuffer(order.frames));
      case "finish":
        return connections.get(order.id)?.finish(toBuffer(order.frames));
      case "destroy":
        return connections.get(order.id)?.destroy();
      case "taken":
        for (const [uid, count] of order.counts) findUser(uid).traffic.take(count);
        return;
      case "close": // stops listening, and declines calls that are not complete; complete calls keep their connections
        listening.close();
        for (const call of incoming) call.decline("the agent is ending");
        return;
      case "tellDone":
        return outbox.add({ kind: "done", question: order.question });
      case "checkPath":
        void listening
          .checkPath()
          .then((check) => outbox.add({ kind: "path", question: order.question, check }));
    }
  };

  port.on("message", (orders) => {
    for (const order of orders as SocketOrder[]) handleOrder(order);
  });
  try {
    await listening.open();
    outbox.add({ kind: "opened" });
  } catch (error) {
    const { message } = error as Error;
    outbox.add({ kind: "failed", message, isConfig: error instanceof ConfigError });
  }
}
