import type { RunPorts, StartedAttempt } from "../../work/run/request.ts";
import type { CommandConnection, FrontEndOptions } from "../connect.ts";
import type { Call, CommandIo } from "../spec.ts";

/** What an agent supplies to a run that a launcher has started. */
export interface LaunchedRun {
  /** The launcher, as it is shown to others. */
  readonly identity: { pid: number; user: string };
  /** Replaces `openConnection`. The store is that of the agent. @throws if the agent cannot serve this call */
  openConnection(call: Call, options: FrontEndOptions): Promise<CommandConnection>;
  /** The ports that differ from those of a run in a process of its own. */
  createPorts(): Pick<
    RunPorts,
    "commands" | "sessions" | "successors" | "attempts" | "resumed" | "isStarted" | "describeHost"
  >;
  /** Called for each attempt before it claims anything. */
  onAttempt(attempt: StartedAttempt): Promise<void>;
}

/** The input and output of a run that an agent serves. */
export interface LaunchedIo extends CommandIo {
  launched: LaunchedRun;
}

/** Returns what an agent supplies; undefined for a run in a process of its own. */
export function findLaunchedRun(io: CommandIo | LaunchedIo): LaunchedRun | undefined {
  return "launched" in io ? io.launched : undefined;
}
