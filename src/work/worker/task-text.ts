import type { Task } from "../schedule/handler.ts";

/** What a command reads on its standard input, and a module gets: the task as JSON in one line. */
export function taskText(task: Task): string {
  const { id, type, scheduled, late, attempt, run, token, definition } = task;
  const scheduledTime = instant(scheduled);
  return `${JSON.stringify({ id, type, scheduledTime, scheduled, late, attempt, run, token, data: definition.data ?? null })}\n`;
}

/** What it has in its environment beside the definition's own. */
export function taskEnv(task: Task, host: string): Record<string, string> {
  const { id, type, scheduled, attempt, run, token, key } = task;
  return {
    SIGNALBOX_SCHEDULE: id,
    SIGNALBOX_TYPE: type,
    SIGNALBOX_SCHEDULED: instant(scheduled),
    SIGNALBOX_SCHEDULED_MS: String(scheduled),
    SIGNALBOX_ATTEMPT: String(attempt),
    SIGNALBOX_RUN: run,
    SIGNALBOX_TOKEN: token,
    SIGNALBOX_RUNNING_KEY: key,
    SIGNALBOX_HOST: host,
  };
}

/** @param at  ms since the epoch */
function instant(at: number): string {
  return new Date(at).toISOString();
}
