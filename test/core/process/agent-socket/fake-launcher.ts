/** A launcher in TypeScript: connects to an agent's socket, and sends what a test wants. */

import { type ChildProcess, spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { waitUntil } from "../../../../fixtures/wait-until.ts";
import { type BootTime, toBootNanos } from "../../../../src/core/base/clock.ts";
import { loadPeerAddon } from "../../../../src/core/process/agent-socket/peer.ts";
import {
  AGENT_REQUEST,
  CALL_VERSION,
  LAUNCHER_EVENT,
} from "../../../../src/core/process/agent-socket/wire.ts";
import { GUARDIAN_NAME } from "../../../../src/core/process/guarded-command/guardian-process.ts";
import {
  encodeFrame,
  type Frame,
  FrameReader,
  GUARDIAN_REQUEST,
} from "../../../../src/core/process/guarded-command/wire.ts";
import { locateNative } from "../../../../src/core/process/native/locate.ts";

export const addon = loadPeerAddon();

export interface CallOptions {
  pid?: number;
  bootTime?: BootTime;
  version?: bigint;
  directory?: string | Buffer;
  words?: readonly (string | Buffer)[];
  settings?: readonly (string | Buffer)[];
  note?: string | Buffer;
  hasConfig?: boolean;
  state?: bigint;
  connectionNumber?: bigint;
}

/** Joins texts, each followed by a NUL. */
export function joinTexts(texts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(texts.flatMap((text) => [Buffer.from(text), Buffer.from([0])]));
}

/** Encodes the frame CALL. */
export function encodeHead({
  pid = process.pid,
  bootTime = addon.readBootTime(),
  version = CALL_VERSION,
  directory = "/",
}: CallOptions = {}): Buffer {
  const ids = Buffer.alloc(8);
  ids.writeUInt32LE(pid, 0);
  ids.writeUInt32LE(process.ppid, 4);
  const block = Buffer.concat([ids, joinTexts([directory])]);
  return encodeFrame(LAUNCHER_EVENT.call, toBootNanos(bootTime), version, block);
}

/** Encodes a complete call. */
export function encodeCall(options: CallOptions = {}): Buffer {
  const { words = ["run", "true"], settings = [], note, state = 0n, connectionNumber = 0n } = options;
  return Buffer.concat([
    encodeHead(options),
    encodeFrame(LAUNCHER_EVENT.words, options.hasConfig ? 1n : 0n, 0n, joinTexts(words)),
    encodeFrame(LAUNCHER_EVENT.settings, 0n, 0n, joinTexts(settings)),
    ...(note === undefined ? [] : [encodeFrame(LAUNCHER_EVENT.note, 0n, 0n, Buffer.from(note))]),
    encodeFrame(LAUNCHER_EVENT.callEnd, state, connectionNumber),
  ]);
}

const REQUESTS: ReadonlySet<number> = new Set(Object.values(GUARDIAN_REQUEST));
const isGuardianRequest = ({ kind }: Frame) => REQUESTS.has(kind);
const encodeAgain = ({ kind, a, b, block }: Frame) => encodeFrame(kind, a, b, block);

export class FakeLauncher {
  readonly frames: Frame[] = [];
  readonly socket: Socket;
  isClosed = false;
  readonly #reader = new FrameReader();
  /** Where requests for the guardians go, once there are some. */
  #guardians: Duplex | undefined;

  constructor(path: string) {
    this.socket = connect(path);
    this.socket.on("data", (chunk: Buffer) => {
      for (const frame of this.#reader.consume(chunk)) this.#handleFrame(frame);
    });
    this.socket.on("error", () => {}); // the agent may close before it has read everything
    this.socket.once("close", () => {
      this.isClosed = true;
      this.#guardians?.end();
    });
  }

  #handleFrame(frame: Frame): void {
    if (this.#guardians !== undefined && isGuardianRequest(frame)) this.#guardians.write(encodeAgain(frame));
    else this.frames.push(frame);
  }

  send(...frames: Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  sendCall(options: CallOptions = {}): void {
    this.send(encodeCall(options));
  }

  /** Waits for a frame that the agent sends, and takes it. */
  receive(kind: number): Promise<Frame> {
    return waitUntil(
      `a frame ${kind}`,
      () => {
        const index = this.frames.findIndex((frame) => frame.kind === kind);
        return index < 0 ? undefined : this.frames.splice(index, 1)[0];
      },
      { describe: () => `received: ${this.frames.map((frame) => frame.kind)}; closed: ${this.isClosed}` },
    );
  }

  /** Waits for DECLINED and the end of the connection. @returns the reason */
  async receiveDecline(): Promise<string> {
    const { block } = await this.receive(AGENT_REQUEST.declined);
    await this.waitForClose();
    return block.toString();
  }

  async waitForClose(): Promise<void> {
    await waitUntil("the end of the connection", () => this.isClosed);
  }

  /** Waits for GUARD, and starts the real guardians. They get what the agent has sent for them already, and what comes. */
  async startGuardians(env: Record<string, string> = {}): Promise<ChildProcess> {
    await this.receive(AGENT_REQUEST.guard);
    const guardian = spawn(locateNative("guardian"), [], {
      argv0: GUARDIAN_NAME,
      detached: true,
      env: { ...process.env, ...env },
      stdio: ["ignore", "inherit", "inherit", "pipe"],
    });
    const end = guardian.stdio[3] as Duplex;
    end.on("error", () => {}); // the guardians end while something is sent to them
    end.pipe(this.socket, { end: false });
    for (const frame of this.frames.filter(isGuardianRequest)) end.write(encodeAgain(frame));
    this.#guardians = end;
    guardian.once("exit", (code, signal) => {
      const status = code === null ? (signal === "SIGKILL" ? 9 : 15) : code << 8;
      this.send(encodeFrame(LAUNCHER_EVENT.guardiansEnded, BigInt(status)));
    });
    return guardian;
  }
}
