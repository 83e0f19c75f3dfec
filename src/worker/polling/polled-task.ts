import {
  addMs,
  formatIso,
  type Millis,
  type MonotonicTime,
  NO_LONGER_NEEDED,
  subtractTime,
  type WallTime,
} from "../../core/base/clock.ts";
import { pickDefined } from "../../core/base/pick-defined.ts";
import { quoteText } from "../../core/base/text.ts";
import { findFirstKey } from "../../core/protocol/txn.ts";
import { AlreadyFinishedError, NotFoundError, PreemptedError } from "../../schedule/errors.ts";
import {
  type EndedOccurrence,
  findCancellation,
  formatCancellation,
} from "../../schedule/state/complete-occurrence.ts";
import type { DueState } from "../../schedule/state/due.ts";
import type { ClaimedOccurrence } from "../claims/claim-occurrence.ts";
import type { WorkerListener } from "../events.ts";
import type { TaskResult } from "../handler.ts";
import type { WorkerRegistration } from "../registration/worker-registration.ts";
import { completeTask, endOccurrence, type TaskCompletion } from "../tasks/complete-task.ts";
import { type CheckpointWriter, createCheckpointWriter } from "../tasks/running-task.ts";
import { TaskReport } from "../tasks/task-pool.ts";
import type { SchedulePorts } from "../worker-ports.ts";

/** Time limit for completing a task, ms. */
const SETTLE_WITHIN = 10_000;

/** A task that a program has claimed through a poller. */
export class PolledTask {
  readonly claimed: ClaimedOccurrence;
  /** Deadline of the next heartbeat. */
  aliveUntil: WallTime;
  readonly #ports: SchedulePorts;
  readonly #aliveTime: Millis;
  readonly #checkpoints: CheckpointWriter;
  readonly #onCompleted: (how: TaskCompletion) => void;
  readonly #report: TaskReport;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  readonly #from: MonotonicTime;
  /** Who has canceled it. */
  #canceled: string | undefined;
  #state: "taken" | "finished" | "given back" = "taken";

  /** Reports its start. @param onCompleted  called when the task has ended, also if another worker has it then */
  constructor(
    ports: SchedulePorts,
    claimed: ClaimedOccurrence,
    registration: WorkerRegistration,
    { aliveTime = Infinity, listener = () => {} }: { aliveTime?: Millis; listener?: WorkerListener },
    onCompleted: (how: TaskCompletion) => void,
  ) {
    this.#ports = ports;
    this.claimed = claimed;
    this.#aliveTime = aliveTime;
    this.#onCompleted = onCompleted;
    this.aliveUntil = ports.clock.getWallTime() + aliveTime;
    this.#from = ports.clock.now();
    this.#checkpoints = createCheckpointWriter(ports, claimed, registration);
    this.#report = new TaskReport(ports.clock, listener, claimed);
    this.#followSession(registration.session.signal);
    this.endIfCanceled(claimed.due.value);
  }

  /** Aborted when the session is lost, and the task with it, and when the task is canceled. Not aborted after the task has ended. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Extends the deadline of the task.
   * @throws PreemptedError if another worker owns the task; AlreadyFinishedError; NotFoundError if the schedule was
   *   deleted; StoreError
   */
  async sendHeartbeat(): Promise<void> {
    this.#assertTaken();
    const { store, keys } = this.#ports;
    const read = [this.claimed.key, keys.due(this.claimed.id)].map((key) => ({ op: "range", key }) as const);
    const [own, due] = (await store.commitTxn({ compare: [], success: read, failure: [] })).results;
    if (findFirstKey(own)?.createRevision !== this.claimed.token) throw this.#createPreemptedError();
    if (findFirstKey(due) === undefined) throw this.#createDeletedError();
    this.aliveUntil = this.#ports.clock.getWallTime() + this.#aliveTime;
  }

  /**
   * Saves a text for the next start of the occurrence.
   * @throws TooLargeError; PreemptedError if another worker owns the task; AlreadyFinishedError; StoreError
   */
  async saveCheckpoint(text: string): Promise<void> {
    this.#assertTaken();
    await this.#checkpoints.save(text);
  }

