import type { Socket } from "node:net";
import { AnswerReader, HttpFault } from "./answer.ts";

/** No answer of etcd's is longer, in bytes. */
export const BODY_MAX = 64 * 1024 * 1024;

export interface Answer {
  status: number;
  text: string;
}

/** What a connection tells the pool. */
export interface ConnectionListener {
  /** It has answered and may be used again. */
  idle(connection: Connection): void;
  /** It cannot be used any more. */
  gone(connection: Connection): void;
}

/** A request under way. */
interface Exchange {
  reader: AnswerReader;
  parts: Buffer[];
  length: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** A connection to one member, for one request after the other. */
export class Connection {
  readonly #socket: Socket;
  readonly #listener: ConnectionListener;
  #current: Exchange | undefined;

  constructor(socket: Socket, listener: ConnectionListener) {
    this.#socket = socket;
    this.#listener = listener;
    socket.on("data", (chunk: Buffer) => this.#hear(chunk));
    socket.on("end", () => this.#attempt(() => this.#ended()));
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => this.destroy(new HttpFault("ECONNRESET", "the connection was closed")));
  }

  /**
   * Sends a request, head and body, and waits for the whole answer.
   * @param signal  aborted, it ends the connection: nobody could tell whose answer came next
   * @throws what the socket or the answer failed with; HttpFault; the signal's reason
   */
  async request(text: string, signal: AbortSignal): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const onAbort = () => this.destroy(signal.reason);
    this.#current = { reader: new AnswerReader(), parts: [], length: 0, resolve, reject };
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    else this.#socket.ref().write(text);
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Ends the connection, and with it a request that is under way. */
  destroy(reason: unknown): void {
    const current = this.#current;
    this.#current = undefined;
    this.#socket.destroy();
    this.#listener.gone(this);
    current?.reject(reason);
  }

  #hear(chunk: Buffer): void {
    this.#attempt(() => {
      const { reader, parts } = this.#exchange();
      for (const part of reader.take(chunk)) this.#keep(part, parts);
      if (reader.isDone) this.#answered();
    });
  }

  #keep(part: Buffer, parts: Buffer[]): void {
    const current = this.#exchange();
    current.length += part.length;
    if (current.length > BODY_MAX) throw new HttpFault("EBADHTTP", "the answer is too long");
    parts.push(part);
  }

  #ended(): void {
    this.#exchange().reader.end();
    this.#answered();
  }

  #answered(): void {
    const { reader, parts, resolve } = this.#exchange();
    const [first, ...more] = parts;
    const body = more.length === 0 ? first : Buffer.concat(parts);
    this.#current = undefined;
    // What is not sent yet would reach the server as the start of the next request.
    if (reader.persists && this.#socket.writableLength === 0 && this.#socket.writable) {
      this.#socket.unref();
      this.#listener.idle(this);
    } else this.destroy(undefined);
    resolve({ status: reader.status, text: body?.toString() ?? "" });
  }

  /** @throws HttpFault when nobody has asked for anything */
  #exchange(): Exchange {
    if (this.#current === undefined) throw new HttpFault("EBADHTTP", "an answer that nobody asked for");
    return this.#current;
  }

  #attempt(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.destroy(error);
    }
  }
}
