import { basename } from "node:path";
import type { WallTime } from "../base/clock.ts";
import { EXIT, SignalboxError } from "../base/errors.ts";
import {
  buildTraceVariables,
  createPartTrace,
  createRunTrace,
  type RunSpan,
  type Span,
} from "../base/trace.ts";
import { SessionLost } from "../etcd/session/session.ts";
import type { GuardedCommand } from "../process/guarded-command/command.ts";
import { claimWithRetries, reportRefusal, resumeGrant } from "./claim.ts";
import {
  type CommandOutcome,
  CommandSupervisor,
  computeExitCode,
  killCommand,
  RunInterruptedError,
  SignalRouter,
  toExit,
} from "./command-supervisor.ts";
import { finishClaim } from "./finish.ts";
import type { ResumedAttempt, RunPorts, RunRequest } from "./request.ts";
import type { ClaimRefusal, Grant } from "./step.ts";

/** The result of a run; `code` is the exit code of `signalbox run`. */
export type RunResult =
  | { kind: "refused"; code: number; refusal: ClaimRefusal }
  /** A signal arrived before the command started. */
  | { kind: "interrupted"; code: number }
  | ({ kind: "ended"; code: number; grant?: Grant } & CommandOutcome);

/**
 * `signalbox run`: claims, runs the command while the claim is held, frees the claim.
 * @throws SignalboxError or StoreError when the command was not run
 */
export async function run(ports: RunPorts, request: RunRequest): Promise<RunResult> {
  const signals = new SignalRouter(ports, request.logReopens ? ["SIGUSR2"] : []);
  const preparing = ports.commands.prepare(request.command);
  preparing.catch(() => {}); // reported where it is awaited
  try {
    const { resumed, isStarted, plannedRetry } = ports;
    if (resumed !== undefined && (isStarted || plannedRetry !== undefined))
      return await resumeHeld(ports, request, resumed, preparing, signals);
    const claimed = await claimWithRetries(ports, request, signals.signal);
    if (claimed.kind === "refused") {
      const { refusal } = claimed;
      return { kind: "refused", code: reportRefusal(ports, request, refusal), refusal };
    }
    return await runHeld({ ports, request, grant: claimed.grant, signals }, preparing);
  } catch (error) {
    if (error instanceof RunInterruptedError) return { kind: "interrupted", code: error.exitCode };
    throw error;
  } finally {
    signals.close();
    await preparing.then((command) => command.release()).catch(() => {});
  }
}

/** A claim that is held, to run its command. */
export interface HeldRun {
  ports: RunPorts;
  request: RunRequest;
  grant: Grant;
  signals: SignalRouter;
}

async function runHeld(held: HeldRun, preparing: Promise<GuardedCommand>): Promise<RunResult> {
  const { ports, request, grant } = held;
  try {
    if (!ports.isStarted && ports.plannedRetry === undefined) ports.onGrant?.(); // inside the try, so that an exception frees the claim
    const outcome = await runCommand(held, await preparing);
    return await finishRun(ports, request, grant, outcome);
  } catch (error) {
    const failure = toStartError(error);
    const known = failure instanceof SignalboxError || failure instanceof RunInterruptedError;
    const code = known ? failure.exitCode : EXIT.internal;
    const mayBeContinued = ports.attempts !== undefined;
    await finishClaim(grant, { exit: code, reason: failure.message, mayBeContinued });
    throw failure;
  }
}

/**
 * Runs the command while its claim is held, or continues to hold it. What retries is loaded if the request has retries.
 * @throws as `CommandSupervisor.run`
 */
async function runCommand(held: HeldRun, command: GuardedCommand): Promise<CommandOutcome> {
  const { ports, request, grant, signals } = held;
  const env = buildCommandEnv(request, grant);
  if (request.retryWaits === undefined) {
    const supervisor = new CommandSupervisor(ports, request, grant, command);
    return await (ports.isStarted ? supervisor.resume(signals) : supervisor.run(env, signals));
  }
  const { runAttempts } = await import("./retry.ts");
  return await runAttempts(held, command, env);
}

