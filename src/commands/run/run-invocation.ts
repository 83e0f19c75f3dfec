import type { RunPorts, RunRequest } from "../../run/request.ts";
import type { RunResult } from "../../run/run.ts";
import type { FrontEndOptions } from "../connect.ts";
import type { Call } from "../spec.ts";

export type { RunResult };
/** The reason why the command was not run. */
export type RunRefusal = Extract<RunResult, { kind: "refused" }>["refusal"];

/** A run of `signalbox run` or of a front end. */
export interface RunInvocation extends FrontEndOptions {
  /** Flags, settings and the command, as in a line of `signalbox run`. */
  call: Call;
  /** Options that no flag sets. */
  overrides?: Pick<RunRequest, "graceFrom" | "limitSignal" | "isKnownOnly">;
  /** Called when the claim is granted, before the command starts. */
  onGrant?(): void;
  /** Called before anything is claimed. If it returns a result, that is the result of the run. */
  checkFirst?(ports: RunPorts, request: RunRequest): Promise<RunResult | undefined>;
}

/** Creates a call from flags and a command, without settings and arguments. */
export function createCall(flags: Call["flags"], command: readonly string[]): Call {
  return { flags, settings: {}, args: [], command, verbosity: 0 };
}
