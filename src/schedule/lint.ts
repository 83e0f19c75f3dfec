import { SignalboxError } from "../base/errors.ts";
import { type Cron, CronError, parseCron } from "./cron.ts";
import { clockFindings } from "./lint-clock.ts";
import { dayFindings } from "./lint-days.ts";
import type { LintFinding } from "./lint-finding.ts";
import { timeFindings } from "./lint-times.ts";
import { checkZone } from "./zone.ts";

export type { LintFinding } from "./lint-finding.ts";

/**
 * What may be wrong with a cron text in a time zone.
 * @param now  ms since the epoch; clock changes of the year after are looked at
 * @returns worst first; none where there is nothing to say
 * @throws never
 */
export function lintCron(text: string, zone: string, now: number): readonly LintFinding[] {
  const cron = readBy(() => parseCron(text));
  const place = readBy(() => checkZone(zone));
  if ("fault" in cron || "fault" in place)
    return [
      ...("fault" in cron ? [fatal(cron.fault.field ?? "cron", cron.fault.message)] : []),
      ...("fault" in place ? [fatal("timezone", place.fault.message)] : []),
    ];
  return findingsOf(cron.value, place.value, now).sort((a, b) => RANK[a.level] - RANK[b.level]);
}

const RANK = { error: 0, warning: 1, hint: 2 } as const;

function findingsOf(cron: Cron, zone: string, now: number): LintFinding[] {
  return [...timeFindings(cron.fields), ...dayFindings(cron.fields), ...clockFindings(cron, zone, now)];
}

function fatal(about: string, detail: string): LintFinding {
  return { level: "error", about, detail };
}

type Fault = { message: string; field?: string | undefined };

function readBy<T>(read: () => T): { value: T } | { fault: Fault } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof CronError) return { fault: error };
    if (error instanceof SignalboxError) return { fault: { message: error.message } };
    throw error;
  }
}
