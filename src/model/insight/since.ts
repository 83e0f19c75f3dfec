import { HOST_RECORD_INTERVAL } from "../../fleet/host-record.ts";
import type { AuditRecord } from "../../protocol/audit.ts";
import { formatAuditTarget, hasEnded } from "../../protocol/drain.ts";
import { HISTORY_LENGTH, type PastRun } from "../../protocol/history.ts";
import type { Definition } from "../../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../../schedule/definition-values.ts";
import {
  DEAD_LETTERS_LENGTH,
  isFailure,
  type OccurrenceOutcome,
  type OutcomeHistory,
} from "../../schedule/state/outcome.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { TimeSpan } from "./forecast.ts";

/** What history is read from. Audit records before the span may be left out. */
export interface SinceInputs {
  snapshot: Pick<Snapshot, "histories" | "audit" | "drains" | "hosts" | "workers" | "schedules">;
  /** By the schedule's id. */
  outcomes: ReadonlyMap<string, OutcomeHistory>;
}

/** A history that does not reach back to the start of the span. */
export interface HistoryGap {
  subject: string;
  /** The history is complete from then on, ms since the epoch. */
  completeFrom: number;
}

/** What happened in a span of time. */
export interface SinceReport {
  /** Oldest first. */
  events: readonly PastEvent[];
  /** The histories with missing entries, the largest gap first. */
  gaps: readonly HistoryGap[];
  /** All histories are complete from then on, ms since the epoch. */
  completeFrom: number;
}

/** Events of one kind and subject. */
export interface PastEventGroup {
  kind: PastEvent["kind"];
  subject: string;
  times: number;
  last: PastEvent;
}

/** A host that has not renewed its record for so long may be gone, ms. */
const HOST_SILENCE = 6 * HOST_RECORD_INTERVAL;

/** Lists what happened, as far as stored state and history show it. */
export function listEventsSince({ snapshot, outcomes }: SinceInputs, span: TimeSpan): SinceReport {
  const { histories, audit, workers } = snapshot;
  const events = [
    ...[...histories].flatMap(([lock, runs]) => listLockEvents(lock, runs)),
    ...[...outcomes].flatMap(([id, history]) => listScheduleEvents(id, history)),
    ...[...audit.values()].map(toAuditEvent),
    ...listEndedDrains(snapshot, span.until),
    ...listSilentHosts(snapshot, span.until),
    ...[...workers].flatMap(([id, { value }]): PastEvent[] =>
      value === undefined
        ? []
        : [{ at: value.since, kind: "worker joined", subject: `worker ${id}`, detail: value.host }],
    ),
  ].filter(({ at }) => at >= span.from && at <= span.until);
  const gaps = listGaps({ snapshot, outcomes }).filter(({ completeFrom }) => completeFrom > span.from);
  return {
    events: events.sort((a, b) => a.at - b.at),
    gaps: gaps.sort((a, b) => b.completeFrom - a.completeFrom),
    completeFrom: gaps.reduce((latest, gap) => Math.max(latest, gap.completeFrom), span.from),
  };
}

/** Groups events by kind and subject: what needs attention first, then the newest. */
export function groupPastEvents(events: readonly PastEvent[]): PastEventGroup[] {
  const groups = new Map<string, PastEventGroup>();
  for (const event of events) {
    const { kind, subject } = event;
    const known = groups.get(`${kind}\n${subject}`);
    const last = known === undefined || event.at >= known.last.at ? event : known.last;
    groups.set(`${kind}\n${subject}`, { kind, subject, times: (known?.times ?? 0) + 1, last });
  }
  const rank = ({ kind }: PastEventGroup) => PAST_EVENT_KINDS.indexOf(kind);
  return [...groups.values()].sort((a, b) => rank(a) - rank(b) || b.last.at - a.last.at);
}

