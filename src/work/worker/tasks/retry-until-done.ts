import type { ClaimContext, ClaimedOccurrence } from "../claims/claim-occurrence.ts";
import { applyCompletion, completeTask, type TaskCompletion } from "./complete-task.ts";

/**
 * Time limit for completing a task whose session is lost, ms. Usually this fails, and another worker claims the task.
 */
const LOST_WITHIN = 1_000;
/**
 * Attempts after the worker stops, while etcd refuses the completion. Other workers then claim the task again, and this
 * worker must leave.
 */
const LAST_TRIES = 3;
/**
 * Pause between attempts to complete a task that etcd refuses, ms. No other worker can claim it while its running key
 * exists.
 */
const AGAIN = 2_000;
const LAST_AGAIN = 500;

/**
 * Completes a task, and retries while etcd refuses it. Never rejects.
 * @param leaving aborted when the worker stops; only a few more attempts follow
 */
export async function retryUntilDone(
  context: ClaimContext,
  claimed: ClaimedOccurrence,
  ended: Parameters<typeof completeTask>[2],
  leaving: AbortSignal,
): Promise<TaskCompletion> {
  const { ports, registration, cache } = context;
  const { session } = registration;
  for (let last = 0; ; ) {
    const until = session.signal.aborted ? ports.clock.now() + LOST_WITHIN : session.horizon;
    try {
      const result = await completeTask(ports, claimed, ended, until);
      applyCompletion(cache, ports.keys, claimed, result);
      return result;
    } catch (error) {
      if (leaving.aborted) last += 1;
      if (session.signal.aborted || last === LAST_TRIES) return { kind: "preempted" };
      const about = { schedule: claimed.id, error: String(error) };
      ports.log.error("cannot store the result of a task", about);
      await waitBeforeRetry(context, leaving);
    }
  }
}

/** Waits before the next attempt. A stop of the worker ends a longer pause early. */
async function waitBeforeRetry({ ports, registration }: ClaimContext, leaving: AbortSignal): Promise<void> {
  const { signal } = registration.session;
  const [ms, over] = leaving.aborted ? [LAST_AGAIN, signal] : [AGAIN, AbortSignal.any([signal, leaving])];
  await ports.clock.sleep(ms, over).catch(() => {});
}
