import type { Frame } from "../guarded-command/wire.ts";
import { copyBytes, type Outbox, type SocketOrder } from "./socket-messages.ts";

/** The connection of a complete call, which the thread of the socket has. */
export class CallLink {
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  readonly #id: number;
  readonly #outbox: Outbox<SocketOrder>;
  readonly #tellDone: () => Promise<void>;
  readonly #end = Promise.withResolvers<void>();
  #handle: ((frame: Frame) => void) | undefined;
  /** Whether nothing more is sent. */
  #isOver = false;

  /** @param tellDone  resolves when all that was sent before is written */
  constructor(id: number, outbox: Outbox<SocketOrder>, tellDone: () => Promise<void>) {
    this.#id = id;
    this.#outbox = outbox;
    this.#tellDone = tellDone;
    this.closed = this.#end.promise;
  }

  /** Sets who receives the frames. */
  setHandler(handle: (frame: Frame) => void): void {
    this.#handle = handle;
  }

  /** For the listener. */
  receive(frame: Frame): void {
    this.#handle?.(frame);
  }

  /** For the listener: the connection has ended. */
  end(): void {
    this.#isOver = true;
    this.#end.resolve();
  }

  /** Sends frames. The connection is cut when too much of what was sent before has not been read. */
  send(frames: Uint8Array): void {
    if (!this.#isOver) this.#outbox.add({ kind: "send", id: this.#id, frames: copyBytes(frames) });
  }

  /** Resolves when what was sent is written, or the connection has ended. */
  async flush(): Promise<void> {
    await this.#tellDone();
  }

  /** Sends last frames, and closes the connection when they were sent. Receives nothing more. */
  finish(frames: Uint8Array): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handle = undefined;
    this.#outbox.add({ kind: "finish", id: this.#id, frames: copyBytes(frames) });
  }

  /** Cuts the connection. It may still be read until `closed` resolves. */
  destroy(): void {
    this.#isOver = true;
    this.#outbox.add({ kind: "destroy", id: this.#id });
  }
}
