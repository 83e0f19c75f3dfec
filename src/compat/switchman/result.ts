import { EXIT, SignalboxError } from "../../base/errors.ts";
import { explainError } from "../../commands/explain-error.ts";
import type { RunRefusal, RunResult } from "../../commands/run/run-invocation.ts";
import type { SwitchmanCall } from "../../syntax/switchman-call.ts";
import { DIED } from "./codes.ts";
import type { SwitchmanLog } from "./log.ts";

/** Linux error numbers, the exit codes for a command that cannot be started. */
const ENOENT = 2;
const EACCES = 13;

/** Reports the result of a run in switchman's words. @returns its exit code */
export function reportSwitchmanResult(result: RunResult, call: SwitchmanCall, log: SwitchmanLog): number {
  switch (result.kind) {
    case "interrupted":
      return result.code;
    case "refused":
      return reportRefusal(result.refusal, call, log);
    case "ended": {
      // switchman reads no exit code from a child that was ended by a signal.
      const code = result.exit.code ?? EXIT.ok;
      if (code !== EXIT.ok) log.write("warning", `Child ${log.child} exited with ${code}`);
      return code;
    }
  }
}

function reportRefusal(
  refusal: RunRefusal,
  { lock, name, group, leases }: SwitchmanCall,
  log: SwitchmanLog,
): number {
  switch (refusal.kind) {
    case "busy":
      if (lock !== undefined) log.write("info", `Lock ${lock} already exists`);
      else log.write("debug", `Task <${name}> is already queued up for one of <${leases.join(" ")}>`);
      return EXIT.ok;
    case "outside":
      log.write("debug", `Group <${group ?? refusal.group}> is not serviced at the moment`);
      return EXIT.ok;
    case "drained":
      log.write("info", `Drained by ${refusal.drains.map(({ by }) => by).join(", ")}`);
      return EXIT.ok;
    case "timeout":
      log.write("critical", "Reached timeout while waiting for resources");
      return DIED;
    case "evicted":
    case "gone":
    case "lapsed":
      log.write("critical", "Lost position in queue");
      return DIED;
  }
}

/** Reports why a command could not be started. @returns the exit code */
export function reportSwitchmanFailure(
  error: unknown,
  { command }: SwitchmanCall,
  log: SwitchmanLog,
): number {
  const { exitCode, message } = explainError(error);
  const starts: number[] = [EXIT.notFound, EXIT.notExecutable];
  if (!(error instanceof SignalboxError) || !starts.includes(exitCode)) {
    log.write("critical", message);
    return DIED;
  }
  const code = exitCode === EXIT.notFound ? ENOENT : EACCES;
  log.write("critical", `Failed to exec <${command.join(" ")}>: ${message}`);
  return code;
}
