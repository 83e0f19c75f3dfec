import type { Definition } from "../../schedule/definition.ts";
import type { Result } from "../../schedule/outcome.ts";

/** An occurrence that this worker has taken, as handlers see it. Instants in ms since the epoch. */
export interface Task {
  readonly id: string;
  readonly type: string;
  readonly definition: Definition;
  readonly scheduled: number;
  /** How late it was taken, ms. */
  readonly late: number;
  /** How often it was started, this time included. */
  readonly attempt: number;
  /** New for every start. */
  readonly run: string;
  /** The fencing token: grows from start to start of one schedule. */
  readonly token: string;
  /** The key on the worker's session that shows who runs it; its `create_revision` is the token. */
  readonly key: string;
  /**
   * Aborted, with a `TaskLost`, when the task must end: its claim is lost or may soon be, it was reset, or replaced by the
   * next occurrence. What must not outlive the claim has ended by `horizon()`.
   */
  readonly signal: AbortSignal;
  /** Instant on the clock's `now()`, ms, by which nothing of the task may be left. It moves with every renewal. */
  horizon(): number;
  /** Told whenever the horizon has moved. @returns a function that ends that */
  onExtended(listener: () => void): () => void;
}

/** Why a task must end before it has finished; the reason of its signal. */
export class TaskLost extends Error {
  readonly result: Extract<Result, "lost" | "replaced" | "released">;

  constructor(result: TaskLost["result"], message: string) {
    super(message);
    this.name = "TaskLost";
    this.result = result;
  }
}

/** How a handler says that a task came out. */
export interface Verdict {
  /**
   * `retry`: the same occurrence again after `wait`, which counts as no failure. `released`: again at once. `failed` and
   * `timeout` are started again as the definition's retries allow, and given up then.
   */
  result: Exclude<Result, "skipped">;
  /** ms before the next start, of `retry`. Default 300 s. */
  wait?: number;
  code?: number;
  reason?: string;
  /** The end of the output, made harmless, at most 1 KiB. */
  tail?: string;
}

/** What runs tasks of some types. Its promise may reject: that counts as `failed`, and harms nobody else. */
export interface Handler {
  run(task: Task): Promise<Verdict>;
}

/** The handlers of a worker. */
export interface Handlers {
  /** For the worker's record: exact types, or `/regular expression/`; whether it runs schedules with a command of their own. */
  readonly types: readonly string[];
  /** The first that matches, or undefined: then others may take it. */
  find(id: string, definition: Definition): Handler | undefined;
}
