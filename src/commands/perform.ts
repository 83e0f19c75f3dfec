import { EXIT, SignalboxError } from "../base/errors.ts";
import { clean } from "../base/text.ts";
import { StoreError } from "../etcd/store.ts";
import { parseCall } from "./parse.ts";
import type { Call, Command, Surroundings } from "./spec.ts";

/** What a command is run with beside its words. */
export interface Performance {
  /** Settings of whoever runs it, such as where etcd is; those in its own words win. */
  settings?: Call["settings"];
}

/** Runs one command. @param argv  what stands after its name @returns the exit code; never throws */
export async function perform(
  spec: Command,
  argv: readonly string[],
  world: Surroundings,
  { settings }: Performance = {},
): Promise<number> {
  let call: Call | undefined;
  try {
    call = parseCall(spec, argv);
    if (call.flags.help) {
      const { commandHelp, helpColumns } = await import("./help.ts");
      world.out(commandHelp(spec, helpColumns(world.terminal)));
      return EXIT.ok;
    }
    const { execute } = await loaded(spec);
    return await execute(settings ? { ...call, settings: { ...settings, ...call.settings } } : call, world);
  } catch (error) {
    return fail(error, world, call?.verbosity ?? 0);
  }
}

function loaded({ id, load }: Command): ReturnType<NonNullable<Command["load"]>> {
  if (load === undefined)
    throw new SignalboxError(EXIT.internal, `${id} is a program of its own: signalbox ${id}`);
  return load();
}

/** Says what went wrong, unless told to be quiet; with `-v`, what caused it too. @returns the exit code */
export function fail(error: unknown, world: Surroundings, verbosity: number): number {
  const { exitCode, message } = explained(error);
  if (verbosity >= 0) world.err(`signalbox: ${clean(message)}\n`);
  if (verbosity > 1) world.err(`${clean(String((error as Error)?.stack ?? error))}\n`);
  return exitCode;
}

/** What went wrong, for people. */
export function explained(error: unknown): { exitCode: number; message: string } {
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
