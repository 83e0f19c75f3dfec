import type { OccurrenceResult } from "../schedule/state/outcome.ts";

/** What a Worker reports, by the name of the event. Listeners are called while the worker works: they must return soon. */
export interface WorkerEvents {
  /** The worker has a session and starts to take tasks. `worker` is its id. */
  joined: { readonly worker: string };
  /** The session has ended. `reason` is undefined if the worker was stopped. */
  left: { readonly worker: string; readonly reason: string | undefined };
  /** A task has started. */
  started: TaskStarted;
  /** A task has ended, and its result is stored. */
  ended: TaskEnded;
  /** Occurrences were missed and will not run. */
  skipped: TasksSkipped;
  /** The worker has no handler for this type of schedule. Reported once for each type. */
  unknown: { readonly id: string; readonly type: string };
  /**
   * The clock of this host differs from those of the others by `skew`, ms, positive if it is ahead. A worker whose clock `refuses` takes no
   * tasks.
   */
  clock: { readonly state: "ok" | "warns" | "refuses"; readonly skew: number };
  /** Number of tasks that run, and how many may run. */
  load: { readonly running: number; readonly concurrency: number };
}

/** The start of a task. */
export interface TaskStarted {
  /** Id of the schedule. */
  readonly id: string;
  /** The type of the schedule. */
  readonly type: string;
  /** The scheduled time of the occurrence. */
  readonly scheduledTime: Date;
  /** Delay between the due time and the start, ms. */
  readonly late: number;
  /** Id of this start. */
  readonly run: string;
  /** Number of starts of this occurrence, including this one. */
  readonly attempt: number;
}

/** The end of a task. */
export interface TaskEnded {
  /** Id of the schedule. */
  readonly id: string;
  /** The type of the schedule. */
  readonly type: string;
  /** The scheduled time of the occurrence. */
  readonly scheduledTime: Date;
  /** Id of this start; undefined if the worker that started it has vanished before it could tell. */
  readonly run: string | undefined;
  /** How it ended. */
  readonly result: OccurrenceResult;
  /** Why it ended so, for example the message of an error. */
  readonly reason: string | undefined;
  /** When the same occurrence starts again; undefined if it does not. */
  readonly nextTime: Date | undefined;
  /** Whether the occurrence has failed for good, and is now a dead letter. */
  readonly isDead: boolean;
}

/** Occurrences that will not run. */
export interface TasksSkipped {
  /** Id of the schedule. */
  readonly id: string;
  /** The type of the schedule. */
  readonly type: string;
  /** The scheduled time of the first of them. */
  readonly scheduledTime: Date;
  /** How many they are. */
  readonly count: number;
  /** Why they do not run, if it is known. */
  readonly reason: string | undefined;
}
