import type { Socket } from "node:net";
import { Connection, type HttpResponse } from "./connection.ts";

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
