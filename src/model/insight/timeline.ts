import { isHolding } from "../../protocol/admission.ts";
import { formatAuditTarget, hasEnded } from "../../protocol/drain.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { Queue } from "../../protocol/ticket.ts";
import type { OccurrenceOutcome } from "../../schedule/state/outcome.ts";
import type { Execution, Snapshot } from "../snapshot/snapshot.ts";
import type { TimeSpan } from "./forecast.ts";

/** What a run or a drain did for a while. */
export interface TimelineInterval {
  kind: "wait" | "hold" | "drain";
  /** ms since the epoch, not cut to the span. */
  from: number;
  /** Undefined if it goes on. */
  until?: number;
  /** The run's id, or the operator who set the drain. */
  owner: string;
  /** Exit code or result of an ended run. */
  result?: string;
}

/** The intervals of one object, in the order of their starts. */
export interface TimelineTrack {
  /** `lock invoices`, `resource db`, `schedule backup`. */
  subject: string;
  intervals: readonly TimelineInterval[];
}

/** What tracks are built from. */
export interface TimelineInputs {
  snapshot: Pick<Snapshot, "queues" | "histories" | "drains" | "executions">;
  /** Outcomes by the schedule's id. */
  outcomes: ReadonlyMap<string, readonly OccurrenceOutcome[]>;
}

/**
 * Builds a track for each object that has an interval within the span. The history of resources is not stored: they have
 * their current holders and waiters only. A drain that was lifted is not known.
 */
export function buildTimeline({ snapshot, outcomes }: TimelineInputs, span: TimeSpan): TimelineTrack[] {
  const tracks = new Map<string, TimelineInterval[]>();
  const add = (subject: string, intervals: readonly TimelineInterval[]) =>
    tracks.set(subject, [...(tracks.get(subject) ?? []), ...intervals]);
  for (const [lock, runs] of snapshot.histories) add(`lock ${lock}`, runs.flatMap(toLockIntervals));
  for (const { kind, name, entries } of snapshot.queues.values())
    add(`${kind} ${name}`, toQueueIntervals(entries));
  for (const [id, runs] of outcomes) add(`schedule ${id}`, runs.flatMap(toOutcomeInterval));
  for (const [id, running] of snapshot.executions)
    add(`schedule ${id}`, running.flatMap(toExecutionInterval));
  addDrains(tracks, snapshot.drains, span.until);
  return [...tracks].flatMap(([subject, all]) => {
    const intervals = all.filter((one) => isWithin(one, span)).sort((a, b) => a.from - b.from);
    return intervals.length === 0 ? [] : [{ subject, intervals }];
  });
}

function isWithin({ from, until = Number.POSITIVE_INFINITY }: TimelineInterval, span: TimeSpan): boolean {
  return from <= span.until && until >= span.from;
}

function toLockIntervals({ run, enqueuedAt, grantedAt, endedAt, exit }: PastRun): TimelineInterval[] {
  const wait: TimelineInterval = { kind: "wait", from: enqueuedAt, until: grantedAt, owner: run };
  const hold: TimelineInterval = {
    kind: "hold",
    from: grantedAt,
    until: endedAt,
    owner: run,
    result: String(exit),
  };
  return grantedAt > enqueuedAt ? [wait, hold] : [hold];
}

function toQueueIntervals(entries: Queue): TimelineInterval[] {
  return entries.flatMap((entry): TimelineInterval[] => {
    const { ticket, run: owner } = entry;
    if (ticket === undefined) return [];
    if (!isHolding(entry)) return [{ kind: "wait", from: ticket.enqueuedAt, owner }];
    const { enqueuedAt, grantedAt = enqueuedAt } = ticket;
    const hold: TimelineInterval = { kind: "hold", from: grantedAt, owner };
    return grantedAt > enqueuedAt
      ? [{ kind: "wait", from: enqueuedAt, until: grantedAt, owner }, hold]
      : [hold];
  });
}

function toOutcomeInterval({ startedAt, endedAt, run, result }: OccurrenceOutcome): TimelineInterval[] {
  if (startedAt === undefined) return [];
  return [{ kind: "hold", from: startedAt, until: endedAt, owner: run ?? "", result }];
}

function toExecutionInterval({ value }: Execution): TimelineInterval[] {
  return value === undefined ? [] : [{ kind: "hold", from: value.since, owner: value.run }];
}

/** Adds drains of locks and resources, and those of everything to each track. */
function addDrains(tracks: Map<string, TimelineInterval[]>, drains: Snapshot["drains"], wall: number): void {
  for (const drain of drains.values()) {
    const { at, by, until } = drain;
    const end = until !== undefined && hasEnded(drain, wall) ? { until } : {};
    const interval: TimelineInterval = { kind: "drain", from: at, owner: by, ...end };
    for (const [subject, intervals] of tracks)
      if (subject === formatAuditTarget(drain) || drain.scope === "all") intervals.push(interval);
    if ((drain.scope === "lock" || drain.scope === "resource") && !tracks.has(formatAuditTarget(drain)))
      tracks.set(formatAuditTarget(drain), [interval]);
  }
}
