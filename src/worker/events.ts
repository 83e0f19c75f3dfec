import type { Millis, WallTime } from "../core/base/clock.ts";
import type { Definition } from "../schedule/definition.ts";
import type { PredecessorEnd } from "../schedule/state/due.ts";
import type { OccurrenceOutcome } from "../schedule/state/outcome.ts";
import type { ClockState } from "../schedule/state/running-record.ts";

/** The schedule that an event is about. */
interface EventSubject {
  id: string;
  type: string;
  definition: Definition;
}

/** The start of a task that an event is about. */
interface EventStart extends EventSubject {
  scheduled: WallTime;
  run: string;
  attempt: number;
}

/** An event of a worker, for metrics, logs and hooks. `late` in ms. */
export type WorkerEvent =
  /** The worker has a session with this id, has read all schedules, and starts claiming. */
  | { kind: "joined"; worker: string }
  /** The session has ended. `reason` is undefined if the worker left on request. */
  | { kind: "left"; worker: string; reason?: string }
  | (EventStart & { kind: "started"; late: Millis })
  /** A running task has taken as long as expected, `bound` ms, and has not ended. Sent once for each start. */
  | (EventStart & {
      kind: "overrun";
      /** ms since the epoch. */
      startedAt: WallTime;
      bound: number;
    })
  /**
   * `again`: the next start, if the occurrence is retried. `isDead`: it was given up. `wasFailing`:
   * the result before was a failure.
   */
  | (EventSubject & {
      kind: "ended";
      /** The ends of the schedules before it, if it ran because of them. */
      after?: readonly PredecessorEnd[] | undefined;
      outcome: OccurrenceOutcome;
      again?: WallTime;
      isDead: boolean;
      wasFailing: boolean;
      /** The outcome is not stored: another worker has the occurrence, or the schedule was deleted. */
      isLost?: true;
    })
  /** Occurrences that were missed and will not run. */
  | (EventSubject & { kind: "skipped"; outcome: OccurrenceOutcome })
  /** This worker has no handler for the type. Sent once per type. */
  | { kind: "unknown"; id: string; type: string }
  /** `skew`: ms, positive if this clock is ahead of the others. */
  | { kind: "clock"; state: ClockState; skew: Millis }
  /** The watch had lost changes of so many keys. They were read since. */
  | { kind: "lostChanges"; keys: number }
  /** Number of running tasks and the limit. */
  | { kind: "load"; running: number; concurrency: number };

export type WorkerListener = (event: WorkerEvent) => void;
