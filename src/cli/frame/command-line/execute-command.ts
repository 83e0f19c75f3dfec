import { EXIT, SignalboxError } from "../../../core/base/errors.ts";
import { clean } from "../../../core/base/text.ts";
import { StoreError } from "../../../core/etcd/store.ts";
import type { Call, Command, CommandExecutor, CommandImplementation, CommandIo } from "../command.ts";
import type { ActionOutcome } from "../outcome.ts";
import { InterruptedError } from "../store-command.ts";
import { parseCall } from "./parse-call.ts";

/**
 * Runs one command. Never throws.
 * @param argv  the words after its name
 * @returns the exit code
 */
export async function executeCommand(spec: Command, argv: readonly string[], io: CommandIo): Promise<number> {
  let call: Call | undefined;
  try {
    call = parseCall(spec, argv);
    if (call.flags.help) {
      const { renderCommandHelp, computeHelpWidth } = await import("./help.ts");
      io.writeOutput(renderCommandHelp(spec, computeHelpWidth(io.terminal)));
      return EXIT.ok;
    }
    const { execute } = await loadCommand(spec);
    return await execute(call, io);
  } catch (error) {
    return reportError(error, io, call?.verbosity ?? 0);
  }
}

/** Loads the implementation of a command. @throws SignalboxError if it is a program of its own */
export async function loadCommand({ id, load }: Command): Promise<CommandImplementation> {
  if (load === undefined)
    throw new SignalboxError(EXIT.internal, `${id} is a program of its own: signalbox ${id}`);
  // What is declared of flags is what parseCall makes of a command line.
  const loaded = (await load()) as CommandExecutor | CommandImplementation;
  return typeof loaded === "function" ? { execute: loaded } : loaded;
}

/** Prints the error unless `verbosity` is negative; with `-vv`, its stack too. @returns the exit code */
export function reportError(error: unknown, io: CommandIo, verbosity: number): number {
  const { exitCode, message } = explainError(error);
  if (verbosity >= 0) io.writeMessage(message);
  if (verbosity > 1) io.writeError(`${clean(String((error as Error)?.stack ?? error))}\n`);
  return exitCode;
}

/** Returns the exit code of an error, and its message for people. */
export function explainError(error: unknown): { exitCode: number; message: string } {
  if (error instanceof SignalboxError) return error;
  if (!(error instanceof StoreError)) {
    return {
      exitCode: EXIT.internal,
      message: `this is a defect of signalbox: ${String(error)} (-vv prints the stack)`,
    };
  }
  const { kind, message } = error;
  const [exitCode, fault] = STORE_FAULTS[kind] ?? [EXIT.internal, `etcd refused a call (${kind})`];
  return { exitCode, message: `${fault}: ${message}` };
}

const STORE_FAULTS: Partial<Record<StoreError["kind"], readonly [exitCode: number, fault: string]>> = {
  unavailable: [EXIT.unreachable, "cannot reach etcd"],
  otherCluster: [EXIT.config, "the setting endpoints is wrong"],
  notEtcd: [EXIT.config, "the setting endpoints is wrong"],
  unauthenticated: [EXIT.permission, "etcd refused the credentials"],
  permission: [EXIT.permission, "etcd refused the permission"],
  tooLarge: [EXIT.config, "this is larger than etcd accepts"],
  noSpace: [EXIT.unreachable, "etcd has no space left and accepts no writes"],
};

/** How a command ended. */
export interface CommandEnd {
  exitCode: number;
  /** What a command that acts has done, not printed. Undefined for other commands, and if it failed with a message. */
  outcome?: ActionOutcome;
}

/**
 * Runs one command, but does not print the outcome of a command that acts. Never throws.
 * @param argv      the words after its name
 * @param settings  settings of the caller, such as the endpoints of etcd; the command line takes precedence
 */
export async function performCommand(
  spec: Command,
  argv: readonly string[],
  io: CommandIo,
  settings: Call["settings"],
): Promise<CommandEnd> {
  try {
    const parsed = parseCall(spec, argv);
    const call = { ...parsed, settings: { ...settings, ...parsed.settings } };
    const { execute, perform } = await loadCommand(spec);
    if (perform === undefined) return { exitCode: await execute(call, io) };
    const outcome = await perform(call, io);
    return { exitCode: outcome.exitCode, outcome };
  } catch (error) {
    return { exitCode: error instanceof InterruptedError ? error.exitCode : reportError(error, io, 0) };
  }
}
