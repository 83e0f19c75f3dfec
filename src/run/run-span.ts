import { basename } from "node:path";
import { createRunTrace, type RunSpan, type Span } from "../base/trace.ts";
import type { CommandOutcome } from "./command-supervisor.ts";
import type { RunRequest } from "./request.ts";
import type { Grant } from "./step.ts";

/** The end of a run: a `RunResult`, or the kind of the error because of which the command was not run. */
interface RunEnd extends Partial<CommandOutcome> {
  code: number;
  refusal?: { kind: string };
  grant?: Grant;
  error?: string;
}

/**
 * Builds the span of a run. Its parts are the claim, with the wait, and the hold, with the command.
 * @param times  start and end of the run, wall clock, ms since the epoch. `run`: its id, if it was not granted
 */
export function buildRunSpan(
  request: RunRequest,
  end: RunEnd,
  times: { run: string; begunAt: number; endedAt: number },
): RunSpan {
  const { caller, locks, leases } = request;
  const { endedAt } = times;
  const { grantedAt = endedAt, entries, attempt } = end.grant ?? {};
  const { run, enqueuedAt } = attempt ?? { run: times.run, enqueuedAt: times.begunAt };
  const startedAt = Math.min(times.begunAt, enqueuedAt); // another process may have begun it
  const wait = { name: "wait", startedAt: enqueuedAt, endedAt: grantedAt };
  const claim = { name: "claim", startedAt, endedAt: grantedAt, parts: attempt ? [wait] : [] };
  const command = describeCommand(request, end);
  const hold = { name: "hold", startedAt: grantedAt, endedAt, parts: command ? [command] : [] };
  const span = {
    name: "run",
    startedAt,
    endedAt,
    attributes: {
      "signalbox.locks": [...locks],
      "signalbox.leases": leases.map(({ resource, count }) => `${resource}=${count}`),
      "signalbox.run": run,
      "signalbox.token": entries && String(entries[0]?.createRevision),
      "signalbox.refusal": end.refusal?.kind,
      "process.exit.code": end.code,
    },
    error: end.error ?? command?.error,
    parts: attempt ? [claim, hold] : [claim],
  };
  return { context: createRunTrace(run, caller), caller, span };
}

/** Describes the command with OpenTelemetry's attributes for the call of a program. */
function describeCommand(
  { command: { file }, identity: { args } }: RunRequest,
  end: RunEnd,
): Span | undefined {
  const { exit, pid, ending, startedAt, exitedAt } = end;
  if (exit === undefined || startedAt === undefined || exitedAt === undefined) return undefined;
  const { code, signal } = exit;
  const failure = code === undefined ? `signal ${signal}` : code === 0 ? undefined : String(code);
  const name = basename(file);
  return {
    name,
    part: "command",
    kind: "CLIENT",
    startedAt,
    endedAt: exitedAt,
    attributes: {
      "process.executable.name": name,
      "process.command_args": args && [file, ...args],
      "process.pid": pid,
      "process.exit.code": code,
    },
    error: ending === undefined || ending.kind === "signal" ? failure : ending.kind,
  };
}
