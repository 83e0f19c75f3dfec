import { listHostGroups } from "../../fleet/groups.ts";
import { isHolding } from "../../protocol/admission.ts";
import { type DrainTarget, formatAuditTarget, isDrainApplicable } from "../../protocol/drain.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { Queue } from "../../protocol/ticket.ts";
import type { OccurrenceOutcome } from "../../schedule/state/outcome.ts";
import { buildGroupMembers, type Execution, type Snapshot } from "../snapshot/snapshot.ts";
import type { TimeSpan } from "./forecast.ts";
import { listPastDrains, type PastDrain } from "./past-drains.ts";

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
  /** Where the run is or was, its process and its command, as far as they are stored. */
  host?: string;
  pid?: number;
  command?: string;
  /** Only of drains: what is drained; and, if it is over, how it ended. */
  drained?: string;
  end?: PastDrain["end"];
}

/** The intervals of one object, in the order of their starts. */
export interface TimelineTrack {
  /** `lock invoices`, `resource db`, `schedule backup`. */
  subject: string;
  intervals: readonly TimelineInterval[];
}

/** What tracks are built from. */
export interface TimelineInputs {
  snapshot: Pick<Snapshot, "queues" | "histories" | "drains" | "executions" | "audit" | "groups">;
  /** Outcomes by the schedule's id. */
  outcomes: ReadonlyMap<string, readonly OccurrenceOutcome[]>;
}

/**
 * Builds a track for each object that has an interval within the span. The history of resources is not stored: they have
 * their current holders and waiters only. The end of a drain is known from the actions of operators.
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
  addDrains(tracks, listPastDrains(snapshot, span.until));
  return cutTracks(tracks, span);
}

function cutTracks(
  tracks: ReadonlyMap<string, readonly TimelineInterval[]>,
  span: TimeSpan,
): TimelineTrack[] {
  return [...tracks].flatMap(([subject, all]) => {
    const intervals = all.filter((one) => isWithin(one, span)).sort((a, b) => a.from - b.from);
    return intervals.length === 0 ? [] : [{ subject, intervals }];
  });
}

/** Builds the tracks of one host: what its runs hold and held, and drains of it, of its groups and of everything. */
export function buildHostTimeline(inputs: TimelineInputs, host: string, span: TimeSpan): TimelineTrack[] {
  const groups = listHostGroups(buildGroupMembers(inputs.snapshot), host);
  const drains = listPastDrains(inputs.snapshot, span.until).filter((drain) =>
    isDrainApplicable(drain, { resources: [], host, groups }),
  );
  const isHere = (one: string | undefined) =>
    one !== undefined &&
    isDrainApplicable({ scope: "host", name: host }, { resources: [], host: one, groups: [] });
  const tracks = buildTimeline(inputs, span).flatMap(({ subject, intervals }) => {
    const own = intervals.filter((one) => one.kind !== "drain" && isHere(one.host));
    return own.length === 0 ? [] : [{ subject, intervals: own }];
  });
  return [...cutTracks(new Map([[`host ${host}`, drains.map(toDrainInterval)]]), span), ...tracks];
}

function isWithin({ from, until = Number.POSITIVE_INFINITY }: TimelineInterval, span: TimeSpan): boolean {
  return from <= span.until && until >= span.from;
}

function toLockIntervals(past: PastRun): TimelineInterval[] {
  const { run: owner, host, pid, command, enqueuedAt, grantedAt, endedAt, exit } = past;
  const own = { owner, host, pid, command };
  const wait: TimelineInterval = { kind: "wait", from: enqueuedAt, until: grantedAt, ...own };
  const hold: TimelineInterval = {
    kind: "hold",
    from: grantedAt,
    until: endedAt,
    ...own,
    result: String(exit),
  };
  return grantedAt > enqueuedAt ? [wait, hold] : [hold];
}

function toQueueIntervals(entries: Queue): TimelineInterval[] {
  return entries.flatMap((entry): TimelineInterval[] => {
    const { ticket, run: owner } = entry;
    if (ticket === undefined) return [];
    const { enqueuedAt, grantedAt = enqueuedAt, host, pid, command } = ticket;
    const own = { owner, host, pid, command };
    if (!isHolding(entry)) return [{ kind: "wait", from: enqueuedAt, ...own }];
    const hold: TimelineInterval = { kind: "hold", from: grantedAt, ...own };
    return grantedAt > enqueuedAt
      ? [{ kind: "wait", from: enqueuedAt, until: grantedAt, ...own }, hold]
      : [hold];
  });
}

function toOutcomeInterval({
  startedAt,
  endedAt,
  run = "",
  host,
  result,
}: OccurrenceOutcome): TimelineInterval[] {
  if (startedAt === undefined) return [];
  return [
    {
      kind: "hold",
      from: startedAt,
      until: endedAt,
      owner: run,
      ...(host !== undefined && { host }),
      result,
    },
  ];
}

function toExecutionInterval({ value }: Execution): TimelineInterval[] {
  if (value === undefined) return [];
  const { since, run, host, pid } = value;
  return [{ kind: "hold", from: since, owner: run, host, pid }];
}

/** Adds drains of locks and resources, and those of everything to each track. */
function addDrains(tracks: Map<string, TimelineInterval[]>, drains: readonly PastDrain[]): void {
  for (const drain of drains) {
    const interval = toDrainInterval(drain);
    const own = formatAuditTarget(drain);
    for (const [subject, intervals] of tracks)
      if (subject === own || drain.scope === "all") intervals.push(interval);
    if (isQueueDrain(drain) && !tracks.has(own)) tracks.set(own, [interval]);
  }
}

function isQueueDrain({ scope }: DrainTarget): boolean {
  return scope === "lock" || scope === "resource";
}

/** Converts a drain. One whose end is not recorded is a point: it is not known how long it was active. */
function toDrainInterval(drain: PastDrain): TimelineInterval {
  const { by, from, end, until = end === "unknown" ? from : undefined } = drain;
  return {
    kind: "drain",
    from,
    owner: by,
    drained: formatAuditTarget(drain),
    end,
    ...(until !== undefined && { until }),
  };
}
