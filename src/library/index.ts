// The library: `import { connect } from "signalbox"`. Documented in docs/library.md and docs/library-api.md, which is
// generated from the docstrings of what is exported here.
export type { Log, LogFields } from "../core/base/log.ts";
export type { LossKind, RefusalKind } from "../core/run/claim-errors.ts";
export type { ExclusionRule } from "../schedule/calendar/day-rule.ts";
export type { LintFinding } from "../schedule/cron/lint.ts";
export type {
  Catchup,
  ChainCondition,
  HookName,
  Overlap,
  RemovalCondition,
} from "../schedule/definition-values.ts";
export type { OccurrenceResult } from "../schedule/state/outcome.ts";
export type { JobConflictRule, JobState } from "../site/operate/jobs.ts";
export {
  explainCronText,
  lintCronText,
  listCronTimes,
} from "./cron-helpers.ts";
export * from "./errors.ts";
export { connect } from "./signalbox.ts";
export { openTestSignalbox } from "./test-signalbox.ts";
export { createTaskTracing } from "./tracing.ts";
export type * from "./types.ts";
export { Worker } from "./worker.ts";
