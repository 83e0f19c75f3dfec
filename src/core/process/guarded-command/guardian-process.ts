import { type ChildProcess, type IOType, spawn } from "node:child_process";
import { constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { type Clock, NO_LONGER_NEEDED } from "../../base/clock.ts";
import { EXIT, getErrorMessage, SignalboxError } from "../../base/errors.ts";
import { explainUnstartable } from "../native/locate.ts";
import { type CommandSpec, INHERITED_VARIABLE, parseInherited, type Streams } from "./command.ts";
import { attachCopies, callAtEnd } from "./output-copies.ts";
import { type ProcessStatus, readProcess } from "./processes.ts";
import { type Frame, FrameReader, GUARDIAN_EVENT } from "./wire.ts";

/**
 * The process name of guardians, as in wire.h. It is not part of any signalbox path or word, and the arguments of
 * guardians contain no names. `pkill -f` with the name of a job or of signalbox therefore ends the runner but not the
 * guardians, which then end the job.
 */
export const GUARDIAN_NAME = "sbxgd";

/** The argument that requests copies, and their sockets, as in output-copies.h. */
const COPIES_WORD = "copies";
/** The argument that leaves the command in the process group of the guardian. */
const FOREGROUND_WORD = "foreground";
/** The argument that requests pipes as standard streams. */
const PIPES_WORD = "pipes";
/** The argument that names the command's user, before its ids. */
const USER_WORD = "user=";
const COPY_SOCKETS = ["pipe", "pipe"] as const;
/** Interval of looks at a guardian that is left after the other one has ended, ms. */
const LOOK_EVERY_MS = 500;

export interface GuardianPorts {
  clock: Clock;
  /** Logs a sentence of a guardian. */
  report: (text: string) => void;
}

/** A guardian that is a child of this process, and this process's end of its socket. */
export class GuardianProcess implements Guardian {
  readonly pid: number | undefined;
  readonly ended: Promise<GuardianExit>;
  readonly #child: ChildProcess;
  /** Undefined when no descriptor was left to start a guardian. */
  readonly #socket: Duplex | undefined;
  /** Process id of the inner guardian, once received. */
  #inner: number | undefined;
  /** The command's standard streams, until they are open. */
  #unopened: Streams | undefined;
  /** Frames that wait for the streams: the guardian closes its ends when it has started the command. */
  #unsent: Buffer[] = [];
  /** Why the streams cannot be opened. */
  #failure: SignalboxError | undefined;

  /** @throws SignalboxError when the system refuses the command's environment */
  constructor(binary: string, spec: CommandSpec, ports: GuardianPorts, onFrame: (frame: Frame) => void) {
    this.#child = startGuardian(binary, spec);
    this.pid = this.#child.pid;
    this.#socket = findSocket(this.#child);
    this.#unopened = spec.streams;
    // What the guardian itself has to say. The command gets its own streams later.
    this.#child.stderr?.on("data", (chunk: Buffer) => spec.streams?.onOutput(chunk, 2));
    this.#child.once("close", () => this.#endUnopened());
    if (spec.copies !== undefined) attachCopies(listCopySockets(this.#child), spec.copies);
    this.#receiveFrames((frame) => {
      if (frame.kind === GUARDIAN_EVENT.report) ports.report(frame.block.toString());
      else onFrame(frame);
    });
    this.ended = this.#waitForBoth(waitForExit(this.#child, binary), ports.clock).then((end) => {
      if (end.failure !== undefined) this.#endUnopened();
      return this.#failure === undefined ? end : { ...end, failure: this.#failure };
    });
  }

  /** The inner guardian lives as long as the socket is open. */
  setInnerPid(inner: number) {
    this.#inner = inner;
    if (this.#unopened !== undefined) this.#openStreams(inner, this.#unopened);
  }

  wake() {
    this.#signal("SIGCONT");
  }

  kill() {
    this.#signal("SIGKILL");
  }

  send(frames: Buffer) {
    if (this.#unopened !== undefined) this.#unsent.push(frames);
    else if (this.#socket?.writable) this.#socket.write(frames);
  }

  close() {
    this.#socket?.destroy();
  }

  #endUnopened(): void {
    this.#unopened?.onEnd();
    this.#unopened = undefined;
  }

  #openStreams(inner: number, streams: Streams): void {
    try {
      attachStreams(inner, streams);
      this.#unopened = undefined;
      for (const frames of this.#unsent.splice(0)) this.send(frames);
    } catch (cause) {
      const message = `cannot open the standard streams of the command in /proc: ${getErrorMessage(cause)}`;
      this.#failure = new SignalboxError(EXIT.config, message, { cause });
      this.close();
    }
  }

  #signal(name: "SIGCONT" | "SIGKILL"): void {
    if (this.#inner !== undefined && this.#socket?.closed === false) sendSignal(this.#inner, name);
    this.#child.kill(name);
  }

  #receiveFrames(onFrame: (frame: Frame) => void): void {
    const reader = new FrameReader();
    this.#socket?.on("data", (chunk: Buffer) => {
      for (const frame of reader.consume(chunk)) onFrame(frame);
    });
    this.#socket?.on("error", () => {}); // broken pipe: the close event follows and is handled
  }

  /** Waits for the end of both guardians. When one has ended, the other one finishes its work and ends too. */
  async #waitForBoth(exited: Promise<GuardianExit>, clock: Clock): Promise<GuardianExit> {
    const silent = new Promise<undefined>((resolve) => {
      this.#socket?.once("close", () => resolve(undefined));
    });
    const first = await Promise.race([exited, silent]);
    if (first?.failure !== undefined) return first;
    this.wake(); // nothing else wakes the other one
    const over = new AbortController();
    const [end] = await Promise.all([Promise.race([exited, this.#endHeld(clock, over.signal)]), silent]);
    over.abort(NO_LONGER_NEEDED);
    return end;
  }

  /**
   * Kills the guardian that is left if two looks in a row find it stopped: a debugger holds it.
   * @returns when two looks find the outer guardian dead, which a debugger can keep this process from learning
   */
  async #endHeld(clock: Clock, signal: AbortSignal): Promise<GuardianExit> {
    for (let before: ProcessStatus | undefined; ; ) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      const isOuter = this.#socket?.closed === true;
      const pid = isOuter ? this.pid : this.#inner;
      const status = pid === undefined ? undefined : readProcess(pid);
      if (isOuter && status?.isDead && before?.isDead) return { code: undefined };
      if (status?.isStopped) this.#signal(before?.isStopped ? "SIGKILL" : "SIGCONT");
      before = status;
    }
  }
}

