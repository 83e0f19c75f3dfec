/**
 * The command port: a command that cannot outlive its deadlines, whatever happens to this process.
 * The real one is a small native guardian (guardian.c); the simulation has a model of it.
 */
export interface CommandHost {
  /**
   * Starts the guardian, not the command. Cheap, so that it can be done while etcd answers.
   * From here on the command dies when this process does.
   */
  prepare(spec: CommandSpec): Promise<GuardedCommand>;
}

export interface CommandSpec {
  file: string;
  args: string[];
  /** The command's whole environment. */
  env: Record<string, string | undefined>;
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
   * Starts the command. Resolves with its process id once it runs.
   * @throws SignalboxError 127 when it was not found, 126 when it cannot be executed, 125 when a deadline had passed
   */
  start(env: Record<string, string>): Promise<number>;
  /** Forwards a signal to the command (TERM, INT, HUP, QUIT: to its process group; others: to its first process). */
  signal(name: NodeJS.Signals): void;
  /** SIGTERM to everything of the command now, SIGKILL at `killAt` (or at the armed deadline, if that is earlier). */
  terminate(killAt: number): void;
  /** The first process ended; descendants may live on. Rejects never. */
  readonly exited: Promise<CommandExit>;
  /** Nothing of the command is left. Rejects never; with a process that cannot be killed it stays pending. */
  readonly gone: Promise<void>;
  /** After `exited`: lets what the command left behind live on, and ends the guardian. Resolves when that is done. */
  release(): Promise<void>;
}

export type CommandExit = {
  /** 0–255, or undefined when a signal ended it. */
  code: number | undefined;
  signal: number | undefined;
  /** Whether descendants were alive when the first process ended. */
  leftovers: boolean;
};
