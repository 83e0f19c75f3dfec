import { TooLargeError } from "../../core/base/errors.ts";
import { clean } from "../../core/base/text.ts";
import { retryUnavailable, StoreError } from "../../core/etcd/store.ts";
import { guardNotNewer } from "../../core/protocol/guards.ts";
import { findFirstKey, type Txn } from "../../core/protocol/txn.ts";
import { type Definition, getScheduleType } from "../../schedule/definition.ts";
import { PreemptedError } from "../../schedule/errors.ts";
import { formatCheckpoint, LARGEST_CHECKPOINT } from "../../schedule/state/checkpoint.ts";
import { formatRunning } from "../../schedule/state/running-record.ts";
import type { ClaimedOccurrence } from "../claims/claim-occurrence.ts";
import { type ScheduledTask, TaskLost } from "../handler.ts";
import type { WorkerRegistration } from "../registration/worker-registration.ts";
import type { SchedulePorts } from "../worker-ports.ts";

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
const MAX_PROGRESS_LENGTH = 200;
/** One for all tasks: the stack of an error costs time. */
const TASK_ENDED = new Error("the task has ended");

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
      wanted = clean(text.trim().split("\n", 1)[0] ?? "", MAX_PROGRESS_LENGTH);
      over ??= new AbortController();
      if (isWriting) return;
      isWriting = true;
      void writeWanted(over.signal).finally(() => {
        isWriting = false;
      });
    },
    close() {
      isClosed = true;
      over?.abort(TASK_ENDED);
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

/** How long etcd keeps a checkpoint after it was saved, ms: its schedule may be deleted or paused meanwhile. */
const KEPT_FOR = 30 * 86_400_000;

/** Saves the checkpoints of one start of an occurrence: a text that the next start gets. */
export interface CheckpointWriter {
  /**
   * Saves a text. Only one write is under way; the texts that wait for it become one, the newest.
   * @throws TooLargeError; PreemptedError if another start has the occurrence, or may have it; StoreError
   */
  save(text: string): Promise<void>;
  /** Waits for the writes that are under way. Never rejects. Call it before the running key is deleted. */
  settle(): Promise<void>;
}

/** The guard on the running key refuses what a start writes after another one has taken the occurrence over. */
export function createCheckpointWriter(
  ports: SchedulePorts,
  { id, key, token, running, open, checkpoint }: ClaimedOccurrence,
  { session, checkpointExpiry }: WorkerRegistration,
): CheckpointWriter {
  /** The checkpoint is not newer, as far as known. */
  let newest = token;
  let wanted = "";
  let waiting: Promise<void> | undefined;
  let writing = Promise.resolve();

  /**
   * Writes a value, unless the checkpoint is newer than known: a late copy of this write must not undo a later one.
   * @returns whether etcd has it
   */
  const put = async (value: string, own: bigint) => {
    const txn: Txn = {
      compare: [
        { key, target: "create", is: "equal", value: token },
        ...guardNotNewer(newest, { key: checkpoint.key }),
      ],
      success: [{ op: "put", key: checkpoint.key, value, session: own }],
      failure: [key, checkpoint.key].map((one) => ({ op: "range", key: one })),
    };
    const call = (signal: AbortSignal) => ports.store.commitTxn(txn, signal);
    const answer = await retryUnavailable(ports, session.horizon, call, session.signal);
    const [held, stored] = answer.succeeded ? [] : answer.results.map(findFirstKey);
    if (!answer.succeeded && held?.createRevision !== token)
      throw new PreemptedError(
        `the checkpoint of ${id} was refused: attempt ${running.attempt} does not have the occurrence any more`,
      );
    newest = stored?.modRevision ?? answer.revision;
    return answer.succeeded || stored?.value === value;
  };

  const write = async (data: string) => {
    const { mayExist } = checkpoint;
    const value = formatCheckpoint({ attempt: running.attempt, backfill: open.backfill, data });
    try {
      const own = await checkpointExpiry.choose(KEPT_FOR).id;
      checkpoint.mayExist = true; // also if no answer comes
      while (!(await put(value, own))); // a late copy of an earlier write was applied first
    } catch (cause) {
      if (session.signal.aborted)
        throw new PreemptedError(`the session was lost before the checkpoint of ${id} was saved`, { cause });
      if (cause instanceof StoreError && cause.kind === "permission") checkpoint.mayExist = mayExist;
      if (cause instanceof StoreError && cause.kind === "noSession") checkpointExpiry.drop(KEPT_FOR);
      throw cause;
    }
  };

  const writeNext = async () => {
    await writing;
    waiting = undefined;
    const next = write(wanted);
    writing = next.catch(() => {});
    await next;
  };

  return {
    async save(text) {
      const size = Buffer.byteLength(text);
      if (size > LARGEST_CHECKPOINT)
        throw new TooLargeError(
          `the checkpoint has ${size} bytes, and at most ${LARGEST_CHECKPOINT} are kept`,
        );
      wanted = text;
      waiting ??= writeNext();
      await waiting;
    },
    async settle() {
      await waiting?.catch(() => {});
      await writing;
    },
  };
}
