import { EXIT, SignalboxError } from "../base/errors.ts";
import { clean } from "../base/text.ts";
import { parseCall } from "../commands/parse.ts";
import type { Call, Command, Surroundings } from "../commands/spec.ts";
import { StoreError } from "../etcd/store.ts";
import { checkBytes } from "./bytes.ts";

/** Runs one command. @returns the exit code; never throws */
export async function runCommand(
  spec: Command,
  argv: readonly string[],
  world: Surroundings,
): Promise<number> {
  let call: Call | undefined;
  try {
    checkBytes(argv);
    call = parseCall(spec, argv);
    if (call.flags.help) {
      const { commandHelp, helpColumns } = await import("../commands/help.ts");
      world.out(commandHelp(spec, helpColumns(world.terminal)));
      return EXIT.ok;
    }
    const { execute } = await spec.load();
    return await execute(call, world);
  } catch (error) {
    return fail(error, world, call?.verbosity ?? 0);
  }
}

/** Says what went wrong, unless told to be quiet; with `-v`, what caused it too. @returns the exit code */
export function fail(error: unknown, world: Surroundings, verbosity: number): number {
  const { exitCode, message } = explained(error);
  if (verbosity >= 0) world.err(`signalbox: ${clean(message)}\n`);
  if (verbosity > 1) world.err(`${clean(String((error as Error)?.stack ?? error))}\n`);
  return exitCode;
}

function explained(error: unknown): { exitCode: number; message: string } {
  if (error instanceof SignalboxError) return error;
  if (!(error instanceof StoreError)) {
    return {
      exitCode: EXIT.internal,
      message: `this is a defect of signalbox: ${String(error)} (-vv says where)`,
    };
  }
  const { kind, message } = error;
  switch (kind) {
    case "unavailable":
      return {
        exitCode: EXIT.unreachable,
        message: `etcd cannot be reached, nothing was started: ${message}`,
      };
    case "unauthenticated":
      return { exitCode: EXIT.permission, message: `etcd refused the credentials: ${message}` };
    case "permission":
      return { exitCode: EXIT.permission, message: `etcd refused the permission: ${message}` };
    case "noSpace":
      return {
        exitCode: EXIT.unreachable,
        message: `etcd has no space left and accepts no writes: ${message}`,
      };
    default:
      return { exitCode: EXIT.internal, message: `etcd refused a call (${kind}): ${message}` };
  }
}
