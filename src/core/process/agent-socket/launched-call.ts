import { connect, type Socket } from "node:net";
import { constants } from "node:os";
import { type BootTime, type Millis, toBootNanos } from "../../base/clock.ts";
import {
  BLOCK_MAX,
  encodeFrame,
  encodePieces,
  type Frame,
  FrameReader,
  GUARDIAN_EVENT,
} from "../guarded-command/wire.ts";
import type { CallRequest } from "./call-request.ts";
import { loadPeerAddon, type Peer, type PeerAddon } from "./peer.ts";
import { type CallNews, copyBytes, type Outbox, type SocketOrder } from "./socket-messages.ts";
import { AGENT_REQUEST, CALL_VERSION, HOOK_BITS, LAUNCHER_EVENT, NOTE_MAX } from "./wire.ts";

export interface LaunchedSignal {
  name: NodeJS.Signals;
  /** Whether the guardian has already passed it to the command. */
  isDelivered: boolean;
}

/** The hooks of a run that its launcher calls. Texts are JSON for the program that the launcher starts for that. */
export interface LaunchedHooks {
  /** Whether some are called at the start. */
  isStartTold: boolean;
  /** Describes the run, when it has its claim. */
  describeRun(): string;
  /** Describes the end; undefined: none are called. */
  describeEnd(): string | undefined;
}

/** Maximum numbers of signals and events kept until there is a listener. Our launchers and guardians never send more. */
const KEPT_SIGNALS = 64;
const KEPT_EVENTS = 1024;

const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals).map(([name, number]) => [BigInt(number), name as NodeJS.Signals]),
);

/** A complete call of a launcher. Its receiver must accept, decline or end it. The socket thread owns its connection. */
export class LaunchedCall {
  /** The process that has connected: the launcher, or the inner guardian for a call that is `running`. */
  readonly peer: Peer;
  readonly request: CallRequest;
  /** Time from the sending of the call until it was complete here. A launcher does not wait for a slow agent. */
  readonly delay: Millis;
  /** Whether guardians have been ordered or are running, and have not ended. */
  isGuarded: boolean;
  /** Whether the command has ended. Its claim may not be free yet, and the launcher may not know. */
  hasExited = false;
  /** The launcher holds the output of the command back, and prints it if the exit code is not 0. */
  isQuiet = false;
  hooks: LaunchedHooks | undefined;
  /** Number of the connection. */
  readonly #id: number;
  readonly #outbox: Outbox<SocketOrder>;
  readonly #flush: () => Promise<void>;
  readonly #closed = Promise.withResolvers<void>();
  /** Whether nothing more is sent. */
  #isOver = false;
  /** Whether the last frames were sent. */
  #isFinished = false;
  #signalListeners: ((signal: LaunchedSignal) => void)[] = [];
  #keptSignals: LaunchedSignal[] = [];
  /** How often each signal was passed to the command and this process has not tried to pass it on yet. */
  readonly #delivered = new Map<string, number>();
  #handleEvent: ((frame: Frame) => void) | undefined;
  #keptEvents: Frame[] = [];
  #exitCode: number | undefined;

  /** @param flush  resolves when all that was sent before is written */
  constructor(
    { id, peer, request }: CallNews,
    delay: Millis,
    outbox: Outbox<SocketOrder>,
    flush: () => Promise<void>,
  ) {
    this.peer = peer;
    this.request = request;
    this.delay = delay;
    this.#id = id;
    this.#outbox = outbox;
    this.#flush = flush;
    this.isGuarded = request.state === "running";
  }

  /** Resolves when the connection has ended. Never rejects. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Tells the launcher that this agent serves the call. */
  accept(): void {
    this.#send("send", encodeFrame(AGENT_REQUEST.accepted, CALL_VERSION));
  }

  /** Declines the call and closes the connection. The launcher falls back; a running command is killed. */
  decline(reason: string): void {
    this.#send("finish", encodeDecline(reason));
  }

