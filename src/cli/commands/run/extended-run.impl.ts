import { formatDuration, type Millis } from "../../../core/base/clock.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { type RunInterruptedError, SignalRouter } from "../../../core/run/command-supervisor.ts";
import type { RunPorts, RunRequest } from "../../../core/run/request.ts";
import type { RunResult } from "../../../core/run/run.ts";
import { computeBackoff } from "../../../schedule/backoff.ts";
import { SCHEDULE_DEFAULTS } from "../../../schedule/definition-values.ts";
import { computeJitter } from "../../../schedule/hash.ts";
import { findLaunchedRun } from "../../frame/call-note.ts";
import type { ExtendedRun } from "./extended-run.ts";
import type { RunFlags } from "./run.ts";
import { SpooledOutput } from "./spooled-output.ts";

/** How long to wait for the end of the output, ms. The claim is free by then. */
export const LAST_OUTPUT_MS = 2_000;

/**
 * Executes a run with `--retries`, `--jitter`, `--quiet-success`, `--ping` or hooks. What comes after the command is done when
 * its claim is free.
 * @throws as `run`; UsageError
 */
export async function executeExtendedRun(extended: ExtendedRun): Promise<RunResult> {
  const { call, ports, request, io, connection, capture, start } = extended;
  const { flags } = call;
  if (flags["quiet-success"] && flags.foreground)
    throw new UsageError("--quiet-success and --foreground exclude each other: the output goes to a file");
  if (flags.retries !== undefined) request.retryWaits = planRetryWaits(flags, ports);
  const { ping, "on-failure": failure, "on-success": success } = flags;
  const hasHooks = (ping ?? failure ?? success) !== undefined;
  const hooks = hasHooks ? (await import("./run-hooks.ts")).createRunHooks(extended) : undefined;
  const isLaunched = findLaunchedRun(io) !== undefined; // the launcher then holds the output back
  const output = flags["quiet-success"] && !isLaunched ? SpooledOutput.open(io, connection.log) : undefined;
  if (output !== undefined) request.command.outputs = output.descriptors;
  try {
    const interrupted = flags.jitter === undefined ? undefined : await waitJitter(extended, flags.jitter);
    if (interrupted !== undefined) return interrupted;
    const running = start();
    const result = await running.catch(() => undefined);
    const isSuccess = result?.kind === "ended" && result.code === 0;
    const tail = capture === undefined ? output?.readTail() : await capture.collectTail(LAST_OUTPUT_MS);
    if (!isSuccess) output?.print();
    await hooks?.close(running, tail);
    return await running;
  } finally {
    output?.close();
  }
}

/**
 * Waits before anything is claimed, or for the rest of the time if another process has begun to wait.
 * @returns the result of the run if a signal ends it
 */
async function waitJitter({ ports, request }: ExtendedRun, most: Millis): Promise<RunResult | undefined> {
  const { attempts, clock } = ports;
  const { waitLimits } = request;
  const whole = computeJitter(buildJitterKey(request), most);
  if (attempts !== undefined && waitLimits.lock !== undefined) waitLimits.lock += whole; // it counts from the start of the call
  if (attempts !== undefined && attempts.last > 0) return undefined;
  const since = attempts?.since ?? clock.getWallTime();
  const wait = Math.max(0, whole - Math.max(0, clock.getWallTime() - since));
  const signals = new SignalRouter(ports, request.logReopens ? ["SIGUSR2"] : []);
  ports.log.info("waiting", { why: `--jitter: ${formatDuration(whole)}` });
  try {
    await ports.onWait?.();
    await clock.sleep(wait, signals.signal);
    return undefined;
  } catch (error) {
    return { kind: "interrupted", code: (error as RunInterruptedError).exitCode };
  } finally {
    signals.close();
  }
}

/** Plans the waits before the retries, as those of schedules. */
function planRetryWaits(flags: RunFlags, { random }: RunPorts): Millis[] {
  const { retries = 0, "retry-wait": backoff = SCHEDULE_DEFAULTS.backoff } = flags;
  return Array.from({ length: retries }, (_, failures) =>
    computeBackoff(backoff, failures, random.generateFraction()),
  );
}

/** Runs for the same locks wait equally long on all hosts, so that the lock still lets only one of them run. */
function buildJitterKey({ locks, leases, identity }: RunRequest): string {
  if (locks.length > 0) return locks.join(",");
  return [identity.command, ...leases.map(({ resource }) => resource)].join(",");
}
