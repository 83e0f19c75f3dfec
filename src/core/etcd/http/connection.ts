import type { Socket } from "node:net";
import { listenForAbort } from "../../base/clock.ts";
import { HANDSHAKE_CUT } from "../member.ts";

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

const CLOSED_MESSAGE = "the connection to etcd was closed";

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
    for (const connection of [...this.#all]) connection.destroy(new Error(CLOSED_MESSAGE));
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

/** Maximum length of a response head, of a trailer line and of all trailers, bytes. */
const HEAD_MAX = 16_384;
const SIZE_LINE_MAX = 1_024;
const NO_BYTES: Buffer = Buffer.alloc(0);
const LINE_END = "\r\n";

/** The received bytes are not a valid HTTP/1.1 response; with `ENOTHTTP`, not HTTP at all. */
export class HttpFault extends Error {
  readonly code: "ENOTHTTP" | "EBADHTTP" | "ECONNRESET" | typeof HANDSHAKE_CUT;

  constructor(code: HttpFault["code"], message: string) {
    super(message);
    this.name = "HttpFault";
    this.code = code;
  }
}

/**
 * Reads one HTTP/1.1 response to a POST from bytes as they arrive: its status, and its body by length, in chunks, or up
 * to the end of the connection. Rejects responses whose end would be ambiguous.
 * @see RFC 9112, sections 4 to 8
 */
export class HttpResponseReader {
  #status = 0;
  #state: "head" | "size" | "data" | "gap" | "trailer" | "rest" | "done" = "head";
  #held = NO_BYTES;
  /** Remaining bytes of the body or of the current chunk. */
  #left = 0;
  #isChunked = false;
  #persists = true;
  #trailers = 0;

  /** 0 until the head is complete. */
  get status(): number {
    return this.#status;
  }

  get isDone(): boolean {
    return this.#state === "done";
  }

  /** Whether the connection can carry another request: both sides agree on where the response ended. */
  get persists(): boolean {
    return this.#persists && this.isDone;
  }

  /** @returns the parts of the body among these bytes. @throws HttpFault */
  consume(bytes: Buffer): Buffer[] {
    const parts: Buffer[] = [];
    let rest = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    while (rest.length > 0) {
      const used = this.#parseStep(rest, parts);
      if (used === 0) break;
      rest = rest.subarray(used);
    }
    this.#held = rest;
    return parts;
  }

  /** Handles the end of the connection. @throws HttpFault when the response is incomplete */
  end(): void {
    if (this.#state === "rest") this.#state = "done";
    if (!this.isDone) throw new HttpFault("ECONNRESET", "the connection was closed before the answer's end");
  }

  /** @returns how many bytes were used; 0 when more bytes are needed first */
  #parseStep(bytes: Buffer, parts: Buffer[]): number {
    switch (this.#state) {
      case "head":
        return this.#parseHead(bytes);
      case "size":
        return this.#parseLine(bytes, SIZE_LINE_MAX, (line) => this.#parseChunkSize(line));
      case "gap":
        return this.#parseLine(bytes, LINE_END.length, (line) => this.#checkChunkEnd(line));
      case "trailer":
        return this.#parseLine(bytes, HEAD_MAX, (line) => this.#parseTrailer(line));
      case "data":
        return this.#consumeBody(bytes, parts);
      case "rest":
        parts.push(bytes);
        return bytes.length;
      case "done":
        this.#persists = false; // more bytes than one response: a further response could not be matched to a request
        return bytes.length;
    }
  }

  #parseHead(bytes: Buffer): number {
    const start = bytes.toString("latin1", 0, 7);
    if (!"HTTP/1.".startsWith(start)) throw new HttpFault("ENOTHTTP", "the answer is not HTTP/1");
    const end = bytes.indexOf("\r\n\r\n");
    if (end < 0 ? bytes.length > HEAD_MAX : end > HEAD_MAX) throw createHttpFault("its head is too long");
    if (end < 0) return 0;
    const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1] ?? 0);
    if (status < 100) throw createHttpFault(`its first line is ${JSON.stringify(first.slice(0, 80))}`);
    const isInterim = status < 200 && status !== 101;
    if (!isInterim) this.#applyFraming(status, first.startsWith("HTTP/1.1"), parseHeaders(lines));
    return end + 4;
  }

  /** Determines how the body ends. */
  #applyFraming(status: number, persists: boolean, headers: ReadonlyMap<string, string>): void {
    const coding = headers.get("transfer-encoding");
    const length = headers.get("content-length");
    this.#status = status;
    this.#persists = persists && !/\bclose\b/i.test(headers.get("connection") ?? "");
    this.#isChunked = coding !== undefined;
    if (coding !== undefined) {
      if (coding.toLowerCase() !== "chunked" || length !== undefined)
        throw createHttpFault("its length is ambiguous");
      this.#state = "size";
    } else if (length !== undefined || status === 204) {
      if (!/^\d{1,15}$/.test(length ?? "0")) throw createHttpFault("its length is not a number");
      this.#left = Number(length ?? 0);
      this.#state = this.#left === 0 ? "done" : "data";
    } else {
      this.#state = "rest";
      this.#persists = false;
    }
  }

  #parseLine(bytes: Buffer, most: number, take: (line: string) => void): number {
    const end = bytes.indexOf(LINE_END);
    if (end < 0 ? bytes.length > most : end > most) throw createHttpFault("a line in it is too long");
    if (end < 0) return 0;
    take(bytes.toString("latin1", 0, end));
    return end + LINE_END.length;
  }

  #parseChunkSize(line: string): void {
    const size = /^([0-9a-f]{1,8})[ \t]*(?:;|$)/i.exec(line)?.[1];
    if (size === undefined) throw createHttpFault("the size of a chunk is not a number");
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? "trailer" : "data";
  }

  #checkChunkEnd(line: string): void {
    if (line !== "") throw createHttpFault("a chunk is longer than its stated size");
    this.#state = "size";
  }

  #parseTrailer(line: string): void {
    this.#trailers += line.length;
    if (this.#trailers > HEAD_MAX) throw createHttpFault("its trailers are too long");
    if (line === "") this.#state = "done";
  }

  #consumeBody(bytes: Buffer, parts: Buffer[]): number {
    const part = bytes.subarray(0, this.#left);
    parts.push(part);
    this.#left -= part.length;
    if (this.#left === 0) this.#state = this.#isChunked ? "gap" : "done";
    return part.length;
  }
}

/**
 * Parses header fields by lowercase name. Joins repeated fields with different values; fields that matter are then
 * rejected.
 */
function parseHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ""] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined)
      throw createHttpFault(`its head has the line ${JSON.stringify(line.slice(0, 80))}`);
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined || before === value ? value : `${before}, ${value}`);
  }
  return headers;
}

function createHttpFault(why: string): HttpFault {
  return new HttpFault("EBADHTTP", `the answer is not valid HTTP: ${why}`);
}
