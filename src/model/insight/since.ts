import { HOST_RECORD_INTERVAL } from "../../fleet/host-record.ts";
import { formatAuditTarget, hasEnded } from "../../protocol/drain.ts";
import { HISTORY_LENGTH, type PastRun } from "../../protocol/history.ts";
import type { Definition } from "../../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../../schedule/definition-values.ts";
import { DEAD_LETTERS_LENGTH, type OutcomeHistory } from "../../schedule/state/outcome.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { TimeSpan } from "./forecast.ts";
import {
  listLockEvents,
  listScheduleEvents,
  PAST_EVENT_KINDS,
  type PastEvent,
  toAuditEvent,
} from "./recent-events.ts";

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