  /**
   * Completes the task. The next occurrence of the schedule counts from its scheduled time.
   * @param value  the result to keep
   * @throws the errors of `sendHeartbeat`
   */
  finish(value?: unknown): Promise<void> {
    return this.#complete({ result: "ok", ...pickDefined({ value }) }, "finished");
  }

  /**
   * Runs the same occurrence again after `wait` ms; default 300 s.
   * @throws the errors of `sendHeartbeat`
   */
  retry(wait?: Millis): Promise<void> {
    return this.#complete({ result: "retry", ...pickDefined({ wait }) }, "finished");
  }

  /**
   * Marks the task as failed. It runs again as the retries of the schedule allow.
   * @throws the errors of `sendHeartbeat`
   */
  fail(failure: Pick<TaskResult, "reason" | "errorCode" | "tail">): Promise<void> {
    return this.#complete({ result: "failed", ...failure }, "finished");
  }

  /**
   * Gives the occurrence back; any worker may run it at once.
   * @throws the errors of `sendHeartbeat`
   */
  release(reason?: string): Promise<void> {
    return this.#complete({ result: "released", ...pickDefined({ reason }) }, "given back");
  }

  /** Aborts the signal if somebody has canceled the occurrence. Its end is then `canceled`, unless it is a success. */
  endIfCanceled(due: DueState | undefined): void {
    const canceled = findCancellation(due, this.claimed.running.scheduled);
    if (canceled === undefined || this.#canceled !== undefined || this.#state !== "taken") return;
    this.#canceled = formatCancellation(canceled);
    this.#lost.abort(new PreemptedError(`${this.#name} was ${this.#canceled}`));
  }

  async #complete(given: TaskResult, state: "finished" | "given back"): Promise<void> {
    this.#assertTaken();
    const { clock } = this.#ports;
    await this.#checkpoints.settle();
    const isCanceled = this.#canceled !== undefined && given.result !== "ok";
    const end = this.#buildEnd(
      isCanceled ? { result: "canceled", ...pickDefined({ reason: this.#canceled }) } : given,
    );
    const completion = await completeTask(this.#ports, this.claimed, end, addMs(clock.now(), SETTLE_WITHIN));
    this.#state = state;
    this.#ended.abort(NO_LONGER_NEEDED);
    this.#report.reportEnd(end.outcome, completion);
    this.#onCompleted(completion);
    if (completion.kind === "preempted") throw this.#createPreemptedError();
    if (completion.kind === "deleted") throw this.#createDeletedError();
  }

  #buildEnd(taskResult: TaskResult): EndedOccurrence {
    const { clock } = this.#ports;
    const times = { endedAt: clock.getWallTime(), took: subtractTime(clock.now(), this.#from) };
    return endOccurrence(this.claimed, taskResult, times);
  }

  #followSession(signal: AbortSignal): void {
    const lose = () => {
      const reason = `the session was lost, and the task of ${this.claimed.id} with it`;
      this.#report.reportEnd(this.#buildEnd({ result: "lost", reason }).outcome, { kind: "preempted" });
      this.#lost.abort(new PreemptedError(reason, { cause: signal.reason }));
    };
    if (signal.aborted) lose();
    else signal.addEventListener("abort", lose, { once: true, signal: this.#ended.signal });
  }

  #assertTaken(): void {
    const has = `${this.#name} has already been ${this.#state}`;
    if (this.#state === "finished") throw new AlreadyFinishedError(has);
    if (this.#state === "given back") throw new PreemptedError(has);
  }

  get #name(): string {
    const { id, running } = this.claimed;
    return `the task of ${id} for ${formatIso(running.scheduled)}`;
  }

  #createDeletedError(): NotFoundError {
    return new NotFoundError(`the schedule ${quoteText(this.claimed.id)} was deleted while its task ran`);
  }

  #createPreemptedError(): PreemptedError {
    return new PreemptedError(`${this.#name} now belongs to another worker`);
  }
}
