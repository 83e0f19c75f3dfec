import { basename, isAbsolute } from "node:path";
import type { Span } from "../../base/trace.ts";
import type { CommandExit } from "./command.ts";

/** A command that has ended, as spans describe it. */
interface EndedCommand {
  file: string;
  /** Undefined if they are not to be recorded: they can hold secrets. */
  args?: readonly string[] | undefined;
  /** Undefined if another process has started it. */
  pid: number | undefined;
  exit: CommandExit;
  /** Why it was ended from outside. */
  ending?: string | undefined;
}

/** Describes a command with OpenTelemetry's attributes for the call of a program. */
export function describeCommand({
  file,
  args,
  pid,
  exit,
  ending,
}: EndedCommand): Pick<Span, "name" | "kind" | "attributes" | "error"> {
  const { code, signal } = exit;
  const failure = signal !== undefined ? `signal ${signal}` : code === 0 ? undefined : `exit code ${code}`;
  return {
    name: basename(file),
    kind: "client",
    attributes: {
      "process.executable.name": basename(file),
      "process.executable.path": isAbsolute(file) ? file : undefined,
      "process.command_args": args && [file, ...args],
      "process.pid": pid,
      "process.exit.code": code,
    },
    error: ending ?? failure,
  };
}
