import {
  addMs,
  type Clock,
  formatIso,
  NO_LONGER_NEEDED,
  subtractTime,
  type WallTime,
} from "../../core/base/clock.ts";
import { type Definition, getScheduleType } from "../../schedule/definition.ts";
import { getExpectation } from "../../schedule/expectation.ts";
import {
  type EndedOccurrence,
  findCancellation,
  formatCancellation,
} from "../../schedule/state/complete-occurrence.ts";
import type { DueState } from "../../schedule/state/due.ts";
import { computeReplacementTime } from "../../schedule/state/next-candidate.ts";
import { OCCURRENCE_RESULTS, type OccurrenceOutcome } from "../../schedule/state/outcome.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";
import type { ClaimContext, ClaimedOccurrence, UnstartedOutcomes } from "../claims/claim-occurrence.ts";
import type { WorkerListener } from "../events.ts";
import { type Handler, TaskLost, type TaskResult } from "../handler.ts";
import { TimerQueue } from "../timer-queue.ts";
import { applyCompletion, completeTask, endOccurrence, type TaskCompletion } from "./complete-task.ts";
import { createRunningTask, mergeOwnInput, type RunningTask } from "./running-task.ts";

/** Runs the claimed tasks of one worker session until each result is stored. */
export class TaskPool {
  readonly #context: ClaimContext;
  readonly #listener: WorkerListener;
  /** By run. */
  readonly #tasks = new Map<string, RunningTask>();
  /** By the name of the cache's entry. */
  readonly #tasksBySchedule = new Map<string, Set<RunningTask>>();
  /** Per run: when the next occurrence replaces it. */
  readonly #replacements = new TimerQueue();
  readonly #onChange: (stateName: string) => void;
  readonly #leaving = new AbortController();

  /** @param onChange called when a task of the state has started or ended */
  constructor(context: ClaimContext, listener: WorkerListener, onChange: (stateName: string) => void) {
    this.#context = context;
    this.#listener = listener;
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Whether a run is one of the tasks. */
  has(run: string): boolean {
    return this.#tasks.has(run);
  }

  isRunning(stateName: string): boolean {
    return this.#tasksBySchedule.has(stateName);
  }

  /** Runs a claimed occurrence until its result is stored. */
  start(claimed: ClaimedOccurrence, handler: Handler): void {
    const { registration, ports } = this.#context;
    const running = createRunningTask(ports, claimed, registration);
    // After a pause of the process, pending answers arrive before the timers that check the horizon.
    if (registration.session.horizon <= ports.clock.now())
      running.end(() => new TaskLost("lost", "the session may have ended since the claim"));
    endIfCanceled(running, claimed.due.value); // its worker before was lost
    const { name } = claimed;
    const { run } = claimed.running;
    const same = this.#tasksBySchedule.get(name) ?? new Set();
    this.#tasksBySchedule.set(name, same.add(running));
    this.#tasks.set(run, running);
    this.#onChange(name);
    void this.#runTask(running, handler).finally(() => {
      this.#tasks.delete(run);
      this.#replacements.set(run, undefined);
      same.delete(running);
      if (same.size === 0) this.#tasksBySchedule.delete(name);
      this.#onChange(name);
    });
  }

  /** Aborts tasks that lost their running key, and plans replacements. Call it whenever the schedule changes. */
  updateSchedule(entry: CachedSchedule, now: WallTime): void {
    for (const task of this.#tasksBySchedule.get(entry.name) ?? []) {
      const { claimed, end } = task;
      endIfCanceled(task, entry.due);
      if (entry.running.get(claimed.key)?.createRevision !== claimed.token)
        end(() => new TaskLost("lost", "its running key was deleted"));
      const { definition = claimed.definition, due } = entry;
      const isNext = due !== undefined && !this.#context.cache.isNextExcluded(entry);
      const at = isNext ? computeReplacementTime(definition, due, claimed.running.scheduled, now) : undefined;
      this.#replacements.set(claimed.running.run, at);
    }
  }

  /**
   * Aborts tasks that the next occurrence replaces.
   * @returns when to call again
   */
  abortReplaced(now: WallTime): number | undefined {
    const { conditions } = this.#context;
    for (let run = this.#replacements.take(now); run !== undefined; run = this.#replacements.take(now)) {
      const task = this.#tasks.get(run);
      if (task !== undefined && this.#isNextUnmet(task))
        this.#replacements.set(run, conditions.computeNextCheck(now));
      else task?.end(() => new TaskLost("replaced", "the next one is due"));
    }
    return this.#replacements.next;
  }

  /** Whether the next occurrence could not start on this host now, so that it must not end this one. */
  #isNextUnmet({ claimed }: RunningTask): boolean {
    const { cache, conditions } = this.#context;
    const entry = cache.entries.get(claimed.name);
    return entry !== undefined && conditions.findUnmet(entry) !== undefined;
  }

  /** Aborts all tasks, and limits the retries of results that etcd refuses. */
  stop(reason: () => TaskLost): void {
    this.#leaving.abort(NO_LONGER_NEEDED);
    this.abortAll(reason);
  }

  abortAll(reason: () => TaskLost): void {
    for (const { end } of this.#tasks.values()) end(reason);
  }

  async #runTask(running: RunningTask, handler: Handler): Promise<void> {
    const { task, claimed } = running;
    const { clock, log } = this.#context.ports;
    const { id, scheduled, attempt } = task;
    const report = new TaskReport(clock, this.#listener, claimed);
    log.info("started", { schedule: id, scheduled: formatIso(scheduled), attempt });
    const from = clock.now();
    const taskResult = await runHandler(handler, running);
    const took = subtractTime(clock.now(), from);
    report.stop();
    await running.settle();
    running.close(); // completing the task deletes its running key, which would look like a loss
    const end = endOccurrence(claimed, taskResult, { endedAt: clock.getWallTime(), took });
    const completion = await retryUntilDone(this.#context, claimed, end, this.#leaving.signal);
    this.#logResult(id, end.outcome, completion);
    report.reportEnd(end.outcome, completion);
  }

  #logResult(
    schedule: string,
    { result, code, reason, scheduled }: OccurrenceOutcome,
    { kind }: TaskCompletion,
  ): void {
    const { log } = this.#context.ports;
    const fields = { schedule, scheduled: formatIso(scheduled), result, code, reason };
    if (kind === "preempted")
      log.warn("another worker took over a task before its result was stored", fields);
    else if (result === "ok") log.info("finished", fields);
    else log.warn("a task did not succeed", fields);
  }
}

