import type { Millis, MonotonicTime, WallTime } from "../core/base/clock.ts";
import type { Definition } from "../schedule/definition.ts";
import type { HookPermission } from "../schedule/definition-values.ts";
import type { PredecessorEnd } from "../schedule/state/due.ts";
import type { OccurrenceResult } from "../schedule/state/outcome.ts";

/** A claimed occurrence, as passed to handlers. Instants in ms since the epoch. */
export interface ScheduledTask {
  readonly id: string;
  /** The host of the worker, if the schedule runs on every host. */
  readonly host?: string;
  readonly type: string;
  /** With the data and the variables of this occurrence. */
  readonly definition: Definition;
  /** The ends of the schedules before it, if it runs because of them. */
  readonly after?: readonly PredecessorEnd[];
  readonly scheduled: WallTime;
  /** Delay between the due time and the claim. */
  readonly late: Millis;
  /** Number of starts, including this one. */
  readonly attempt: number;
  /** New for every start. */
  readonly run: string;
  /** Fencing token. It grows with every start of the schedule. */
  readonly token: string;
  /** Running key on the worker's session. It shows who runs the task; its `create_revision` is the token. */
  readonly key: string;
  /**
   * Aborted with a `TaskLost` when the task must end: its claim is lost or may soon be lost, the task was reset or
   * canceled, or the next occurrence replaces it. Everything that must not outlive the claim must end before `getHorizon()`.
   */
  readonly signal: AbortSignal;
  /** The last checkpoint of the starts before, if there is one. */
  readonly checkpoint?: string;
  /**
   * Saves a text for the next start of the occurrence, at most 16 KiB. It is deleted when the occurrence has succeeded.
   * @throws TooLargeError; PreemptedError if another start has the occurrence; StoreError
   */
  saveCheckpoint(text: string): Promise<void>;
  /** Tells how far the task is, for listings: one line of at most 200 characters. */
  reportProgress(text: string): void;
  /** Returns the instant by which everything of the task must have ended. Each renewal moves it. */
  getHorizon(): MonotonicTime;
  /**
   * Calls the listener whenever the horizon moves.
   * @returns a function that removes the listener
   */
  onExtended(listener: () => void): () => void;
}

/** Why a task must end before it is finished; the reason of its signal. */
export class TaskLost extends Error {
  readonly result: Extract<OccurrenceResult, "lost" | "replaced" | "released" | "canceled">;

  constructor(result: TaskLost["result"], message: string) {
    super(message);
    this.name = "TaskLost";
    this.result = result;
  }
}

/** Result of a handler. */
export interface TaskResult {
  /**
   * `retry`: the occurrence runs again after `wait`; this does not count as a failure, up to 100 times. `released`: it did not
   * run, or not to its end, and runs again at once or after `wait`. `failed` and `timeout`: it runs again as the retries of the definition allow, and is then given up.
   */
  result: Exclude<OccurrenceResult, "skipped">;
  /** ms before the next start. Default: 300 s for `retry`, none for `released`. */
  wait?: Millis;
  code?: number;
  reason?: string;
  /** The `code` of an error, or why the result is missing. */
  errorCode?: string;
  /** End of the output, or the stack of an error, sanitized, at most 4 KiB. */
  tail?: string;
  /** Units that it held, by resource, and how long it waited for them, ms. */
  leases?: Readonly<Record<string, number>>;
  waited?: Millis;
  /** What the handler returned: at most `LARGEST_RESULT` bytes of JSON. Only with `keepResult`. */
  value?: unknown;
}

/** Runs tasks of certain types. A rejected promise counts as `failed` and does not affect other tasks. */
export interface Handler {
  run(task: ScheduledTask): Promise<TaskResult>;
}

/** The handlers of a worker. */
export interface HandlerRegistry {
  /**
   * Types for the worker record: exact names, or `/regular expression/`, and whether the worker runs schedules that
   * have their own command.
   */
  readonly types: readonly string[];
  /** Which hooks of schedules the worker calls. */
  readonly hooks?: HookPermission;
  /** Returns the first handler that matches. If undefined, other workers may run the task. */
  find(id: string, definition: Definition): Handler | undefined;
}
