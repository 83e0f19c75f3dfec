import type { AuditRecord } from "../../protocol/audit.ts";
import type { PastRun } from "../../protocol/history.ts";
import { isFailure, type OccurrenceOutcome, type OutcomeHistory } from "../../schedule/state/outcome.ts";

/** Kinds of past events, the ones that need attention first. */
export const PAST_EVENT_KINDS = [
  "dead letter",
  "failed",
  "missed",
  "recovered",
  "drained",
  "undrained",
  "drain ended",
  "action",
  "host gone",
  "worker joined",
];
export type PastEventKind = (typeof PAST_EVENT_KINDS)[number];

/** Something that happened, as history shows it. */
export interface PastEvent {
  /** Wall clock of the host that wrote it, ms since the epoch. */
  at: number;
  kind: PastEventKind;
  /** `lock invoices`, `schedule backup`, `host web1.example.com`. */
  subject: string;
  /** What is known about it. Not cleaned. */
  detail: string;
}

/** Lists failures and recoveries of the runs of a lock. @param runs  newest first */
export function listLockEvents(lock: string, runs: readonly PastRun[]): PastEvent[] {
  return runs.flatMap((run, at): PastEvent[] => {
    const known = { at: run.endedAt, subject: `lock ${lock}` };
    const owner = `${run.host}:${run.pid}`;
    const why = [`exit code ${run.exit}`, run.reason].filter(Boolean).join(", ");
    if (run.exit !== 0) return [{ ...known, kind: "failed", detail: `${run.command} on ${owner}: ${why}` }];
    const before = runs[at + 1];
    const isRecovery = before !== undefined && before.exit !== 0;
    return isRecovery ? [{ ...known, kind: "recovered", detail: `${run.command} on ${owner}` }] : [];
  });
}

/** Lists failed, recovered and missed runs of a schedule, and its dead letters. */
export function listScheduleEvents(id: string, { runs, dead }: OutcomeHistory): PastEvent[] {
  const letters = dead.map((letter): PastEvent => buildOutcomeEvent(id, "dead letter", letter));
  const others = runs.flatMap((outcome, at) => {
    const kind = judgeOutcome(outcome, runs.slice(at + 1));
    return kind === undefined ? [] : [buildOutcomeEvent(id, kind, outcome)];
  });
  return [...letters, ...others];
}

function judgeOutcome(
  { result }: OccurrenceOutcome,
  older: readonly OccurrenceOutcome[],
): PastEventKind | undefined {
  if (isFailure(result)) return "failed";
  if (result === "skipped") return "missed";
  if (result !== "ok") return undefined;
  const before = older.find((one) => one.result === "ok" || isFailure(one.result));
  return before !== undefined && before.result !== "ok" ? "recovered" : undefined;
}

function buildOutcomeEvent(id: string, kind: PastEventKind, outcome: OccurrenceOutcome): PastEvent {
  const { result, endedAt, host, code, reason, count = 1 } = outcome;
  const parts = [
    kind === "recovered" ? undefined : result,
    count > 1 ? `${count} occurrences` : undefined,
    code === undefined ? undefined : `code ${code}`,
    reason,
    host === undefined ? undefined : `on ${host}`,
  ];
  return { at: endedAt, kind, subject: `schedule ${id}`, detail: parts.filter(Boolean).join(", ") };
}

const DRAIN_KINDS: Readonly<Record<string, PastEventKind>> = { drain: "drained", undrain: "undrained" };

/** Converts an action of an operator to an event. */
export function toAuditEvent({ at, action, target, user, host, reason, outcome }: AuditRecord): PastEvent {
  const kind = DRAIN_KINDS[action] ?? "action";
  const what = kind === "action" ? `${action} by` : "by";
  const detail = `${what} ${user}@${host}: ${[outcome, reason].filter(Boolean).join("; ")}`;
  return { at, kind, subject: target, detail };
}
