import type { Frame } from "../guarded-command/wire.ts";
import type { CallRequest } from "./call-request.ts";
import type { PathCheck } from "./listening-socket.ts";
import type { Peer } from "./peer.ts";

/**
 * What the thread of the agent's socket and the main thread tell each other. The main thread renews sessions: it must not
 * share its event loop with what users send, so it gets complete frames only, and of each user only some at a time.
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

/** From the thread of the socket. They arrive as lists, in order. Connections have numbers that are never used again. */
export type SocketNews =
  | { kind: "opened" }
  /** It is not possible to listen. `isConfig`: because of the settings. */
  | { kind: "failed"; message: string; isConfig: boolean }
  | CallNews
  | { kind: "frame"; id: number; uid: number; frame: Omit<Frame, "block"> & { block: Uint8Array } }
  /** The connection has ended. Nothing more is read from it, or sent to it. */
  | { kind: "ended"; id: number }
  | { kind: "declined"; counts: ReadonlyMap<DeclinedConnection, number> }
  | { kind: "fault"; message: string }
  /** All earlier orders were carried out: what they send was written, if the other side reads. */
  | { kind: "done"; question: number }
  | { kind: "path"; question: number; check: PathCheck };

/** To the thread of the socket. They arrive as lists, in order. */
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

/** Collects messages, and posts those of one turn of the event loop together: each post wakes the other thread. */
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

/** Copies bytes: of a part of a larger buffer, a message would contain all of it. */
export function copyBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/** Returns received bytes as a Buffer, without a copy. */
export function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
