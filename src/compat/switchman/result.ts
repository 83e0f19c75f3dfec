import { EXIT, SignalboxError } from "../../base/errors.ts";
import { explained } from "../../commands/perform.ts";
import type { Refusal, RunResult } from "../../commands/run/errand.ts";
import type { SwitchmanCall } from "../../fleet/switchman-words.ts";
import { DIED } from "./codes.ts";
import type { SwitchmanLog } from "./log.ts";

/** Error numbers of Linux, which a command that cannot be started ends with. */
const ENOENT = 2;
const EACCES = 13;

/** What a run came to, said in switchman's words. @returns its exit code */
export function resultCode(result: RunResult, call: SwitchmanCall, log: SwitchmanLog): number {
  switch (result.kind) {
    case "interrupted":
      return result.code;
    case "refused":
      return refusedCode(result.refusal, call, log);
    case "ended": {
      // Of a child that a signal ended, switchman sees no code.
      const code = result.exit.code ?? EXIT.ok;
      if (code !== EXIT.ok) log.write("warning", `Child ${log.child} exited with ${code}`);
      return code;
    }
  }
}

function refusedCode(
  refusal: Refusal,
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

/** What kept a command from being started. @returns the exit code */
export function failureCode(error: unknown, { command }: SwitchmanCall, log: SwitchmanLog): number {
  const { exitCode, message } = explained(error);
  const starts: number[] = [EXIT.notFound, EXIT.notExecutable];
  if (!(error instanceof SignalboxError) || !starts.includes(exitCode)) {
    log.write("critical", message);
    return DIED;
  }
  const code = exitCode === EXIT.notFound ? ENOENT : EACCES;
  log.write("critical", `Failed to exec <${command.join(" ")}>: ${message}`);
  return code;
}
