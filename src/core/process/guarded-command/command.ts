import { constants } from "node:os";
import type { MonotonicTime } from "../../base/clock.ts";
import type { ContainerRun } from "../../base/container.ts";

/**
 * The command port: runs a command that cannot outlive its deadlines, whatever happens to this process. The real
 * implementation is a small native guardian (guardian/main.c); the simulation has a model of it.
 */
export interface CommandHost {
  /**
   * Starts the guardian, but not the command. Cheap enough to run while etcd answers. From here on the command dies
   * when this process dies. The guardian keeps the event loop alive until it ends.
   * @throws SignalboxError 78 when there is no working guardian; 126 when an argument is invalid or the environment is
   * too long
   */
  prepare(spec: CommandSpec): Promise<GuardedCommand>;
}

export interface CommandSpec {
  file: string;
  args: string[];
  /** The complete environment of the command. Ignored for a launched call, which uses that of its launcher. */
  env: Record<string, string | undefined>;
  /** Whose process it is; only from a process of root. Default: this process's user. Not for a launched call. */
  user?: CommandUser;
  /** For a launched call: the variables of the launcher's environment that the command does not get. */
  removed?: readonly string[];
  /** What the caller of this process passes on to the command. Ignored for a launched call. */
  inherited?: Inherited;
  /** Runs it in the session and the process group of this process, whose terminal it may use. Not for a launched call. */
  isForeground?: boolean;
  /** It runs a container. */
  container?: ContainerRun;
  /** Default: the standard streams of this process. */
  streams?: Streams;
  /** Descriptors that replace the standard output and error of this process. Not for a launched call. */
  outputs?: readonly [stdout: number, stderr: number];
  /** Only for the standard streams of this process. */
  copies?: OutputCopies;
}

/** The ids of a user, as numbers of the system. */
export interface CommandUser {
  uid: number;
  gid: number;
  /** Supplementary groups. */
  groups: readonly number[];
}

/**
 * Copies of the output, which passes through unchanged. If the receiver does not keep up, bytes are left out of the copies,
 * never out of the output. If both outputs are the same file, all of it is copied as standard output.
 */
export interface OutputCopies {
  /** @param lost  bytes before the chunk that were left out */
  onCopy(chunk: Buffer, descriptor: 1 | 2, lost: number): void;
  /** Receives a function to call after the end of the command: copies end when the output written so far has passed. */
  onOpen(finish: () => void): void;
  /**
   * Called when all output has passed, or when the receiver has called `finish` and the output written so far has
   * passed.
   */
  onEnd(): void;
}

/** The command's standard streams when they are not those of this process. */
export interface Streams {
  /** Content of standard input, which then ends. A command may ignore it. */
  input: string;
  /** Receives output to standard output (1) or error (2) as it arrives. */
  onOutput(chunk: Buffer, descriptor: 1 | 2): void;
  /** Called when no process can write any longer and all output has been delivered. */
  onEnd(): void;
}

export interface Deadlines {
  /** All processes of the command get SIGTERM at this instant. */
  termAt: MonotonicTime;
  /** All processes of the command get SIGKILL at this instant: the horizon. */
  killAt: MonotonicTime;
}

export interface GuardedCommand {
  /**
   * Sets or moves the deadlines. A guardian without deadlines starts nothing. Later calls replace earlier ones, but
   * never undo a termination that has begun.
   */
  arm(deadlines: Deadlines): void;
  /**
   * Starts the command with the spec's environment and `env`, which takes precedence. Resolves with its process id once
   * it runs. SIGNALBOX_RUN in `env` identifies the command's processes if both guardians are killed. After a failure
   * `exited` never settles; the guardian still needs a `release()`.
   * @throws SignalboxError 127 when the file was not found; 126 when it cannot be executed or its arguments are too
   * long; 125 when a deadline had passed or the guardian was killed; 70 when no deadline was armed
   */
  start(env: Record<string, string>): Promise<number>;
  /** Forwards a signal to the command. TERM, INT, HUP and QUIT go to its process group, others to its first process. */
  signal(name: NodeJS.Signals): void;
  /** Sends SIGTERM to all processes of the command now, and SIGKILL at `killAt` or at an earlier armed deadline. */
  terminate(killAt: MonotonicTime): void;
  /** Resolves when the first process has ended; descendants may still run. Never rejects. */
  readonly exited: Promise<CommandExit>;
  /**
   * Resolves when no process of the command is left, including those that left its process tree. Never rejects. Stays
   * pending while a process cannot be killed, and after a release that left processes running.
   */
  readonly gone: Promise<void>;
  /**
   * Ends the guardian and leaves remaining processes of the command running. Waits for `exited`, but does not wait for a
   * command that was never started. Once a termination has begun, no process is left running: the call waits until the
   * termination is complete.
   */
  release(): Promise<void>;
}

export type CommandExit = {
  /** 0–255, or undefined when a signal ended the command. */
  code: number | undefined;
  signal: number | undefined;
  /** Whether the guardian had begun to terminate the command, on request or at a deadline. */
  terminated: boolean;
  /** Why it was terminated, if not on request or at a deadline. */
  why?: string;
  /** Whether descendants were alive when the first process ended. */
  leftovers: boolean;
};

/** The variable in which the launcher describes what its caller passes on to the command (guardian/inherited.h). */
export const INHERITED_VARIABLE = "SIGNALBOX_INHERITED";

/** What a command gets from the caller, besides the standard streams. */
interface Inherited {
  /** The words of the launcher for descriptors, streams and ignored signals, which the guardian reads too. */
  words: readonly string[];
  /** Its words for limits that this process has changed. */
  limits: readonly string[];
  /** Descriptors above 2, in the order of the words. */
  descriptors: readonly number[];
  ignored: readonly NodeJS.Signals[];
}

/**
 * Parses a description. Ignores unknown words, which a later launcher may write, and a text that was written for another
 * process, from which this one has inherited the variable.
 */
export function parseInherited(text = "", pid = process.pid): Inherited {
  const all = text.split(" ");
  const own = all.includes(`pid=${pid}`) ? all : [];
  const words = own.filter((word) => /^((fd|ignore)=[1-9]\d{0,8}|nonblock=[0-2])$/.test(word));
  const listNumbers = (kind: string) =>
    words.flatMap((word) => (word.startsWith(kind) ? [Number(word.slice(kind.length))] : []));
  const numbers = new Set(listNumbers("ignore="));
  const ignored = Object.entries(constants.signals).filter(([, number]) => numbers.has(number));
  return {
    words,
    limits: own.filter((word) => /^(nofile|core)=\d{1,20}$/.test(word)),
    descriptors: listNumbers("fd="),
    ignored: ignored.map(([name]) => name as NodeJS.Signals),
  };
}
