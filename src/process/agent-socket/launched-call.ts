import { constants } from "node:os";
import { BLOCK_MAX, encodeFrame, type Frame, GUARDIAN_EVENT } from "../guarded-command/wire.ts";
import type { CallRequest } from "./call-request.ts";
import type { Peer } from "./peer.ts";
import { copyBytes, type Outbox, type SocketOrder } from "./socket-messages.ts";
import { AGENT_REQUEST, CALL_VERSION, type CallState, LAUNCHER_EVENT, NOTE_MAX } from "./wire.ts";

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

/** A signal that a launcher received. */
export interface LaunchedSignal {
  name: NodeJS.Signals;
  /** Whether the guardian has already passed it to the command. */
  isDelivered: boolean;
}

/** Signals and events that are kept until somebody listens. A client that sends more is none of ours. */
const KEPT_SIGNALS = 64;
const KEPT_EVENTS = 1024;

const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals).map(([name, number]) => [BigInt(number), name as NodeJS.Signals]),
);

/** A complete call of a launcher, and the connection to it. The caller must accept, decline or end it. */
export class LaunchedCall {
  /** Who has connected: the launcher, or the inner guardian for a call that is `running`. */
  readonly peer: Peer;
  /** Time from the sending of the call until it was complete here, ms. A launcher does without an agent that is slow. */
  readonly delay: number;
  /** Process id of the launcher. */
  readonly pid: number;
  /** Working directory of the launcher. */
  readonly directory: string;
  /** The words after the program's name. */
  readonly words: readonly string[];
  /** The settings in the launcher's environment. */
  readonly settings: Readonly<Record<string, string>>;
  /** When the call is resumed: the newest note that the launcher had received. */
  readonly note: string | undefined;
  /** Whether the user of the launcher has a configuration file. */
  readonly hasConfig: boolean;
  readonly state: CallState;
  /** Number of this connection of the call, from 0. A newer connection replaces older ones. */
  readonly connectionNumber: number;
  /** Resolves when the connection has ended. Never rejects. */
  readonly closed: Promise<void>;
  readonly #connection: CallLink;
  #signalListeners: ((signal: LaunchedSignal) => void)[] = [];
  #keptSignals: LaunchedSignal[] = [];
  /** Signals that were passed to the command, and that this process has not tried to pass on yet. */
  readonly #delivered = new Map<string, number>();
  #handleEvent: ((frame: Frame) => void) | undefined;
  #keptEvents: Frame[] = [];
  #isGuarded: boolean;
  #exitCode: number | undefined;
  #hasExited = false;

