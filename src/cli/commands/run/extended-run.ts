import type { RunPorts, RunRequest } from "../../../core/run/request.ts";
import type { RunResult } from "../../../core/run/run.ts";
import type { Call, CommandIo } from "../../frame/command.ts";
import type { CommandConnection } from "../../frame/connect.ts";
import type { RunCapture } from "./capture.impl.ts";
import type { RunFlags } from "./run.ts";

/** What a run has opened besides its ports. */
export interface OpenedRun {
  connection: CommandConnection;
  capture: RunCapture | undefined;
}

const EXTENDING_FLAGS = ["retries", "jitter", "quiet-success", "ping", "on-failure", "on-success"] as const;

/** Whether the run has options that most runs do not have. Their work is loaded only for them. */
export function isExtendedRun(flags: RunFlags): boolean {
  return EXTENDING_FLAGS.some((flag) => flags[flag] !== undefined);
}

/** A run with options that most runs do not have. */
export interface ExtendedRun extends OpenedRun {
  call: Call<RunFlags>;
  ports: RunPorts;
  request: RunRequest;
  io: CommandIo;
  /** Starts the run itself. */
  start(): Promise<RunResult>;
}
