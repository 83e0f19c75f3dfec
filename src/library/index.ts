// The library: `import { connect } from "signalbox"`. Documented in docs/library.md and docs/library-api.md, which is
// generated from the docstrings of what is exported here.
export type { Log, LogFields } from "../base/log.ts";
export type { JobConflictRule, JobState } from "../operate/jobs.ts";
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
  JobFailedError,
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
export { connect } from "./signalbox.ts";
export { openTestSignalbox } from "./test-signalbox.ts";
export { createTaskTracing } from "./tracing.ts";
export type {
  AcquireOptions,
  BackfillSpan,
  CalendarDays,
  CalendarStore,
  ClaimOptions,
  ConnectOptions,
  CronOptions,
  CronTime,
  CronTimesOptions,
  Duration,
  FinishedTask,
  Held,
  Instant,
  Job,
  JobFilter,
  JobOptions,
  JobQueue,
  JobReceipt,
  LockHolder,
  NewJob,
  NewSchedule,
  PollOptions,
  PollWaitOptions,
  RateOptions,
  RunDueOptions,
  RunOutcome,
  Schedule,
  ScheduleChanges,
  ScheduleFields,
  ScheduleHistory,
  Schedules,
  Signalbox,
  SyncOptions,
  SyncResult,
  Task,
  TaskEnded,
  TaskFacts,
  TaskHandler,
  TaskMiddleware,
  TaskOverrun,
  TaskSource,
  TaskStarted,
  TasksSkipped,
  TestOptions,
  TestSignalbox,
  WatchOptions,
  Work,
  WorkerEvents,
  WorkerOptions,
  WorkerTask,
} from "./types.ts";
export { Worker } from "./worker.ts";
