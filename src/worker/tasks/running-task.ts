import { clean } from "../../base/text.ts";
import type { Txn } from "../../protocol/txn.ts";
import { type Definition, getScheduleType } from "../../schedule/definition.ts";
import { formatRunning } from "../../schedule/state/running-record.ts";
import type { ClaimedOccurrence } from "../claims/claim-occurrence.ts";
import { type ScheduledTask, TaskLost } from "../handler.ts";
import type { WorkerRegistration } from "../registration/worker-registration.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import { createCheckpointWriter } from "./checkpoint-writer.ts";

/** A running task and the functions that end it. */
export interface RunningTask {
  readonly task: ScheduledTask;
  readonly claimed: ClaimedOccurrence;
  /** Aborts the signal of the task with this reason, once. Does nothing after `close`, when most calls come. */
  end(createReason: () => TaskLost): void;
  /** Call this when the handler has ended: the signal of the task is not aborted any more. */
  close(): void;
  /** Waits until the checkpoints are written that the handler has saved. Never rejects. */
  settle(): Promise<void>;
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
  const progress = createProgressReporter(ports, claimed, session.id);
  const checkpoints = createCheckpointWriter(ports, claimed, registration);
  const handleSessionLoss = () =>
    end(() => new TaskLost("lost", String((session.signal.reason as Error).message)));
  if (session.signal.aborted) handleSessionLoss();
  session.signal.addEventListener("abort", handleSessionLoss, { once: true });
  const { id, host, definition, running, token, key } = claimed;
  const task: ScheduledTask = {
    id,
    ...(host !== undefined && { host }),
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
    ...(claimed.checkpoint.last !== undefined && { checkpoint: claimed.checkpoint.last }),
    saveCheckpoint: (text) => checkpoints.save(text),
    reportProgress: (text) => progress.report(text),
    getHorizon: () => session.horizon,
    onExtended: (listener) => registration.onExtended(listener),
  };
  const close = () => {
    isClosed = true;
    progress.close();
    session.signal.removeEventListener("abort", handleSessionLoss);
  };
  return { task, claimed, end, close, settle: () => checkpoints.settle() };
}

/** Shortest time between two writes of the progress of one task, ms. */
const WRITE_EVERY = 2_000;
/** Maximum length of a progress text, characters. */
const LONGEST = 200;
/** One for all tasks: the stack of an error costs time. */
const OVER = new Error("the task has ended");

interface ProgressReporter {
  /** Takes a text. The first 200 characters of its first line count. */
  report(text: string): void;
  /** Ends the writes. Call it before the running key is deleted. */
  close(): void;
}

/**
 * Creates what writes what a task says about its progress into its running key, at most every two seconds and only the newest text.
 * A write that fails is left out: progress must never delay a task.
 */
function createProgressReporter(
  { store, clock }: SchedulePorts,
  { key, token, running }: ClaimedOccurrence,
  session: bigint,
): ProgressReporter {
  /** Ends the writes. Most tasks never report, so it is created for the first text. */
  let over: AbortController | undefined;
  let isClosed = false;
  let wanted: string | undefined;
  let isWriting = false;

  const write = async (progress: string | undefined, signal: AbortSignal) => {
    const value = formatRunning({ ...running, ...(progress !== undefined && { progress }) });
    const txn: Txn = {
      compare: [{ key, target: "create", is: "equal", value: token }],
      success: [{ op: "put", key, value, session }],
      failure: [],
    };
    await store.commitTxn(txn, signal);
  };

  let written: string | undefined;
  const writeWanted = async (signal: AbortSignal) => {
    while (wanted !== written && !signal.aborted) {
      const progress = wanted;
      await write(progress, signal).catch(() => {}); // the next text is written again
      written = progress;
      await clock.sleep(WRITE_EVERY, signal).catch(() => {});
    }
  };

  return {
    report(text) {
      if (isClosed) return;
      wanted = clean(text.trim().split("\n", 1)[0] ?? "", LONGEST);
      over ??= new AbortController();
      if (isWriting) return;
      isWriting = true;
      void writeWanted(over.signal).finally(() => {
        isWriting = false;
      });
    },
    close() {
      isClosed = true;
      over?.abort(OVER);
    },
  };
}

/** Returns the definition with the data and the variables that this occurrence has of its own, and with the trace of what it follows. */
export function mergeOwnInput({
  definition,
  open,
}: Pick<ClaimedOccurrence, "definition" | "open">): Definition {
  const { data, env, after } = open;
  const trace = after?.at(-1)?.trace;
  if (data === undefined && env === undefined && trace === undefined) return definition;
  const { TRACESTATE: _, ...own } = definition.env ?? {};
  const variables = trace === undefined ? definition.env : { ...own, ...trace };
  return {
    ...definition,
    ...(data !== undefined && { data }),
    ...((env ?? trace) !== undefined && { env: { ...variables, ...env } }),
  };
}
