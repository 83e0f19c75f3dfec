import type { Frame } from "../guarded-command/wire.ts";
import type { CallRequest } from "./call-request.ts";
import type { PathCheck } from "./listening-socket.ts";
import type { Peer } from "./peer.ts";

/**
 * The messages between the socket thread and the main thread. The main thread renews sessions, and input from users must
 * not delay it. So it receives only complete frames, and only a limited number from each user at a time.
 */

/**
 * Why a connection was declined. `user`: its user is not served; `limit`: its user has too many connections; `call`: its
 * call is malformed, too long or too slow, or comes from another namespace.
 */
export type DeclinedConnection = "user" | "limit" | "call";

/** A complete call. */
export interface CallNews {
  kind: "call";
  id: number;
  peer: Peer;
  request: CallRequest;
}

/** From the socket thread. They arrive as lists, in order. The ids of connections are never reused. */
export type SocketNews =
  | { kind: "opened" }
  /** The agent cannot listen. `isConfig`: because of the settings. */
  | { kind: "failed"; message: string; isConfig: boolean }
  | CallNews
  | { kind: "frame"; id: number; uid: number; frame: Omit<Frame, "block"> & { block: Uint8Array } }
  /** The connection has ended. Nothing more is read from it or sent to it. */
  | { kind: "ended"; id: number }
  | { kind: "declined"; counts: ReadonlyMap<DeclinedConnection, number> }
  | { kind: "fault"; message: string }
  /** All earlier orders were carried out: what they send was written, if the other side reads. */
  | { kind: "done"; question: number }
  | { kind: "path"; question: number; check: PathCheck };

/** To the socket thread. They arrive as lists, in order. */
export type SocketOrder =
  | { kind: "send" | "finish"; id: number; frames: Uint8Array }
  | { kind: "destroy"; id: number }
  /** Frames and calls that the main thread has handled, by user. */
  | { kind: "taken"; counts: ReadonlyMap<number, number> }
  | { kind: "close" }
  | { kind: "tellDone" | "checkPath"; question: number };

/** One end of the connection between the threads. */
export interface ThreadPort {
  postMessage(messages: readonly unknown[]): void;
  on(event: "message", listener: (messages: unknown) => void): unknown;
}

/** Posts the messages of one turn of the event loop together, because each post wakes the other thread. */
export class Outbox<T> {
  readonly #port: ThreadPort;
  readonly #runSoon: (action: () => void) => void;
  #messages: T[] = [];

  constructor(port: ThreadPort, runSoon: (action: () => void) => void) {
    this.#port = port;
    this.#runSoon = runSoon;
  }

  add(message: T): void {
    if (this.#messages.push(message) > 1) return;
    this.#runSoon(() => this.#post());
  }

  #post(): void {
    this.#port.postMessage(this.#messages.splice(0));
  }
}

/** Copies bytes. Posting a view of a larger buffer would copy the whole buffer. */
export function copyBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/** Returns received bytes as a Buffer, without a copy. */
export function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
