import type { WallTime } from "../../core/base/clock.ts";
import { pickDefined } from "../../core/base/pick-defined.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import { formatAuditTarget, isDrainApplicable, isSameTarget } from "../../core/protocol/drain.ts";
import type { PastRun } from "../../core/protocol/history.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import type { Queue } from "../../core/protocol/ticket.ts";
import type { OccurrenceOutcome } from "../../schedule/state/outcome.ts";
import type { TimeSpan } from "./forecast.ts";
import { listPastDrains, type PastDrain } from "./past-drains.ts";
import { listPastUses, type PastUse } from "./resource-use.ts";
import { buildGroupMembers, type Execution, type Snapshot } from "./snapshot.ts";
import { buildHostReach } from "./view-context.ts";

/** What a run or a drain did for a while. */
export interface TimelineInterval {
  kind: "wait" | "hold" | "drain";
  /** Not cut to the span. */
  from: WallTime;
  /** Undefined if it goes on. */
  until?: WallTime;
  /** The run's id, or the operator who set the drain. */
  owner: string;
  /** Units of a resource. */
  units?: number;
  /** Exit code or result of an ended run. */
  result?: string;
  /** Where the run is or was, its process and its command, as far as they are stored. */
  host?: string | undefined;
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
 * Builds a track for each object that has an interval within the span. What runs and tasks used of resources is in the histories of
 * their locks and schedules. The end of a drain is known from the actions of operators.
 */
export function buildTimeline({ snapshot, outcomes }: TimelineInputs, span: TimeSpan): TimelineTrack[] {
  const tracks = new Map<string, TimelineInterval[]>();
  const add = (subject: string, intervals: readonly TimelineInterval[]) =>
    tracks.set(subject, [...(tracks.get(subject) ?? []), ...intervals]);
  for (const [lock, runs] of snapshot.histories) add(`lock ${lock}`, runs.flatMap(toLockIntervals));
  for (const { kind, name, entries } of snapshot.queues.values())
    add(`${kind} ${name}`, toQueueIntervals(kind, entries));
  for (const [resource, uses] of listPastUses({ histories: snapshot.histories, outcomes }))
    add(`resource ${resource}`, uses.flatMap(toUseIntervals));
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
  const reach = buildHostReach(buildGroupMembers(inputs.snapshot), host);
  const drains = listPastDrains(inputs.snapshot, span.until).filter((drain) =>
    isDrainApplicable(drain, reach),
  );
  const isHere = (one: string | undefined) =>
    one !== undefined && isSameTarget({ scope: "host", name: host }, { scope: "host", name: one });
  const tracks = buildTimeline(inputs, span).flatMap(({ subject, intervals }) => {
    const own = intervals.filter((one) => one.kind !== "drain" && isHere(one.host));
    return own.length === 0 ? [] : [{ subject, intervals: own }];
  });
  return [...cutTracks(new Map([[`host ${host}`, drains.map(toDrainInterval)]]), span), ...tracks];
}

function isWithin({ from, until = Infinity }: TimelineInterval, span: TimeSpan): boolean {
  return from <= span.until && until >= span.from;
}

/** Builds the interval of a hold, and that of the wait before it. @param own  what both have; `end`: what only the hold has */
function buildIntervals(
  { enqueuedAt, grantedAt }: { enqueuedAt: WallTime; grantedAt: WallTime },
  own: Pick<TimelineInterval, "owner" | "host" | "pid" | "command" | "units">,
  { until, ...end }: Pick<TimelineInterval, "until" | "result"> = {},
): TimelineInterval[] {
  const from = { from: grantedAt, ...(until !== undefined && { until }) };
  const hold: TimelineInterval = { kind: "hold", ...from, ...own, ...end };
  return grantedAt > enqueuedAt
    ? [{ kind: "wait", from: enqueuedAt, until: grantedAt, ...own }, hold]
    : [hold];
}

function toLockIntervals(past: PastRun): TimelineInterval[] {
  const { run: owner, host, pid, command, endedAt: until, exit } = past;
  return buildIntervals(past, { owner, host, pid, command }, { until, result: String(exit) });
}

function toUseIntervals(use: PastUse): TimelineInterval[] {
  const { run: owner, host, pid, command, units, endedAt: until, result } = use;
  return buildIntervals(use, { owner, host, units, ...pickDefined({ pid, command }) }, { until, result });
}

function toQueueIntervals(kind: QueueKind, entries: Queue): TimelineInterval[] {
  return entries.flatMap((entry): TimelineInterval[] => {
    const { ticket, run: owner } = entry;
    if (ticket === undefined) return [];
    const { enqueuedAt, grantedAt = enqueuedAt, host, pid, command, count } = ticket;
    const own = { owner, host, pid, command, ...(kind === "resource" && { units: count }) };
    return isHolding(entry)
      ? buildIntervals({ enqueuedAt, grantedAt }, own)
      : [{ kind: "wait", from: enqueuedAt, ...own }];
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
  return [{ kind: "hold", from: startedAt, until: endedAt, owner: run, host, result }];
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
    const isOfQueue = drain.scope === "lock" || drain.scope === "resource";
    if (isOfQueue && !tracks.has(own)) tracks.set(own, [interval]);
  }
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

/** What one run did with one object. Instants in ms since the epoch. */
export interface RunBar {
  /** `lock invoices`. */
  subject: string;
  run: string;
  host?: string;
  pid?: number;
  command?: string;
  /** When it began to wait; undefined if it did not wait. */
  waitedFrom?: WallTime;
  /** Since when it held; undefined if it waits, or ended without. */
  from?: WallTime;
  /** Undefined if it goes on. */
  until?: WallTime;
  /** Exit code or result of an ended run. */
  result?: string;
}

/** Joins the waits and holds of each run, in the order of their starts. */
export function buildRunBars(tracks: readonly TimelineTrack[]): RunBar[] {
  const bars = new Map<string, RunBar>();
  for (const { subject, intervals } of tracks)
    for (const [at, interval] of intervals.entries()) {
      if (interval.kind === "drain") continue;
      const { owner } = interval;
      const id = JSON.stringify(owner === "" ? [subject, at, ""] : [subject, owner]);
      bars.set(id, { ...joinInterval(bars.get(id), interval), subject });
    }
  const getStart = ({ waitedFrom, from = 0 }: RunBar) => waitedFrom ?? from;
  return [...bars.values()].sort((a, b) => getStart(a) - getStart(b));
}

function joinInterval(bar: RunBar | undefined, interval: TimelineInterval): Omit<RunBar, "subject"> {
  const { kind, from, until, owner, host, pid, command, result } = interval;
  const own = { ...bar, run: owner, ...pickDefined({ host, pid, command }) };
  if (kind === "wait")
    return { ...own, waitedFrom: from, ...(bar?.from === undefined && until !== undefined && { until }) };
  const { until: _, ...rest } = own;
  return { ...rest, from, ...pickDefined({ until, result }) };
}

/** Returns whether a run ended badly. */
export function isFailedResult(result: string | undefined): boolean {
  return result !== undefined && result !== "0" && result !== "ok";
}
