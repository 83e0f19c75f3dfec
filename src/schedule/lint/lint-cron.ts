import { SignalboxError } from "../../base/errors.ts";
import { CronError } from "../cron/cron.ts";
import { checkZone } from "../cron/zone.ts";
import { type Plan, parsePlan } from "../plan/plan.ts";
import { lintClockChanges } from "./lint-clock.ts";
import { lintDays } from "./lint-days.ts";
import type { LintFinding } from "./lint-finding.ts";
import { lintTimes } from "./lint-times.ts";

export type { LintFinding } from "./lint-finding.ts";

/**
 * Finds possible problems with a cron expression in a time zone.
 * @param now ms since the epoch; clock changes within the following year are checked
 * @returns worst first; empty if there are no findings
 * @throws never
 */
export function lintCron(text: string, zone: string, now: number): readonly LintFinding[] {
  const cron = tryParse(() => parsePlan(text));
  const place = tryParse(() => checkZone(zone));
  if ("fault" in cron || "fault" in place)
    return [
      ...("fault" in cron ? [createErrorFinding(cron.fault.field ?? "cron", cron.fault.message)] : []),
      ...("fault" in place ? [createErrorFinding("timezone", place.fault.message)] : []),
    ];
  return lintParsed(cron.value, place.value, now).sort((a, b) => RANK[a.level] - RANK[b.level]);
}

const RANK = { error: 0, warning: 1, hint: 2 } as const;

function lintParsed(plan: Plan, zone: string, now: number): LintFinding[] {
  if (plan.kind !== "cron") return [];
  const { cron } = plan;
  return [...lintTimes(cron.fields), ...lintDays(cron.fields), ...lintClockChanges(cron, zone, now)];
}

function createErrorFinding(about: string, detail: string): LintFinding {
  return { level: "error", about, detail };
}

type ParseFault = { message: string; field?: string | undefined };

function tryParse<T>(read: () => T): { value: T } | { fault: ParseFault } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof CronError) return { fault: error };
    if (error instanceof SignalboxError) return { fault: { message: error.message } };
    throw error;
  }
}
