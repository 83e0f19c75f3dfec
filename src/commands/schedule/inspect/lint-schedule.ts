import { formatDuration } from "../../../base/duration.ts";
import { parseCron } from "../../../schedule/cron/cron.ts";
import { findOccurrenceAfter } from "../../../schedule/cron/occurrence.ts";
import type { Definition } from "../../../schedule/definition.ts";
import { type LintFinding, lintCron } from "../../../schedule/lint/lint-cron.ts";
import type { StoredSchedule } from "../../../work/schedules/stored-schedules.ts";

/** A finding, and the schedule it is about. */
export interface ScheduleLintFinding extends LintFinding {
  id?: string;
}

/** @param now  ms since the epoch */
export function lintSchedule(
  { id, definition, fault, due }: StoredSchedule,
  now: number,
): ScheduleLintFinding[] {
  if (definition === undefined)
    return [
      {
        id,
        level: "error",
        about: "definition",
        detail: `the definition cannot be read, so the schedule never fires: ${fault}`,
      },
    ];
  const { cron, timezone, end } = definition;
  const over: LintFinding[] =
    due !== undefined && due.next === undefined && end !== undefined
      ? [
          {
            level: "warning",
            about: "end",
            detail: "its end has passed, it never fires again",
            remedy: "delete the schedule",
          },
        ]
      : [];
  return [...lintCron(cron, timezone, now), ...over, ...lintSpan(definition, now)].map((one) => ({
    id,
    ...one,
  }));
}

/** Finds settings that do not fit the time between two occurrences. */
function lintSpan(definition: Definition, now: number): LintFinding[] {
  const { timezone, jitter = 0, timeout, deadline, overlap = "forbid", delay = 0 } = definition;
  const cron = parseCron(definition.cron);
  const first = findOccurrenceAfter(cron, timezone, now);
  const second = first === undefined ? undefined : findOccurrenceAfter(cron, timezone, first);
  if (first === undefined || second === undefined) return [];
  const span = second - first;
  const every = `it is due every ${formatDuration(span)}`;
  const findings: (LintFinding | false)[] = [
    jitter >= span && {
      ...HINT,
      about: "jitter",
      detail: `${formatDuration(jitter)} may be more than a period: ${every}`,
    },
    delay >= span && {
      ...HINT,
      about: "delay",
      detail: `${formatDuration(delay)} is more than a period: ${every}`,
    },
    overlap === "forbid" &&
      timeout !== undefined &&
      timeout > span && {
        ...HINT,
        about: "timeout",
        detail: `a run may take ${formatDuration(timeout)}, but ${every}: runs may be late`,
        remedy: "a shorter timeout, catchup latest, or overlap allow",
      },
    deadline !== undefined &&
      deadline < 1000 && {
        level: "warning",
        about: "deadline",
        detail: `${formatDuration(deadline)} is shorter than a worker may need to start a run: most occurrences will be skipped`,
      },
  ];
  return findings.filter((one) => one !== false);
}

const HINT = { level: "hint" } as const;