/**
 * Starts the guardian in its own session, so that signals of a terminal or a dying shell to the runner's group do not
 * reach it. A command in the foreground needs the terminal of the session; the guardian blocks those signals in any case.
 */
function startGuardian(binary: string, spec: CommandSpec): ChildProcess {
  const isPiped = spec.streams !== undefined;
  const own: IOType = isPiped ? "ignore" : "inherit";
  const { inherited = parseInherited(), isForeground = false, outputs = [own, own], user } = spec;
  try {
    const { limits } = parseInherited(process.env[INHERITED_VARIABLE]);
    const words = [
      ...(spec.copies === undefined ? [] : [COPIES_WORD]),
      ...limits,
      ...inherited.words,
      ...(isForeground ? [FOREGROUND_WORD] : []),
      ...(isPiped ? [PIPES_WORD] : []),
      ...(user === undefined ? [] : [USER_WORD + [user.uid, user.gid, ...user.groups].join(":")]),
    ];
    return spawn(binary, words, {
      argv0: GUARDIAN_NAME,
      detached: !isForeground,
      env: spec.env,
      stdio: [
        own,
        outputs[0],
        isPiped ? "pipe" : outputs[1],
        "pipe",
        ...(spec.copies === undefined ? [] : COPY_SOCKETS),
        ...inherited.descriptors,
      ],
    });
  } catch (cause) {
    const message = `cannot start "${spec.file}" with this environment: ${getErrorMessage(cause)}`;
    throw new SignalboxError(EXIT.notExecutable, message, { cause });
  }
}

