import { addMs, type MonotonicTime, NO_LONGER_NEEDED, type WallTime } from "../base/clock.ts";
import { retryUnavailable } from "../etcd/store.ts";
import type { GuardedCommand } from "../process/guarded-command/command.ts";
import { ClaimWatch, inspectClaim } from "./claim-watch.ts";
import {
  type CommandOutcome,
  CommandSupervisor,
  type CommandTermination,
  computeExitCode,
  ENDING_SIGNALS,
  hasFailed,
  toExit,
} from "./command-supervisor.ts";
import type { PlannedRetry } from "./request.ts";
import type { HeldRun } from "./run.ts";

/**
 * Runs the command, and again if it fails and the request has retries. The claim is held between the attempts, and lost as
 * while a command runs. Every attempt has guardians of its own, which have ended before the wait for the next one, so nothing
 * of an attempt is left then, except what it left behind on purpose. Continues where another process has stopped.
 * @param first  the command of the first attempt that this process runs
 * @returns the outcome of the last attempt; if the wait for a retry ended the run, with the reason
 * @throws as `CommandSupervisor.run`
 */
export async function runAttempts(
  held: HeldRun,
  first: GuardedCommand,
  env: Record<string, string>,
): Promise<CommandOutcome> {
  const { ports, request, grant, signals } = held;
  const { clock, plannedRetry, isStarted } = ports;
  const heldSince = addMs(clock.now(), -Math.max(0, clock.getWallTime() - grant.grantedAt));
  const run = async (command: GuardedCommand, start: number) => {
    const supervisor = new CommandSupervisor(ports, request, grant, command);
    const variables = { ...env, SIGNALBOX_ATTEMPT: String(start) };
    try {
      return isStarted && command === first
        ? await supervisor.resume(signals, plannedRetry?.at)
        : await supervisor.run(variables, signals, heldSince);
    } finally {
      await command.release();
    }
  };
  let command: GuardedCommand | undefined = first;
  let start = plannedRetry?.start ?? 1;
  let retry = isStarted ? undefined : plannedRetry;
  let outcome: CommandOutcome = { exit: toExit(plannedRetry?.code), ending: undefined };
  for (;;) {
    if (retry !== undefined) {
      await ports.onRetry?.(retry);
      const stop = await waitForRetry(held, retry);
      if (stop !== undefined)
        return { ...outcome, ending: stop.kind === "lost" ? stop : (outcome.ending ?? stop) };
      start = retry.start;
    }
    outcome = await run(command ?? (await ports.commands.prepare(request.command)), start);
    command = undefined;
    retry = planRetry(held, outcome, start, heldSince);
    if (retry === undefined) return outcome;
  }
}

/**
 * Plans the retry of an attempt.
 * @param start  number of the attempt
 * @returns undefined if there is none: it has not failed, was the last one, or the claim may not be held for that long
 */
function planRetry(
  { ports: { clock, log }, request, signals }: HeldRun,
  outcome: CommandOutcome,
  start: number,
  heldSince: MonotonicTime,
): PlannedRetry | undefined {
  const { retryWaits = [], maxHold = Number.POSITIVE_INFINITY, preservesStatus } = request;
  const wait = retryWaits[start - 1];
  if (wait === undefined || !hasFailed(outcome) || signals.ending !== undefined) return undefined;
  if (addMs(clock.now(), wait) >= addMs(heldSince, maxHold)) return undefined;
  log.info("the command failed, and will be retried", { attempt: start, wait });
  const at = (clock.getWallTime() + wait) as WallTime;
  return { start: start + 1, at, code: computeExitCode(outcome, preservesStatus) };
}

/**
 * Waits between two attempts. No command runs, but the claim is watched. At the end, a read confirms it: if this process was
 * frozen, its timer may fire before it learns what has happened.
 * @returns why there is no further attempt; undefined if there is one
 */
async function waitForRetry(
  { ports, request, grant, signals }: HeldRun,
  { at, start }: PlannedRetry,
): Promise<CommandTermination | undefined> {
  if (signals.ending !== undefined) return { kind: "signal", why: signals.ending };
  const { clock } = ports;
  const longest = request.retryWaits?.[start - 2] ?? 0; // the wall clock may have been set back since
  const wait = Math.min(longest, Math.max(0, at - clock.getWallTime()));
  const over = new AbortController();
  const stopped = Promise.withResolvers<CommandTermination>();
  const watch = new ClaimWatch(
    grant,
    ({ why }) => stopped.resolve({ kind: "lost", why }),
    () => {},
  );
  watch.keepAlive();
  watch.followSession();
  void watch.followHorizon(over.signal);
  void watch.follow(0, over.signal);
  signals.forwardTo((name) => {
    if (ENDING_SIGNALS.includes(name)) stopped.resolve({ kind: "signal", why: name });
  });
  const confirm = async (): Promise<CommandTermination | undefined> => {
    await clock.sleep(wait, over.signal);
    const { attempt, entries } = grant;
    const inspect = (call: AbortSignal) => inspectClaim(attempt, entries, call);
    const { loss } = await retryUnavailable(ports, attempt.session.horizon, inspect, over.signal);
    return loss && { kind: "lost", why: loss.why };
  };
  try {
    return await Promise.race([stopped.promise, confirm()]);
  } finally {
    over.abort(NO_LONGER_NEEDED);
  }
}
