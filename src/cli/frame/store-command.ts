import { constants } from "node:os";
import { EXIT } from "../../core/base/errors.ts";
import { readUserName } from "../../core/process/host.ts";
import type { Operator } from "../../site/operate/operator-action.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import type { Call, CommandExecutor, CommandIo } from "./command.ts";
import type { ActionFlags } from "./command-line/flags.ts";
import { type CommandConnection, type FrontEndOptions, openConnection } from "./connect.ts";

/**
 * What a command that needs etcd receives: its command line, its input and output, and the ports. @typeParam F  its
 * flags
 */
export interface CommandContext<F = object> extends CommandConnection, Omit<Call<F>, "settings"> {
  io: CommandIo;
  operator: Operator;
  /**
   * The snapshot that the caller shows and keeps up to date. A preview uses it, because the user decides on what it
   * shows.
   */
  knownSnapshot?: Snapshot | undefined;
  /** Everything in etcd, if the caller follows it: reads take it from there. Without, etcd is read. */
  followedSnapshot?: Snapshot;
  /** Aborted with an `InterruptedError` when the user ends the command. */
  signal: AbortSignal;
  /** Prints one line for the user on standard error, unless the call is quiet. */
  printMessage(line: string): void;
}

export type ActionContext = CommandContext<ActionFlags>;

/** The user ended the command with Ctrl+C, or with one of the other signals in `ENDING_SIGNALS`. */
export class InterruptedError extends Error {
  /** 128 plus the number of the signal, as in shells. */
  readonly exitCode: number;

  constructor(name: NodeJS.Signals) {
    super(`ended by ${name}`);
    this.name = "Interrupted";
    this.exitCode = 128 + constants.signals[name];
  }
}

const ENDING_SIGNALS: readonly NodeJS.Signals[] = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"];

/**
 * Connects, runs `work` and closes the connection.
 * @throws InterruptedError if the user ends the command; as `openConnection` and `work`
 */
export async function withCommandContext<F extends object, T>(
  call: Call<F>,
  io: CommandIo,
  work: (context: CommandContext<F>) => Promise<T>,
  frontEnd?: FrontEndOptions,
): Promise<T> {
  const stop = new AbortController();
  const stopListening = io.onSignal((name) => {
    if (ENDING_SIGNALS.includes(name)) stop.abort(new InterruptedError(name));
  });
  const connection = await openConnection(call, io, { tellsSilence: true, ...frontEnd });
  const operator = getOperator(io, connection.facts.fqdn);
  const knownSnapshot = "dry-run" in call.flags ? io.getSnapshot?.() : undefined;
  const printMessage = createMessagePrinter(call, io);
  const { signal } = stop;
  try {
    return await work({ ...call, ...connection, io, operator, knownSnapshot, signal, printMessage });
  } finally {
    stopListening();
    connection.store.close();
  }
}

/** Does the work of a command. @returns the exit code; undefined for 0 */
export type StoreWork<F> = (context: CommandContext<F>) => Promise<number | undefined>;

/** Creates a command that needs etcd. An interrupted command prints no error. */
export function createStoreCommand<F extends object>(
  work: StoreWork<F>,
  frontEnd?: FrontEndOptions,
): CommandExecutor<F> {
  return async (call, io) => {
    try {
      return (await withCommandContext(call, io, work, frontEnd)) ?? EXIT.ok;
    } catch (error) {
      if (error instanceof InterruptedError) return error.exitCode;
      throw error;
    }
  };
}

/** Returns the user who runs the command. @param host  full name of this host */
function getOperator({ env }: CommandIo, host: string): Operator {
  const { SUDO_USER: sudoUser = "" } = env;
  return { user: readUserName(), host, ...(sudoUser !== "" && { sudoUser }) };
}

/** Creates a function that prints one line for the user on standard error, unless the call is quiet. */
export function createMessagePrinter(
  { verbosity }: Pick<Call, "verbosity">,
  io: Pick<CommandIo, "writeMessage">,
): (line: string) => void {
  return (line) => {
    if (verbosity >= 0) io.writeMessage(line);
  };
}