/**
 * Opens the streams and connects them. Both outputs end when the last process that could write has ended.
 * @throws the error of the system
 */
function attachStreams(inner: number, streams: Streams): void {
  const opened: Socket[] = [];
  const open = (descriptor: 0 | 1 | 2) => {
    const isInput = descriptor === 0;
    const mode = (isInput ? constants.O_WRONLY : constants.O_RDONLY) | constants.O_NONBLOCK;
    const fd = openSync(`/proc/${inner}/fd/${descriptor}`, mode);
    const stream = new Socket({ fd, readable: !isInput, writable: isInput });
    opened.push(stream);
    return stream;
  };
  try {
    const [stdin, stdout, stderr] = [open(0), open(1), open(2)];
    stdin.on("error", () => {}); // the command did not read all of its input
    stdin.end(streams.input);
    stdout.on("data", (chunk: Buffer) => streams.onOutput(chunk, 1));
    stderr.on("data", (chunk: Buffer) => streams.onOutput(chunk, 2));
    callAtEnd([stdout, stderr], () => streams.onEnd());
  } catch (error) {
    for (const stream of opened) stream.destroy();
    throw error;
  }
}

function listCopySockets(child: ChildProcess): Duplex[] {
  const stdio: readonly unknown[] = child.stdio ?? [];
  return stdio.slice(4, 4 + COPY_SOCKETS.length).filter((stream) => stream instanceof Duplex);
}

/**
 * Returns the socket. Node's types do not declare that descriptor 3 is a socket, nor that all are missing when none was
 * left to start with.
 */
function findSocket(child: ChildProcess): Duplex | undefined {
  const stdio: readonly unknown[] | undefined = child.stdio;
  return stdio?.[3] instanceof Duplex ? stdio[3] : undefined;
}

function waitForExit(child: ChildProcess, binary: string): Promise<GuardianExit> {
  return new Promise((resolve) => {
    child.once("exit", (code) => resolve({ code: code ?? undefined }));
    child.on("error", (cause) => {
      if (child.pid !== undefined) return; // a signal could not be sent
      const why = explainUnstartable(binary) ?? getErrorMessage(cause);
      const message = `cannot start the guardian ${binary}: ${why}; no command is run without it`;
      resolve({ code: undefined, failure: new SignalboxError(EXIT.config, message, { cause }) });
    });
  });
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has just ended
  }
}

/** How the outer guardian ended: its exit code, or undefined when a signal ended it or it never started. */
export interface GuardianExit {
  code: number | undefined;
  /** Why it never started. */
  failure?: SignalboxError;
}

/** The two guardians of a command and the connection to them. */
export interface Guardian {
  /** Process id of the outer guardian, also its session id; undefined when it was not started, or is not known. */
  readonly pid: number | undefined;
  /** The only user whose processes may be killed for this command. Undefined: any that this process may kill. */
  readonly owner?: number | undefined;
  /** Resolves when both guardians have ended, and what they sent before has been delivered. Never rejects. */
  readonly ended: Promise<GuardianExit>;
  /** Sets the process id of the inner guardian. */
  setInnerPid(inner: number): void;
  /**
   * Wakes stopped guardians: a stopped guardian enforces no deadline.
   * @param isRoutine  not urgent: the deadlines have just been extended
   */
  wake(isRoutine?: boolean): void;
  /** Kills both guardians. Use it for stopped or frozen ones, which cannot receive frames. */
  kill(): void;
  /** Sends frames. Does nothing when the guardian has ended; `ended` reports that. */
  send(frames: Buffer): void;
  /** Ends a guardian that does not communicate, and at once everything that it guards. */
  close(): void;
}
