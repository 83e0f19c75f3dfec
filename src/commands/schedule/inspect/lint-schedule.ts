import { formatDuration } from "../../../base/duration.ts";
import type { Calendars } from "../../../schedule/calendar/calendar.ts";
import { findCalendarFault } from "../../../schedule/calendar/day-rule.ts";
import type { Definition } from "../../../schedule/definition.ts";
import { type LintFinding, lintCron } from "../../../schedule/lint/lint-cron.ts";
import { parsePlan } from "../../../schedule/plan/plan.ts";
import { createPlanTimes } from "../../../schedule/plan/plan-times.ts";
import { createTiming } from "../../../schedule/timing.ts";
import type { StoredSchedule } from "../../../work/schedules/stored-schedules.ts";

/** A finding, and the schedule it is about. */
export interface ScheduleLintFinding extends LintFinding {
  id?: string;
}

/** @param now  ms since the epoch */
export function lintSchedule(
  { id, definition, fault, due }: StoredSchedule,
  now: number,
  calendars: Calendars,
): ScheduleLintFinding[] {
  if (definition === undefined) {
    const detail = `the definition cannot be read, so the schedule never fires: ${fault}`;
    return [{ id, level: "error", about: "definition", detail }];
  }
  const { cron, timezone, end } = definition;
  const isOver = due !== undefined && due.next === undefined && end !== undefined;
  const findings = [
    ...lintCron(cron, timezone, now),
    ...(isOver
      ? [createWarning("end", "its end has passed, it never fires again", "delete the schedule")]
      : []),
    ...lintSpan(definition, now),
    ...lintCalendars(definition, calendars, now),
  ];
  return findings.map((one) => ({ id, ...one }));
}

/** Finds calendars that prevent a schedule from firing. */
function lintCalendars(definition: Definition, calendars: Calendars, now: number): LintFinding[] {
  const fault = findCalendarFault(definition, calendars);
  if (fault !== undefined)
    return [{ level: "error", about: "calendars", detail: `${fault}, so the schedule does not fire` }];
  const isDue = parsePlan(definition.cron).kind !== "cron" || definition.end !== undefined;
  if (isDue || createTiming("", definition, calendars).findFrom(now) !== undefined) return [];
  return [
    { level: "error", about: "calendars", detail: "they exclude all its days, so the schedule never fires" },
  ];
}

/** Finds settings that do not fit the time between two occurrences. */
function lintSpan(definition: Definition, now: number): LintFinding[] {
  const { timezone, jitter = 0, timeout, deadline, overlap = "forbid", delay = 0 } = definition;
  const { findAfter } = createPlanTimes(parsePlan(definition.cron), timezone);
  const first = findAfter(now);
  const second = first === undefined ? undefined : findAfter(first);
  if (first === undefined || second === undefined) return [];
  const span = second - first;
  const every = `it is due every ${formatDuration(span)}`;
  const findings = [
    jitter >= span && createHint("jitter", `${formatDuration(jitter)} may be more than a period: ${every}`),
    delay >= span && createHint("delay", `${formatDuration(delay)} is more than a period: ${every}`),
    overlap === "forbid" &&
      timeout !== undefined &&
      timeout > span &&
      createHint(
        "timeout",
        `a run may take ${formatDuration(timeout)}, but ${every}: runs may be late`,
        "a shorter timeout, catchup latest, or overlap allow",
      ),
    deadline !== undefined &&
      deadline < 1000 &&
      createWarning(
        "deadline",
        `${formatDuration(deadline)} is shorter than a worker may need to start a run: most occurrences will be skipped`,
      ),
  ];
  return findings.filter((one) => one !== false);
}

function createHint(about: string, detail: string, remedy?: string): LintFinding {
  return { level: "hint", about, detail, ...(remedy !== undefined && { remedy }) };
}

function createWarning(about: string, detail: string, remedy?: string): LintFinding {
  return { ...createHint(about, detail, remedy), level: "warning" };
}
