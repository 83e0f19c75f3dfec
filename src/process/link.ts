import { type ChildProcess, spawn } from "node:child_process";
import { Duplex } from "node:stream";
import { EXIT, SignalboxError } from "../base/errors.ts";
import type { CommandSpec, Streams } from "./command.ts";
import { type Frame, FrameReader } from "./wire.ts";

/** How the outer guardian ended: its exit code, or undefined when a signal ended it or it never started. */
export interface GuardianEnd {
  code: number | undefined;
  /** Why it never started. */
  failure?: SignalboxError;
}

/** The guardian's process and our end of its socket. What the frames mean is guarded.ts's business. */
export class Link {
  /** Process id of the outer guardian, which is also its session's; undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Both the process and the socket have ended; every frame has been handed out. Rejects never. */
  readonly ended: Promise<GuardianEnd>;
  readonly #child: ChildProcess;
  /** Undefined when there was no descriptor left to start a guardian with. */
  readonly #socket: Duplex | undefined;

  /** @throws SignalboxError when the system refuses the command's arguments or environment */
  constructor(binary: string, spec: CommandSpec, onFrame: (frame: Frame) => void) {
    this.#child = startGuardian(binary, spec);
    this.pid = this.#child.pid;
    this.#socket = socketOf(this.#child);
    if (spec.streams !== undefined) attend(this.#child, spec.streams);
    this.#hearFrames(onFrame);
    const silent = this.#socketEnd();
    this.ended = processEnd(this.#child, binary).then(async (end) => {
      if (end.failure === undefined) await silent;
      return end;
    });
  }

  /** Sends a frame; to a guardian that has ended it does nothing, since `ended` tells. */
  send(frame: Buffer): void {
    if (this.#socket?.writable) this.#socket.write(frame);
  }

  /** Ends the guardian, and at once whatever it guards: for a guardian that cannot be talked to. */
  close(): void {
    this.#socket?.destroy();
  }

  #hearFrames(onFrame: (frame: Frame) => void): void {
    const reader = new FrameReader();
    this.#socket?.on("data", (chunk: Buffer) => {
      for (const frame of reader.take(chunk)) onFrame(frame);
    });
    this.#socket?.on("error", () => {}); // broken pipe: the end follows, and is what counts
  }

  /** The inner guardian has ended; the outer one finishes its work, or only follows. Should it be stopped, wake it. */
  #socketEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket?.once("close", () => {
        this.#child.kill("SIGCONT");
        resolve();
      });
    });
  }
}

/** A session of its own: what a terminal or a dying shell sends to our group must not reach the guardian. */
function startGuardian(binary: string, spec: CommandSpec): ChildProcess {
  const own = spec.streams === undefined ? "inherit" : "pipe";
  try {
    return spawn(binary, ["--", spec.file, ...spec.args], {
      detached: true,
      env: spec.env,
      stdio: [own, own, own, "pipe"],
    });
  } catch (cause) {
    const message = `cannot start "${spec.file}" with these arguments and this environment: ${text(cause)}`;
    throw new SignalboxError(EXIT.notExecutable, message, { cause });
  }
}

/** Both outputs end when the last process that could write has; a guardian that never started has none. */
function attend({ stdin, stdout, stderr }: Partial<ChildProcess>, streams: Streams): void {
  stdin?.on("error", () => {}); // it was not read to its end
  stdin?.end(streams.input);
  const outputs = [stdout, stderr].filter((output) => output !== null && output !== undefined);
  let open = outputs.length;
  for (const output of outputs) {
    output.on("data", (chunk: Buffer) => streams.onOutput(chunk, output === stdout ? 1 : 2));
    output.on("error", () => {}); // its end follows
    output.once("close", () => {
      open -= 1;
      if (open === 0) streams.onEnd();
    });
  }
  if (open === 0) streams.onEnd();
}

/** Node's types know neither that descriptor 3 is a socket, nor that all are missing when none was left to start with. */
function socketOf(child: ChildProcess): Duplex | undefined {
  const stdio: readonly unknown[] | undefined = child.stdio;
  return stdio?.[3] instanceof Duplex ? stdio[3] : undefined;
}

function processEnd(child: ChildProcess, binary: string): Promise<GuardianEnd> {
  return new Promise((resolve) => {
    child.once("exit", (code) => resolve({ code: code ?? undefined }));
    child.on("error", (cause) => {
      if (child.pid !== undefined) return; // a signal that could not be sent
      const message = `cannot start the guardian ${binary}: ${text(cause)}; no command is run without it`;
      resolve({ code: undefined, failure: new SignalboxError(EXIT.config, message, { cause }) });
    });
  });
}

const text = (error: unknown) => (error instanceof Error ? error.message : String(error));
