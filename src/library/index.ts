// The library: `import { connect } from "signalbox"`. Documented in docs/library.md and docs/library-api.md, which is
// generated from the docstrings of what is exported here.
export type { Log, LogFields } from "../base/log.ts";
export type { ExclusionRule } from "../schedule/calendar/day-rule.ts";
export type { Catchup, ChainCondition, HookName, Overlap } from "../schedule/definition-values.ts";
export type { OccurrenceResult } from "../schedule/state/outcome.ts";
export type { LossKind, RefusalKind } from "../work/run/claim-errors.ts";
export type { AcquireOptions, ClaimOptions, Duration, Held, Work } from "./claim-types.ts";
export {
  AlreadyExistsError,
  AlreadyFinishedError,
  BusyError,
  ClaimLostError,
  ClosedError,
  ConfigError,
  CronError,
  EtcdError,
  NotFoundError,
  NotSupportedError,
  PermissionError,
  PreemptedError,
  SignalboxError,
  UnreachableError,
  UsageError,
} from "./errors.ts";
export type { ConnectOptions } from "./options.ts";
export type {
  Instant,
  NewSchedule,
  PollOptions,
  Schedule,
  ScheduleChanges,
  ScheduleFields,
  Schedules,
  Task,
  TaskFacts,
  TaskHandler,
  TaskSource,
  WorkerOptions,
  WorkerTask,
} from "./schedule-types.ts";
export { connect, type Signalbox } from "./signalbox.ts";
export { Worker } from "./worker.ts";
