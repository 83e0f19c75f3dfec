import { addMs, type Millis, type MonotonicTime } from "../base/clock.ts";
import { NO_LONGER_NEEDED } from "../base/wait.ts";
import { retryUnavailable } from "../etcd/retry.ts";
import type { GuardedCommand } from "../process/guarded-command/command.ts";
import { ClaimWatch, inspectClaim } from "./claim-watch.ts";
import {
  type CommandOutcome,
  CommandSupervisor,
  type CommandTermination,
  ENDING_SIGNALS,
  hasFailed,
  type SignalRouter,
} from "./command-supervisor.ts";
import type { RunPorts, RunRequest } from "./request.ts";
import type { Grant } from "./step.ts";

/** A claim that is held, for the attempts to run its command. */
export interface HeldRun {
  ports: RunPorts;
  request: RunRequest;
  grant: Grant;
  signals: SignalRouter;
}

/**
 * Runs the command, and again if it fails and the request has retries. The claim is held between the attempts, and lost as
 * while a command runs. Every attempt has guardians of its own, so nothing of one is left when the next one starts, except
 * what it left behind on purpose.
 * @param first  the command of the first attempt
 * @returns the outcome of the last attempt; if the wait for a retry ended the run, with the reason
 * @throws as `CommandSupervisor.run`
 */
export async function runAttempts(
  held: HeldRun,
  first: GuardedCommand,
  env: Record<string, string>,
): Promise<CommandOutcome> {
  const { ports, request, grant, signals } = held;
  const { retryWaits = [] } = request;
  const heldSince = ports.clock.now();
  const attempt = (command: GuardedCommand, number: number) =>
    new CommandSupervisor(ports, request, grant, command).run(
      { ...env, SIGNALBOX_ATTEMPT: String(number) },
      signals,
      heldSince,
    );
  let outcome = await attempt(first, 1);
  for (const [index, wait] of retryWaits.entries()) {
    if (!hasFailed(outcome) || signals.hasEnded || !hasTime(held, heldSince, wait)) break;
    ports.log.info("the command failed, and will be retried", { attempt: index + 1, wait });
    const stop = await waitForRetry(held, wait);
    if (stop?.kind === "lost") return { ...outcome, ending: stop };
    if (stop !== undefined) return { ...outcome, ending: outcome.ending ?? stop };
    const command = await ports.commands.prepare(request.command);
    outcome = await attempt(command, index + 2).finally(() => command.release());
  }
  return outcome;
}

/** Whether the claim may be held for longer than the wait. */
function hasTime({ ports, request }: HeldRun, heldSince: MonotonicTime, wait: Millis): boolean {
  const { maxHold = Number.POSITIVE_INFINITY } = request;
  return addMs(ports.clock.now(), wait) < addMs(heldSince, maxHold);
}

/**
 * Waits between two attempts. No command runs, but the claim is watched. At the end, a read confirms it: if this process was
 * frozen, its timer may fire before it learns what has happened.
 * @returns why there is no further attempt; undefined if there is one
 */
async function waitForRetry(
  { ports, grant, signals }: HeldRun,
  wait: Millis,
): Promise<CommandTermination | undefined> {
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
    await ports.clock.sleep(wait, over.signal);
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
