import { formatIso } from "../../core/base/clock.ts";
import { buildTraceHeaders, buildTraceVariables, createPartTrace } from "../../core/base/trace.ts";
import type { PredecessorEnd } from "../../schedule/state/due.ts";
import type { ScheduledTask } from "../handler.ts";
import { createTaskTrace } from "../task-trace.ts";

/**
 * Returns the task as one line of JSON, for the standard input of a command, for a module and for a web server.
 * @param lastCheckpoint  a text; commands have a file for it
 */
export function serializeTask(task: ScheduledTask, lastCheckpoint?: string): string {
  const { id, host, type, scheduled, late, attempt, run, token, definition, after } = task;
  const scheduledTime = formatIso(scheduled);
  const data = definition.data ?? null;
  return `${JSON.stringify({ id, host, type, scheduledTime, scheduled, late, attempt, run, token, data, after, lastCheckpoint })}\n`;
}

/** Builds the variables of a task, in addition to those of the definition. */
export function buildTaskEnv(task: ScheduledTask, host: string): Record<string, string> {
  const { id, type, scheduled, attempt, run, token, key, after = [] } = task;
  return {
    SIGNALBOX_SCHEDULE: id,
    SIGNALBOX_TYPE: type,
    SIGNALBOX_SCHEDULED: formatIso(scheduled),
    SIGNALBOX_SCHEDULED_MS: String(scheduled),
    SIGNALBOX_ATTEMPT: String(attempt),
    SIGNALBOX_RUN: run,
    SIGNALBOX_TOKEN: token,
    SIGNALBOX_RUNNING_KEY: key,
    SIGNALBOX_HOST: host,
    ...(after.length > 0 && buildAfterEnv(after)),
    ...buildTraceVariables(createPartTrace(createTaskTrace(task), "command")),
  };
}

/** Builds the variables that tell which schedules ended before. */
function buildAfterEnv(after: readonly PredecessorEnd[]): Record<string, string> {
  const join = (list: readonly (string | undefined)[]) => list.map((text = "") => text).join(",");
  return {
    SIGNALBOX_AFTER: join(after.map(({ id }) => id)),
    SIGNALBOX_AFTER_RUN: join(after.map(({ run }) => run)),
    SIGNALBOX_AFTER_RESULT: join(after.map(({ result }) => result)),
  };
}

/**
 * Builds the headers that tell a web server about a task. Requests with the same `idempotency-key` are for the same
 * occurrence; `signalbox-token` is the fencing token.
 */
export function buildTaskHeaders(task: ScheduledTask): Record<string, string> {
  const { scheduled, attempt, run, token } = task;
  const id = encodeURIComponent(task.id.toWellFormed()); // headers have no other characters than ASCII
  return {
    "user-agent": "signalbox",
    "idempotency-key": `${id}@${formatIso(scheduled)}${task.host === undefined ? "" : `@${encodeURIComponent(task.host)}`}`,
    "signalbox-schedule": id,
    "signalbox-scheduled": formatIso(scheduled),
    "signalbox-attempt": String(attempt),
    "signalbox-run": run,
    "signalbox-token": token,
    ...buildTraceHeaders(createPartTrace(createTaskTrace(task), "command")),
  };
}