  /**
   * Gives the launcher a text to send back when it resumes the call. Resolves when the text is written: the launcher must
   * have it before etcd has the claim.
   * @param patienceMs  time for which the launcher tries to resume the call before its command is started
   * @param isRetried   the command has ended, and will be started again
   * @throws RangeError when the text is longer than 4 KiB or contains a NUL
   */
  async sendNote(text: string, patienceMs: Millis, isRetried = false): Promise<void> {
    const block = Buffer.from(text);
    if (block.length > NOTE_MAX || block.includes(0))
      throw new RangeError(`a note of at most ${NOTE_MAX} bytes without a NUL; got ${block.length} bytes`);
    if (isRetried) this.hasExited = false;
    const frame = encodeFrame(AGENT_REQUEST.note, BigInt(Math.ceil(patienceMs)), isRetried ? 1n : 0n, block);
    this.#send("send", frame);
    await this.#flush();
  }

  /** Writes to the launcher's standard output (1) or error (2). */
  writeOutput(descriptor: 1 | 2, text: string | Uint8Array): void {
    const all = typeof text === "string" ? Buffer.from(text) : text;
    const frames = encodePieces(AGENT_REQUEST.write, BigInt(descriptor), all);
    if (frames.length > 0) this.#send("send", Buffer.concat(frames));
  }

  /** Ends the launcher with an exit code, as soon as the guardians have ended, and then the connection. */
  end(code: number): void {
    this.#exitCode = code;
    if (!this.isGuarded) this.#sendEnd(code);
  }