  constructor(connection: CallLink, peer: Peer, request: CallRequest, delay = 0) {
    this.peer = peer;
    this.delay = delay;
    this.pid = request.pid;
    this.directory = request.directory;
    this.words = request.words;
    this.settings = request.settings;
    this.note = request.note;
    this.hasConfig = request.hasConfig;
    this.state = request.state;
    this.connectionNumber = request.connectionNumber;
    this.closed = connection.closed;
    this.#connection = connection;
    this.#isGuarded = request.state === "running";
    connection.setHandler((frame) => this.#handleFrame(frame));
  }

  /** Whether guardians have been ordered, or are there, and have not ended. */
  get isGuarded(): boolean {
    return this.#isGuarded;
  }

  /** Whether the command has ended. Its claim may not be free yet, nor the launcher told. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Tells the launcher that this agent serves the call. */
  accept(): void {
    this.#connection.send(encodeFrame(AGENT_REQUEST.accepted, CALL_VERSION));
  }

  /** Declines the call and closes the connection. The launcher falls back; a running command is killed. */
  decline(reason: string): void {
    this.#connection.finish(encodeDecline(reason));
  }

  /**
   * Gives the launcher a text that it sends back when it resumes the call. Resolves when it is written: the launcher must
   * have it before etcd has the claim.
   * @param patienceMs  time for which the launcher tries to resume the call before its command is started
   * @throws RangeError when the text is longer than 4 KiB or contains a NUL
   */
  async sendNote(text: string, patienceMs: number): Promise<void> {
    const block = Buffer.from(text);
    if (block.length > NOTE_MAX || block.includes(0))
      throw new RangeError(`a note of at most ${NOTE_MAX} bytes without a NUL; got ${block.length} bytes`);
    this.#connection.send(encodeFrame(AGENT_REQUEST.note, BigInt(Math.ceil(patienceMs)), 0n, block));
    await this.#connection.flush();
  }

  /** Writes to the launcher's standard output (1) or error (2). */
  writeOutput(descriptor: 1 | 2, text: string | Uint8Array): void {
    const all = typeof text === "string" ? Buffer.from(text) : text;
    const frames: Buffer[] = [];
    for (let at = 0; at < all.length; at += BLOCK_MAX)
      frames.push(encodeFrame(AGENT_REQUEST.write, BigInt(descriptor), 0n, all.subarray(at, at + BLOCK_MAX)));
    if (frames.length > 0) this.#connection.send(Buffer.concat(frames));
  }

  /** Ends the launcher with an exit code, as soon as the guardians have ended, and then the connection. */
  end(code: number): void {
    this.#exitCode = code;
    if (!this.#isGuarded) this.#sendEnd(code);
  }

  /** Adds a listener for signals to the launcher. The first one also receives earlier signals. */
  onSignal(listener: (signal: LaunchedSignal) => void): void {
    this.#signalListeners.push(listener);
    for (const signal of this.#keptSignals.splice(0)) listener(signal);
  }

  /** Whether the guardian has already passed a signal to the command; one delivery counts once. */
  takeDelivery(name: NodeJS.Signals): boolean {
    const count = this.#delivered.get(name) ?? 0;
    if (count > 0) this.#delivered.set(name, count - 1);
    return count > 0;
  }

  /** Orders the guardians. For LaunchedGuardian. */
  guard(): void {
    if (this.#isGuarded) return;
    this.#isGuarded = true;
    this.#connection.send(encodeFrame(AGENT_REQUEST.guard));
  }

  /** Sends requests to the inner guardian. For LaunchedGuardian. */
  sendRequests(frames: Buffer): void {
    if (this.#isGuarded) this.#connection.send(frames);
  }

  /** Sets who receives the guardian's events and GUARDIANS_ENDED, also earlier ones. For LaunchedGuardian. */
  setEventHandler(handle: (frame: Frame) => void): void {
    this.#handleEvent = handle;
    for (const frame of this.#keptEvents.splice(0)) handle(frame);
  }

  /** Cuts the connection. The guardians end, and with them the command. */
  destroy(): void {
    this.#connection.destroy();
  }

  #handleFrame(frame: Frame): void {
    if (frame.kind === LAUNCHER_EVENT.signalled) this.#handleSignal(frame);
    else this.#handleGuardianEvent(frame);
  }

  #handleSignal({ a, b }: Frame): void {
    const name = SIGNAL_NAMES.get(a);
    if (name === undefined) return;
    const signal = { name, isDelivered: b === 1n };
    if (signal.isDelivered) this.#delivered.set(name, (this.#delivered.get(name) ?? 0) + 1);
    if (this.#signalListeners.length > 0) for (const listener of this.#signalListeners) listener(signal);
    else if (this.#keptSignals.length < KEPT_SIGNALS) this.#keptSignals.push(signal);
  }

  #handleGuardianEvent(frame: Frame): void {
    if (!this.#isGuarded) return this.destroy(); // no guardian was ordered
    this.#hasExited ||= frame.kind === GUARDIAN_EVENT.exited || frame.kind === LAUNCHER_EVENT.guardiansEnded;
    if (this.#handleEvent !== undefined) this.#handleEvent(frame);
    else if (this.#keptEvents.push(frame) > KEPT_EVENTS) this.destroy();
    if (frame.kind !== LAUNCHER_EVENT.guardiansEnded) return;
    this.#isGuarded = false;
    if (this.#exitCode !== undefined) this.#sendEnd(this.#exitCode);
  }

  #sendEnd(code: number): void {
    this.#connection.finish(encodeFrame(AGENT_REQUEST.end, BigInt(code)));
  }
}

/** Encodes DECLINED. */
export function encodeDecline(reason: string): Buffer {
  return encodeFrame(AGENT_REQUEST.declined, 0n, 0n, Buffer.from(reason).subarray(0, NOTE_MAX));
}