/** Ends a task that somebody has canceled. */
function endIfCanceled({ claimed, end }: RunningTask, due: DueState | undefined): void {
  const canceled = findCancellation(due, claimed.running.scheduled);
  if (canceled !== undefined) end(() => new TaskLost("canceled", formatCancellation(canceled)));
}

/** Runs the handler. Never rejects: without a result, the running key would stay until the worker ends. */
async function runHandler(handler: Handler, { task }: RunningTask): Promise<TaskResult> {
  const taskResult = await callHandler(handler, task);
  const { reason } = task.signal;
  if (taskResult.result === "ok" || !(reason instanceof TaskLost)) return taskResult;
  const { wait: _, ...rest } = taskResult; // others may take it at once
  return { ...rest, result: reason.result, reason: reason.message };
}

async function callHandler(handler: Handler, task: RunningTask["task"]): Promise<TaskResult> {
  if (task.signal.aborted) return { result: "lost", reason: "it was ended before it started" };
  try {
    const taskResult: TaskResult | undefined = await handler.run(task);
    if (OCCURRENCE_RESULTS.some((result) => result === taskResult?.result)) return taskResult;
    return { result: "failed", reason: "the handler gave no result" };
  } catch (error) {
    return { result: "failed", reason: `the handler failed: ${String(error)}` };
  }
}

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
const COMPLETION_PAUSE_MS = 2_000;
const LAST_AGAIN = 500;

/**
 * Completes a task, and retries while etcd refuses it. Never rejects.
 * @param leaving aborted when the worker stops; only a few more attempts follow
 */
async function retryUntilDone(
  context: ClaimContext,
  claimed: ClaimedOccurrence,
  ended: EndedOccurrence,
  leaving: AbortSignal,
): Promise<TaskCompletion> {
  const { ports, registration, cache } = context;
  const { session } = registration;
  for (let last = 0; ; ) {
    const until = session.signal.aborted ? addMs(ports.clock.now(), LOST_WITHIN) : session.horizon;
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
  const [ms, over] = leaving.aborted
    ? [LAST_AGAIN, signal]
    : [COMPLETION_PAUSE_MS, AbortSignal.any([signal, leaving])];
  await ports.clock.sleep(ms, over).catch(() => {});
}

/** Reports one start of an occurrence: that it has begun, that it takes longer than expected, and how it has ended. */
export class TaskReport {
  readonly #listener: WorkerListener;
  readonly #claimed: ClaimedOccurrence;
  readonly #about: { id: string; type: string; definition: Definition };
  /** Ends the wait for an overrun, if one is expected. */
  #over: AbortController | undefined;
  #hasEnded = false;

  /** Reports the start. */
  constructor(clock: Clock, listener: WorkerListener, claimed: ClaimedOccurrence) {
    this.#listener = listener;
    this.#claimed = claimed;
    const { id, running } = claimed;
    const definition = mergeOwnInput(claimed);
    this.#about = { id, type: getScheduleType(id, definition), definition };
    const { scheduled, late, run, attempt, since: startedAt } = running;
    listener({ kind: "started", ...this.#about, scheduled, late, run, attempt });
    const { most: bound } = getExpectation(claimed.definition);
    if (bound === undefined) return;
    this.#over = new AbortController();
    void clock.sleep(bound, this.#over.signal).then(
      () => listener({ kind: "overrun", ...this.#about, scheduled, run, attempt, startedAt, bound }),
      () => {},
    );
  }

  /** Call this when the task has ended, and its result is not stored yet: it takes no longer. */
  stop(): void {
    this.#over?.abort(NO_LONGER_NEEDED);
  }

  /** Reports the end once; also a result that is stored after the task was reported as lost. */
  reportEnd(outcome: OccurrenceOutcome, completion: TaskCompletion): void {
    this.stop();
    const { after } = this.#claimed.open;
    const ended = { kind: "ended", ...this.#about, after, outcome } as const;
    if (completion.kind === "settled") {
      const { finish, wasFailing } = completion;
      const { again, isDead } = finish;
      this.#listener({ ...ended, isDead, wasFailing, ...(again !== undefined && { again }) });
    } else if (!this.#hasEnded) this.#listener({ ...ended, isDead: false, wasFailing: false, isLost: true });
    this.#hasEnded = true;
  }
}

/** Reports the occurrences that a claim has skipped, replaced or given up. */
export function reportUnstarted(
  listener: WorkerListener,
  { id, definition }: { id: string; definition: Definition | undefined },
  { outcomes, wasFailing }: UnstartedOutcomes,
): void {
  if (definition === undefined) return;
  const about = { id, type: getScheduleType(id, definition), definition };
  for (const outcome of outcomes) {
    if (outcome.result === "skipped") listener({ kind: "skipped", ...about, outcome });
    else listener({ kind: "ended", ...about, outcome, isDead: outcome.result === "lost", wasFailing });
  }
}
