import type { Snapshot } from "../model/snapshot/snapshot.ts";
import type { Operator } from "../work/operate/ports.ts";
import { type CommandConnection, openConnection } from "./connect.ts";
import { getOperator } from "./operator.ts";
import type { Call, CommandExecutor, CommandIo } from "./spec.ts";

/** The context of an operator's command. */
export interface CommandContext extends CommandConnection {
  operator: Operator;
  /**
   * The snapshot that the caller shows and keeps up to date. A preview uses it, because the user decides on what it
   * shows.
   */
  knownSnapshot?: Snapshot | undefined;
  /** Aborted with an `InterruptedError` when the user ends the command. */
  signal: AbortSignal;
}

/** The user ended the command with Ctrl+C, or with one of the other signals in `ENDING_SIGNALS`. */
export class InterruptedError extends Error {
  /** 128 plus the number of the signal, as in shells. */
  readonly exitCode: number;

  constructor(name: NodeJS.Signals) {
    super(`ended by ${name}`);
    this.name = "Interrupted";
    this.exitCode = 128 + (ENDING_SIGNALS[name] ?? 15);
  }
}

const ENDING_SIGNALS: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGTERM: 15,
};

/**
 * Creates a command that needs etcd: connects, runs `work` and closes the connection. An interrupted command prints no
 * error.
 */
export function createStoreCommand(
  work: (call: Call, io: CommandIo, context: CommandContext) => Promise<number>,
): CommandExecutor {
  return async (call, io) => {
    const stop = new AbortController();
    const stopListening = io.onSignal((name) => {
      if (ENDING_SIGNALS[name] !== undefined) stop.abort(new InterruptedError(name));
    });
    const connection = await openConnection(call, io);
    const operator = getOperator(io, connection.facts.fqdn);
    try {
      const known = call.flags["dry-run"] ? io.getSnapshot?.() : undefined;
      return await work(call, io, { ...connection, operator, knownSnapshot: known, signal: stop.signal });
    } catch (error) {
      if (error instanceof InterruptedError) return error.exitCode;
      throw error;
    } finally {
      stopListening();
      connection.store.close();
    }
  };
}
