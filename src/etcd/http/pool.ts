import type { Socket } from "node:net";
import { type Answer, Connection } from "./connection.ts";

const CLOSED = "the connection to etcd was closed";

/** Connections to one member: those that wait for their next use, and those in use. */
export class Pool {
  readonly #dial: () => Socket;
  readonly #all = new Set<Connection>();
  /** The one that was used last is used first. */
  #idle: Connection[] = [];

  constructor(dial: () => Socket) {
    this.#dial = dial;
  }

  /**
   * Sends a request and waits for its answer. It is sent once: where an idle connection turns out to be dead, nobody knows
   * whether the request was applied, and the caller must be one who can repeat it.
   * @throws as Connection.request
   */
  request(text: string, signal: AbortSignal): Promise<Answer> {
    return (this.#idle.pop() ?? this.#open()).request(text, signal);
  }

  /** A connection beside the pool, for a stream. */
  dial(): Socket {
    return this.#dial();
  }

  /** Closes connections that wait for their next use: one of them may be dead without our knowing. */
  dropIdle(): void {
    for (const connection of [...this.#idle]) connection.destroy(undefined);
  }

  /** Closes all; requests under way fail. */
  close(): void {
    for (const connection of [...this.#all]) connection.destroy(new Error(CLOSED));
  }

  #open(): Connection {
    const connection = new Connection(this.#dial(), {
      idle: (it) => this.#idle.push(it),
      gone: (it) => this.#forget(it),
    });
    this.#all.add(connection);
    return connection;
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    this.#idle = this.#idle.filter((it) => it !== connection);
  }
}
