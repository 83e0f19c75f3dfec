/**
 * The command port: a command that cannot outlive its deadlines, whatever happens to this process.
 * The real one is a small native guardian (guardian/main.c); the simulation has a model of it.
 */
export interface CommandHost {
  /**
   * Starts the guardian, not the command. Cheap, so that it can be done while etcd answers.
   * From here on the command dies when this process does. Until the guardian is gone it keeps the event loop alive.
   * @throws SignalboxError 78 when there is no working guardian, 126 when the arguments are too long
   */
  prepare(spec: CommandSpec): Promise<GuardedCommand>;
}

export interface CommandSpec {
  file: string;
  args: string[];
  /** The command's whole environment. */
  env: Record<string, string | undefined>;
  /** Without it the command has this process's own standard streams. */
  streams?: Streams;
}

/** The ends of a command's standard streams, where they are not this process's own. */
export interface Streams {
  /** Its standard input, which then ends. A command that does not read it is no fault. */
  input: string;
  /** What it writes to standard output (1) or error (2), as it comes. */
  onOutput(chunk: Buffer, descriptor: 1 | 2): void;
  /** Nobody can write any more, and all has been handed out. */
  onEnd(): void;
}

/** Instants on the Clock's `now()`, in milliseconds. */
export interface Deadlines {
  /** SIGTERM goes to everything of the command at this instant. */
  termAt: number;
  /** SIGKILL follows at this one: the horizon. */
  killAt: number;
}

export interface GuardedCommand {
  /**
   * Sets or moves the deadlines. A guardian without deadlines starts nothing. Later calls replace earlier ones, and
   * never undo a termination that has begun.
   */
  arm(deadlines: Deadlines): void;
  /**
   * Starts the command, its environment being the spec's with `env` laid over it. Resolves with its process id once it runs.
   * SIGNALBOX_RUN among `env` marks what belongs to the command, should both guardians be killed.
   * After a failure `exited` never settles; the guardian still wants a `release()`.
   * @throws SignalboxError 127 when it was not found, 126 when it cannot be executed, 125 when a deadline had passed, 70
   * when none was armed or the guardian is gone
   */
  start(env: Record<string, string>): Promise<number>;
  /** Forwards a signal to the command (TERM, INT, HUP, QUIT: to its process group; others: to its first process). */
  signal(name: NodeJS.Signals): void;
  /** SIGTERM to everything of the command now, SIGKILL at `killAt` (or at the armed deadline, if that is earlier). */
  terminate(killAt: number): void;
  /** The first process ended; descendants may live on. Rejects never. */
  readonly exited: Promise<CommandExit>;
  /**
   * Nothing of the command is left. Rejects never; with a process that cannot be killed it stays pending, and so it does
   * after a release that let something live.
   */
  readonly gone: Promise<void>;
  /**
   * Ends the guardian, and lets what the command left behind live on. Waits for `exited`; a command that was never
   * started is given up at once. Once a termination has begun nothing is let live: it then waits for the end of that.
   */
  release(): Promise<void>;
}

export type CommandExit = {
  /** 0–255, or undefined when a signal ended it. */
  code: number | undefined;
  signal: number | undefined;
  /** Whether the guardian had begun to terminate it, on request or because a deadline had passed. */
  terminated: boolean;
  /** Whether descendants were alive when the first process ended. */
  leftovers: boolean;
};