/** Lists drains that have ended by themselves. Their keys remain until a client deletes them. */
function listEndedDrains({ drains }: SinceInputs["snapshot"], wall: number): PastEvent[] {
  return [...drains.values()].flatMap((drain): PastEvent[] => {
    if (drain.until === undefined || !hasEnded(drain, wall)) return [];
    return [
      {
        at: drain.until,
        kind: "drain ended",
        subject: formatAuditTarget(drain),
        detail: `set by ${drain.by}`,
      },
    ];
  });
}

function listSilentHosts({ hosts }: SinceInputs["snapshot"], wall: number): PastEvent[] {
  return [...hosts.values()]
    .filter(({ seenAt }) => seenAt > 0 && wall - seenAt > HOST_SILENCE)
    .map(({ fqdn, seenAt }) => ({
      at: seenAt,
      kind: "host gone",
      subject: `host ${fqdn}`,
      detail: "last seen then",
    }));
}

function listGaps({ snapshot, outcomes }: SinceInputs): HistoryGap[] {
  const { histories, schedules } = snapshot;
  return [
    ...[...histories].flatMap(([lock, runs]) => toGap(`lock ${lock}`, findLockStart(runs))),
    ...[...outcomes].flatMap(([id, history]) => [
      ...toGap(`schedule ${id}`, findOutcomesStart(history, schedules.get(id)?.value)),
      ...toGap(`dead letters of ${id}`, history.dead[DEAD_LETTERS_LENGTH - 1]?.endedAt),
    ]),
    ...toGap("actions of operators", findAuditStart(snapshot)),
  ];
}

function toGap(subject: string, completeFrom: number | undefined): HistoryGap[] {
  return completeFrom === undefined ? [] : [{ subject, completeFrom }];
}

/** Returns from when on the history of a lock is complete; undefined if nothing was dropped. */
function findLockStart(runs: readonly PastRun[]): number | undefined {
  return runs[HISTORY_LENGTH - 1]?.endedAt;
}

/** The same for a schedule, which states how much is kept. */
function findOutcomesStart({ runs }: OutcomeHistory, definition: Definition | undefined): number | undefined {
  const { keep = SCHEDULE_DEFAULTS.keep, keepFor } = definition ?? {};
  const [newest] = runs;
  const starts = [
    runs[keep - 1]?.endedAt,
    keepFor === undefined || newest === undefined ? undefined : newest.endedAt - keepFor,
  ].filter((at) => at !== undefined);
  return starts.length === 0 ? undefined : Math.max(...starts);
}

/** Returns the time of the oldest action if older ones may have been deleted by `prune`. */
function findAuditStart({ audit }: SinceInputs["snapshot"]): number | undefined {
  const records = [...audit.values()];
  if (!records.some(({ action }) => action === "prune")) return undefined;
  return Math.min(...records.map(({ at }) => at));
}

/** Kinds of past events, the ones that need attention first. */
const PAST_EVENT_KINDS = [
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
type PastEventKind = (typeof PAST_EVENT_KINDS)[number];

/** Something that happened, as history shows it. */
interface PastEvent {
  /** Wall clock of the host that wrote it, ms since the epoch. */
  at: number;
  kind: PastEventKind;
  /** `lock invoices`, `schedule backup`, `host web1.example.com`. */
  subject: string;
  /** What is known about it. Not cleaned. */
  detail: string;
}

/** Lists failures and recoveries of the runs of a lock. @param runs  newest first */
function listLockEvents(lock: string, runs: readonly PastRun[]): PastEvent[] {
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
function listScheduleEvents(id: string, { runs, dead }: OutcomeHistory): PastEvent[] {
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
function toAuditEvent({ at, action, target, user, host, reason, outcome }: AuditRecord): PastEvent {
  const kind = DRAIN_KINDS[action] ?? "action";
  const what = kind === "action" ? `${action} by` : "by";
  const detail = `${what} ${user}@${host}: ${[outcome, reason].filter(Boolean).join("; ")}`;
  return { at, kind, subject: target, detail };
}