/** Continues a run whose command another process has started, and may retry. If its claim is gone, ends the command. */
async function resumeHeld(
  ports: RunPorts,
  request: RunRequest,
  resumed: ResumedAttempt,
  preparing: Promise<GuardedCommand>,
  signals: SignalRouter,
): Promise<RunResult> {
  const command = await preparing;
  const { grant, leave } = await resumeGrant(ports, request, resumed);
  if (grant === undefined) return await endUnclaimed(ports, command, leave);
  return await runHeld({ ports, request, grant, signals }, preparing);
}

/**
 * Ends a command whose claim is gone. Another run may hold it already. A command that had ended by itself was not
 * affected: the process that held its claim may have freed it, and ended before it could say so.
 */
async function endUnclaimed(
  ports: RunPorts,
  command: GuardedCommand,
  leave: () => Promise<void>,
): Promise<RunResult> {
  const { plannedRetry, isStarted } = ports;
  const exit = isStarted ? await killCommand(ports.clock, command) : toExit(plannedRetry?.code);
  await leave();
  const ending = exit.terminated || !isStarted ? UNCLAIMED_END : undefined;
  const code = computeExitCode({ exit, ending });
  logOutcome(ports, { exit, ending }, code);
  return { kind: "ended", code, exit, ending };
}

const UNCLAIMED_END = { kind: "lost", why: "its claim was gone, or could not be resumed" } as const;

async function finishRun(
  ports: RunPorts,
  request: RunRequest,
  grant: Grant,
  outcome: CommandOutcome,
): Promise<RunResult> {
  const code = computeExitCode(outcome, request.preservesStatus);
  const tail = ports.collectTail && (await ports.collectTail());
  const { ending } = outcome;
  await finishClaim(grant, { exit: code, reason: ending?.why, tail, keepsGrace: ending?.kind !== "lost" });
  logOutcome(ports, outcome, code);
  return { kind: "ended", code, grant, ...outcome };
}

function toStartError(error: unknown): Error {
  if (error instanceof SessionLost) {
    const message = `the session was lost before the command could be started: ${error.message}`;
    const code = error.kind === "horizon" ? EXIT.unreachable : EXIT.lost;
    return new SignalboxError(code, message, { cause: error });
  }
  return error instanceof Error ? error : new Error(String(error));
}

/** Builds the variables that describe the claim to the command, and its trace. None of them is a credential. */
function buildCommandEnv(request: RunRequest, { attempt, entries }: Grant): Record<string, string> {
  const leases = request.leases.map(({ resource, count }) => [resource, count]);
  return {
    SIGNALBOX_TOKEN: String(entries[0]?.createRevision),
    ...(attempt.lockKeys[0] !== undefined && { SIGNALBOX_LOCK_KEY: attempt.lockKeys[0] }),
    SIGNALBOX_RUN: attempt.run,
    SIGNALBOX_HOST: request.identity.host,
    SIGNALBOX_LEASES: JSON.stringify(Object.fromEntries(leases)),
    ...buildTraceVariables(createPartTrace(createRunTrace(attempt.run, request.caller), "command")),
  };
}

function logOutcome(ports: RunPorts, { ending }: CommandOutcome, code: number): void {
  if (ending?.kind === "lost")
    ports.log.error("the claim was lost, the command was terminated", { why: ending.why });
  else if (ending?.kind === "timeout") ports.log.error("the command was terminated", { why: ending.why });
  else ports.log.info("finished", { code });
}

/** The end of a run: a `RunResult`, or the kind of the error that kept the command from running. */
interface RunEnd extends Partial<CommandOutcome> {
  code: number;
  refusal?: { kind: string };
  grant?: Grant;
  error?: string;
}

/**
 * Builds the span of a run. Its parts are the claim, with the wait, and the hold, with the command.
 * @param times  start and end of the run. `run`: its id, if it was not granted
 */
export function buildRunSpan(
  request: RunRequest,
  end: RunEnd,
  times: { run: string; begunAt: WallTime; endedAt: WallTime },
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
  const name = basename(file).toWellFormed();
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