  /** Adds a listener for signals sent to the launcher. The first one also receives earlier signals. */
  onSignal(listener: (signal: LaunchedSignal) => void): void {
    this.#signalListeners.push(listener);
    for (const signal of this.#keptSignals.splice(0)) listener(signal);
  }

  /** Whether the guardian has already passed a signal to the command. Counts each delivery once. */
  takeDelivery(name: NodeJS.Signals): boolean {
    const count = this.#delivered.get(name) ?? 0;
    if (count > 0) this.#delivered.set(name, count - 1);
    return count > 0;
  }

  /** Orders the guardians. For LaunchedGuardian. */
  guard(): void {
    if (this.isGuarded) return;
    this.isGuarded = true;
    const { isQuiet, hooks } = this;
    const bits = hooks === undefined ? 0n : HOOK_BITS.atEnd | (hooks.isStartTold ? HOOK_BITS.atStart : 0n);
    const block = Buffer.from(hooks?.describeRun() ?? "");
    this.#send("send", encodeFrame(AGENT_REQUEST.guard, isQuiet ? 1n : 0n, bits, block));
  }

  /** Sends requests to the inner guardian. For LaunchedGuardian. */
  sendRequests(frames: Buffer): void {
    if (this.isGuarded) this.#send("send", frames);
  }

  /** Sets the receiver of the guardian's events and of GUARDIANS_ENDED, including earlier ones. For LaunchedGuardian. */
  setEventHandler(handle: (frame: Frame) => void): void {
    this.#handleEvent = handle;
    for (const frame of this.#keptEvents.splice(0)) handle(frame);
  }

  /** Cuts the connection. The guardians end, and with them the command. */
  destroy(): void {
    this.#isOver = true;
    this.#outbox.add({ kind: "destroy", id: this.#id });
  }

  /** For the listener: the connection has ended. */
  close(): void {
    this.#isOver = true;
    this.#closed.resolve();
  }

  /** For the listener. Ignores frames after the last ones were sent. A connection that is cut may still be read. */
  receive(frame: Frame): void {
    if (this.#isFinished) return;
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
    if (!this.isGuarded) return this.destroy(); // no guardian was ordered
    this.hasExited ||= frame.kind === GUARDIAN_EVENT.exited || frame.kind === LAUNCHER_EVENT.guardiansEnded;
    if (this.#handleEvent !== undefined) this.#handleEvent(frame);
    else if (this.#keptEvents.push(frame) > KEPT_EVENTS) this.destroy();
    if (frame.kind !== LAUNCHER_EVENT.guardiansEnded) return;
    this.isGuarded = false;
    if (this.#exitCode !== undefined) this.#sendEnd(this.#exitCode);
  }

  /**
   * Sends frames. The connection is cut if the launcher has left too much unread.
   * @param kind  `finish`: these frames are the last ones. The connection is closed when they have been sent
   */
  #send(kind: "send" | "finish", frames: Uint8Array): void {
    if (this.#isOver) return;
    this.#isOver = kind === "finish";
    this.#isFinished = this.#isOver;
    this.#outbox.add({ kind, id: this.#id, frames: copyBytes(frames) });
  }

  #sendEnd(code: number): void {
    const block = Buffer.from(this.hooks?.describeEnd() ?? "");
    this.#send("finish", encodeFrame(AGENT_REQUEST.end, BigInt(code), 0n, block));
  }
}

/** Encodes DECLINED. */
export function encodeDecline(reason: string): Buffer {
  return encodeFrame(AGENT_REQUEST.declined, 0n, 0n, Buffer.from(reason).subarray(0, NOTE_MAX));
}

/** The answer of an agent. `uid`: the user whose process listens, or systemd's. */
type VersionAnswer =
  | { kind: "answered"; version: string; uid: number }
  | { kind: "declined"; reason: string; uid: number }
  | { kind: "silent"; reason: string };

/** Time limit for the whole answer, ms. */
const ANSWER_TIMEOUT_MS = 2_000;

/** Asks the agent behind a socket for its version, with a call as a launcher sends it. Never rejects. */
export async function askAgentVersion(path: string): Promise<VersionAnswer> {
  try {
    const addon = loadPeerAddon();
    const socket = connect(path);
    return await readAnswer(socket, addon).finally(() => socket.destroy());
  } catch (error) {
    return { kind: "silent", reason: (error as Error).message };
  }
}

function readAnswer(socket: Socket, addon: PeerAddon): Promise<VersionAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<VersionAnswer>();
  const reader = new FrameReader(BLOCK_MAX);
  const fail = (reason: string) => resolve({ kind: "silent", reason });
  let version = "";
  let uid = -1;
  const handle = ({ kind, block }: Frame) => {
    if (kind === AGENT_REQUEST.write) version += block.toString();
    if (kind === AGENT_REQUEST.declined) resolve({ kind: "declined", reason: block.toString(), uid });
    if (kind === AGENT_REQUEST.end) resolve({ kind: "answered", version: version.trim(), uid });
  };
  const timer = setTimeout(() => fail(`no answer within ${ANSWER_TIMEOUT_MS / 1000}s`), ANSWER_TIMEOUT_MS);
  socket.on("connect", () => {
    try {
      uid = addon.readPeer(socket).uid;
      socket.write(encodeVersionCall(addon.readBootTime()));
    } catch (error) {
      reject(error);
    }
  });
  socket.on("data", (chunk: Buffer) => {
    try {
      for (const frame of reader.consume(chunk)) handle(frame);
    } catch {
      fail("its answer is malformed");
    }
  });
  socket.on("error", ({ message }) => fail(message));
  socket.on("close", () => fail("it closed the connection"));
  return promise.finally(() => clearTimeout(timer));
}

function encodeVersionCall(bootTime: BootTime): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(process.pid, 0);
  head.writeUInt32LE(process.ppid, 4);
  const sent = toBootNanos(bootTime);
  return Buffer.concat([
    encodeFrame(LAUNCHER_EVENT.call, sent, CALL_VERSION, Buffer.concat([head, Buffer.from("/\0")])),
    encodeFrame(LAUNCHER_EVENT.words, 0n, 0n, Buffer.from("--version\0")),
    encodeFrame(LAUNCHER_EVENT.callEnd),
  ]);
}
