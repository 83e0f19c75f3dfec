import { formatDuration, formatInstant } from "../../../base/duration.ts";
import type { Log } from "../../../base/log.ts";
import type { WorkerEvent } from "../events.ts";

/** A start that is at least this late is logged, ms. */
const LATE_AFTER = 60_000;

/**
 * Logs worker events that the worker itself does not log: late starts, skipped occurrences, retries and final failures.
 */
export function logWorkerEvent(log: Log, event: WorkerEvent): void {
  if (event.kind === "started" && event.late >= LATE_AFTER)
    log.warn("started late", { schedule: event.id, late: formatDuration(event.late) });
  if (event.kind === "skipped") {
    const { count = 1, reason, scheduled } = event.outcome;
    log.warn("skipped", { schedule: event.id, scheduled: formatInstant(scheduled), count, reason });
  }
  if (event.kind !== "ended") return;
  const { id: schedule, outcome, again, isDead } = event;
  if (isDead) log.error("given up", { schedule, attempt: outcome.attempt, reason: outcome.reason });
  else if (again !== undefined) log.info("starts again", { schedule, at: formatInstant(again) });
}
