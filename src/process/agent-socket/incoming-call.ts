import type { Frame } from "../guarded-command/wire.ts";
import type { CallConnection } from "./call-connection.ts";
import { CallRefusal, type CallRequest, CallRequestReader } from "./call-request.ts";
import { encodeDecline } from "./launched-call.ts";

interface IncomingCallPorts {
  /** Receives the complete call. A CallRefusal that it throws declines the call. */
  onComplete(request: CallRequest): void;
  /** Called when the call is declined. */
  onDeclined?(): void;
  /** Called once when the call is complete, declined, or its connection has ended. */
  onEnd(): void;
}

/** A connection whose call is not complete yet. Every violation of the limits declines the call. */
export class IncomingCall {
  readonly #connection: CallConnection;
  readonly #ports: IncomingCallPorts;
  readonly #reader = new CallRequestReader();
  readonly #timeout: NodeJS.Timeout;
  #isOver = false;

  /** @param timeoutMs  time until the call must be complete */
  constructor(connection: CallConnection, timeoutMs: number, ports: IncomingCallPorts) {
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

  /** Whether the call was declined, or its connection has ended, before it was complete. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Begins to read. */
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
    clearTimeout(this.#timeout);
    this.#ports.onEnd();
  }
}
