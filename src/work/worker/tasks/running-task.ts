import { getScheduleType } from "../../../schedule/definition.ts";
import type { ClaimedOccurrence } from "../claims/claim-occurrence.ts";
import { type ScheduledTask, TaskLost } from "../handler.ts";
import type { WorkerRegistration } from "../registration/worker-registration.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import { mergeOwnInput } from "./own-input.ts";
import { ProgressReporter } from "./progress-reporter.ts";

/** A running task and the functions that end it. */
export interface RunningTask {
  readonly task: ScheduledTask;
  readonly claimed: ClaimedOccurrence;
  /** Aborts the signal of the task with this reason, once. Does nothing after `close`, when most calls come. */
  end(createReason: () => TaskLost): void;
  /** Call this when the handler has ended: the signal of the task is not aborted any more. */
  close(): void;
}

/** Creates the task that handlers receive for a claimed occurrence. Its signal is aborted when the session is lost. */
export function createRunningTask(
  ports: SchedulePorts,
  claimed: ClaimedOccurrence,
  registration: WorkerRegistration,
): RunningTask {
  const ending = new AbortController();
  let isClosed = false;
  const end = (createReason: () => TaskLost) => {
    if (!isClosed) ending.abort(createReason());
  };
  const { session } = registration;
  const progress = new ProgressReporter(ports, claimed, session.id);
  const handleSessionLoss = () =>
    end(() => new TaskLost("lost", String((session.signal.reason as Error).message)));
  if (session.signal.aborted) handleSessionLoss();
  session.signal.addEventListener("abort", handleSessionLoss, { once: true });
  const { id, definition, running, token, key } = claimed;
  const task: ScheduledTask = {
    id,
    definition: mergeOwnInput(claimed),
    key,
    type: getScheduleType(id, definition),
    token: String(token),
    signal: ending.signal,
    scheduled: running.scheduled,
    late: running.late,
    attempt: running.attempt,
    run: running.run,
    ...(claimed.open.after !== undefined && { after: claimed.open.after }),
    reportProgress: (text) => progress.report(text),
    getHorizon: () => session.horizon,
    onExtended: (listener) => registration.onExtended(listener),
  };
  const close = () => {
    isClosed = true;
    progress.close();
    session.signal.removeEventListener("abort", handleSessionLoss);
  };
  return { task, claimed, end, close };
}
