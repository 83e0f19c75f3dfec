import type { Socket } from "node:net";
import { listenForAbort } from "../../base/wait.ts";
import { HANDSHAKE_CUT } from "../member-errors.ts";
import { HttpFault, HttpResponseReader } from "./response-reader.ts";

/** Maximum length of a response from etcd, bytes. */
export const BODY_MAX = 64 * 1024 * 1024;

export interface HttpResponse {
  status: number;
  text: string;
}

/** Receives the events of a connection. */
interface ConnectionListener {
  /** The connection has received its response and can be used again. */
  onIdle(connection: Connection): void;
  /** The connection can no longer be used. */
  onClosed(connection: Connection): void;
}

/** A request in flight. */
interface PendingRequest {
  reader: HttpResponseReader;
  parts: Buffer[];
  length: number;
  resolve(answer: HttpResponse): void;
  reject(error: unknown): void;
}

/** A connection to one member, for one request at a time. */
export class Connection {
  readonly #socket: Socket;
  readonly #listener: ConnectionListener;
  #current: PendingRequest | undefined;
  /** The TLS handshake is not complete. */
  #isHandshaking: boolean;

  constructor(socket: Socket, listener: ConnectionListener) {
    this.#socket = socket;
    this.#listener = listener;
    this.#isHandshaking = "encrypted" in socket; // a socket of node:tls, which is not loaded here
    socket.once("secureConnect", () => {
      this.#isHandshaking = false;
    });
    socket.on("data", (chunk: Buffer) => this.#handleData(chunk));
    socket.on("end", () => this.#destroyOnError(() => this.#handleEnd()));
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => this.destroy(new HttpFault("ECONNRESET", "the connection was closed")));
  }

  /**
   * Sends a request, head and body, and waits for the complete response.
   * @param signal  closes the connection when aborted: the next response could belong to either request
   * @throws the error of the socket or the response; HttpFault; the signal's reason
   */
  async request(text: string, signal: AbortSignal): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    this.#current = { reader: new HttpResponseReader(), parts: [], length: 0, resolve, reject };
    const stopListening = listenForAbort(signal, () => this.destroy(signal.reason));
    if (!signal.aborted) this.#socket.ref().write(text);
    try {
      return await promise;
    } finally {
      stopListening();
    }
  }

  /** Closes the connection and rejects a request in flight. */
  destroy(reason: unknown): void {
    const current = this.#current;
    this.#current = undefined;
    this.#socket.destroy();
    this.#listener.onClosed(this);
    const isCut = this.#isHandshaking && (reason as NodeJS.ErrnoException | undefined)?.code === "ECONNRESET";
    current?.reject(isCut ? new HttpFault(HANDSHAKE_CUT, "the handshake was cut") : reason);
  }

  #handleData(chunk: Buffer): void {
    this.#destroyOnError(() => {
      const { reader, parts } = this.#getPendingRequest();
      for (const part of reader.consume(chunk)) this.#appendPart(part, parts);
      if (reader.isDone) this.#completeRequest();
    });
  }

  #appendPart(part: Buffer, parts: Buffer[]): void {
    const current = this.#getPendingRequest();
    current.length += part.length;
    if (current.length > BODY_MAX) throw new HttpFault("EBADHTTP", "the answer is too long");
    parts.push(part);
  }

  #handleEnd(): void {
    this.#getPendingRequest().reader.end();
    this.#completeRequest();
  }

  #completeRequest(): void {
    const { reader, parts, resolve } = this.#getPendingRequest();
    const [first, ...more] = parts;
    const body = more.length === 0 ? first : Buffer.concat(parts);
    this.#current = undefined;
    // The server would read unsent bytes as the start of the next request.
    if (reader.persists && this.#socket.writableLength === 0 && this.#socket.writable) {
      this.#socket.unref();
      this.#listener.onIdle(this);
    } else this.destroy(undefined);
    resolve({ status: reader.status, text: body?.toString() ?? "" });
  }

  /** @throws HttpFault when no request is in flight */
  #getPendingRequest(): PendingRequest {
    if (this.#current === undefined) throw new HttpFault("EBADHTTP", "an answer without a request");
    return this.#current;
  }

  #destroyOnError(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.destroy(error);
    }
  }
}

const CLOSED = "the connection to etcd was closed";

/** Connections to one member, idle and in use. */
export class ConnectionPool {
  readonly #dial: () => Socket;
  readonly #all = new Set<Connection>();
  /** Used last in, first out. */
  #idle: Connection[] = [];

  constructor(dial: () => Socket) {
    this.#dial = dial;
  }

  /**
   * Sends a request and waits for the response. The request is sent once. If an idle connection turns out to be dead,
   * it is unknown whether the request was applied, so the caller must be able to repeat it.
   * @throws the same errors as Connection.request
   */
  request(text: string, signal: AbortSignal): Promise<HttpResponse> {
    return (this.#idle.pop() ?? this.#open()).request(text, signal);
  }

  /** Opens a connection outside the pool, for a stream. */
  dial(): Socket {
    return this.#dial();
  }

  /** Closes the idle connections: one of them may be dead without an error. */
  dropIdle(): void {
    for (const connection of [...this.#idle]) connection.destroy(undefined);
  }

  /** Closes all connections. Requests in flight fail. */
  close(): void {
    for (const connection of [...this.#all]) connection.destroy(new Error(CLOSED));
  }

  #open(): Connection {
    const connection = new Connection(this.#dial(), {
      onIdle: (it) => this.#idle.push(it),
      onClosed: (it) => this.#forget(it),
    });
    this.#all.add(connection);
    return connection;
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    this.#idle = this.#idle.filter((it) => it !== connection);
  }
}
