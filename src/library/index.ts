// The library: `import { connect } from "signalbox"`. Documented in docs/library.md and docs/library-api.md, which is
// generated from the docstrings of what is exported here.
export type { Log, LogFields } from "../base/log.ts";
export type { LossKind, RefusalKind } from "../run/claim-errors.ts";
export type { ExclusionRule } from "../schedule/calendar/day-rule.ts";
export type {
  Catchup,
  ChainCondition,
  HookName,
  Overlap,
  RemovalCondition,
} from "../schedule/definition-values.ts";
export type { LintFinding } from "../schedule/lint/lint-dialects.ts";
export type { OccurrenceResult } from "../schedule/state/outcome.ts";
export {
  type CronOptions,
  type CronTime,
  type CronTimesOptions,
  explainCronText,
  lintCronText,
  listCronTimes,
} from "./cron-helpers.ts";
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
  ProcessStopError,
  SignalboxError,
  TimeoutError,
  TooLargeError,
  UnreachableError,
  UsageError,
} from "./errors.ts";
export type { ConnectOptions } from "./options.ts";
export { connect, type Signalbox } from "./signalbox.ts";
export { openTestSignalbox } from "./testing/test-signalbox.ts";
export type { FinishedTask, RunDueOptions, TestOptions, TestSignalbox } from "./testing/test-types.ts";
export { createTaskTracing } from "./tracing.ts";
export type {
  AcquireOptions,
  ClaimOptions,
  Duration,
  Held,
  Instant,
  JobOptions,
  JobQueue,
  JobReceipt,
  LockHolder,
  NewSchedule,
  PollOptions,
  PollWaitOptions,
  RateOptions,
  Schedule,
  ScheduleChanges,
  ScheduleFields,
  Schedules,
  SyncOptions,
  SyncResult,
  Task,
  TaskFacts,
  TaskHandler,
  TaskMiddleware,
  TaskSource,
  WatchOptions,
  Work,
  WorkerOptions,
  WorkerTask,
} from "./types.ts";
export type { TaskEnded, TaskStarted, TasksSkipped, WorkerEvents } from "./worker.ts";
export { Worker } from "./worker.ts";
