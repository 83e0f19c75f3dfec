import { HOUR_MS, MINUTE_MS, type Millis, type WallTime } from "../../core/base/clock.ts";
import { createListMapper, memoizeWeakly } from "../../core/base/memoize.ts";
import { isHolding } from "../../core/protocol/admission.ts";
import type { QueueKind } from "../../core/protocol/keys.ts";
import { listStates } from "../../schedule/state/host-states.ts";
import { isFailure } from "../../schedule/state/outcome.ts";
import {
  type Claim,
  type ClaimEntry,
  countRuns,
  followClaims,
  getHeldSince,
  groupRuns,
} from "../../site/state/claims.ts";
import type { TimeSpan } from "../../site/state/forecast.ts";
import { computeQueueTally, findFullestShare, type ResourceShare } from "../../site/state/shares.ts";
import type { NamedQueue, Snapshot } from "../../site/state/snapshot.ts";
import { buildViewContext } from "../../site/state/view-context.ts";
import type { EtcdLoad } from "./etcd-members.ts";
import { buildHostRows, type HostRow, judgeHostState, SHARE_JSON } from "./hosts.ts";
import {
  describeChoice,
  describeCount,
  describeField,
  describeFlag,
  describeInstant,
  describeNumber,
  describeObject,
  describePart,
  describeParts,
  describeText,
} from "./json.ts";
import { findProblems, problemsView } from "./problems.ts";
import { describeQueueKind } from "./runs.ts";
import { buildScheduleRows, SCHEDULE_STATES, type ScheduleRow } from "./schedules.ts";
import { sortRange } from "./sort.ts";

/** The whole site at one moment. */
export interface Overview {
  counts: OverviewCounts;
  /** Sorted by name. */
  hosts: readonly HostLoad[];
  /** Queues with waiters, the longest first. */
  queues: readonly BusyQueue[];
  activity: Activity;
  /** Next runs of schedules, soonest first. */
  next: readonly NextRun[];
  /** The newest failure of each lock and schedule, newest first. */
  failures: readonly Failure[];
  /** Undefined if it was not asked for. */
  etcd: EtcdSummary | undefined;
}

export type Summary = Omit<Overview, "queues" | "next" | "failures">;

interface OverviewCounts {
  /** Runs that hold everything they claim, and runs that wait. */
  held: number;
  waiting: number;
  problems: number;
  drains: number;
  schedules: number;
  hosts: number;
  workers: number;
}

/** How busy a host is. */
export interface HostLoad {
  host: string;
  state: ReturnType<typeof judgeHostState>;
  isDrained: boolean;
  held: number;
  waiting: number;
  /** The resource of the host with the largest part in use; undefined if the host has none. */
  fullest: ResourceShare | undefined;
}

interface BusyQueue {
  kind: QueueKind;
  name: string;
  waiting: number;
  /** When the longest wait began. */
  since: WallTime | undefined;
  holders: number;
  used: number;
  total: number | undefined;
  /** How many waited, on average, in equal parts of the activity's span. The last value is the number of now. */
  trend: readonly number[];
}

interface NextRun {
  id: string;
  /** Earliest start. */
  at: WallTime;
  state: ScheduleRow["state"];
}

interface Failure {
  kind: "lock" | "schedule";
  name: string;
  /** `exit 3`, or the result of an occurrence. */
  result: string;
  endedAt: WallTime;
  host?: string;
  reason?: string | undefined;
}

/** What is known about etcd, as observe/etcd-cluster.ts reports it. */
export type EtcdSummary = EtcdAnswer | { kind: "silence"; since: WallTime; error: Error };

export interface EtcdAnswer {
  kind: "answer";
  /** Round trip. */
  ms: Millis;
  leader: string | undefined;
  /** Members that are available, and all. */
  up: number;
  total: number;
  version: string | undefined;
  load?: EtcdLoad;
}

export const OVERVIEW_COLLECTIONS = problemsView.collections;

interface OverviewOptions {
  /** How far back the activity begins, ms. Default: an hour, or less if nothing older is recorded. */
  span?: Millis;
  /** Parts of the activity. Default: 60. */
  buckets?: number;
  etcd?: EtcdSummary | undefined;
  /** Number of problems, if the caller knows it: to find them is the most expensive part. */
  problems?: number;
}

/** Maximum items of each list. */
export const MOST_OVERVIEW_ITEMS = 12;

/** Builds the overview of a site. */
export function buildOverview(snapshot: Snapshot, wall: WallTime, options: OverviewOptions = {}): Overview {
  const summary = buildSummary(snapshot, wall, options);
  const rows = buildScheduleRows(snapshot, buildViewContext(snapshot, wall));
  return {
    ...summary,
    queues: selectFirst(listWaited(snapshot), (queue) => -computeQueueTally(queue).waiting).map((queue) =>
      toBusyQueue(queue, snapshot, summary.activity),
    ),
    next: selectFirst(listNextRuns(rows), ({ at }) => at),
    failures: selectFirst(listFailures(snapshot), ({ endedAt }) => -endedAt),
  };
}

/** Builds the overview without its lists, for who has the rows of these. */
export function buildSummary(snapshot: Snapshot, wall: WallTime, options: OverviewOptions = {}): Summary {
  const { buckets = 60, etcd } = options;
  const { problems = findProblems(snapshot, wall).length } = options;
  const viewContext = buildViewContext(snapshot, wall);
  const rows = buildHostRows(snapshot, viewContext).sort((a, b) => (a.fqdn < b.fqdn ? -1 : 1));
  return {
    counts: {
      ...countRuns(snapshot),
      problems,
      drains: viewContext.drains.length,
      schedules: snapshot.schedules.size,
      hosts: rows.length,
      workers: snapshot.workers.size,
    },
    hosts: rows.map((row) => toHostLoad(row, wall)),
    activity: countActivity(snapshot, wall, buckets, options.span),
    etcd,
  };
}

function toHostLoad(row: HostRow, wall: WallTime): HostLoad {
  const { fqdn, drains, held, waiting, shares } = row;
  return {
    host: fqdn,
    state: judgeHostState(row, wall),
    isDrained: drains.length > 0,
    held,
    waiting,
    fullest: findFullestShare(shares),
  };
}

function* listWaited({ queues }: Snapshot): Iterable<NamedQueue> {
  for (const queue of queues.values()) if (computeQueueTally(queue).waiting > 0) yield queue;
}

/** Parts of the trend of a queue. */
const TREND_PARTS = 10;

function toBusyQueue(queue: NamedQueue, { histories }: Snapshot, span: TimeSpan): BusyQueue {
  const { kind, name } = queue;
  const { waiting, since, holders, used, total } = computeQueueTally(queue);
  const runs = kind === "lock" ? histories.get(name) : undefined;
  const own = {
    queues: new Map(),
    histories: new Map(runs && [[name, runs]]),
    executions: new Map(),
    dues: new Map(),
  };
  const tickets = readIntervals(queue.entries.map((entry) => [{ queue, entry }]));
  const { waiters } = countIntervals(listIntervals(own, span.from, [tickets]), span, TREND_PARTS);
  return { kind, name, waiting, since, holders, used, total, trend: [...waiters.slice(0, -1), waiting] };
}

function* listNextRuns(rows: readonly ScheduleRow[]): Iterable<NextRun> {
  for (const { id, next, state } of rows) if (next !== undefined) yield { id, at: next, state };
}

/** Lists the newest failure of each lock and schedule. */
function* listFailures({ histories, dues }: Snapshot): Iterable<Failure> {
  for (const [name, runs] of histories) {
    const failed = runs.find(({ exit }) => exit !== 0);
    if (failed === undefined) continue;
    const { exit, endedAt, host, reason } = failed;
    yield { kind: "lock", name, result: `exit ${exit}`, endedAt, host, reason };
  }
  for (const [name, { value }] of dues)
    for (const [host, { last }] of listStates(value))
      if (last !== undefined && isFailure(last.result)) {
        const { result, endedAt } = last;
        yield { kind: "schedule", name, result, endedAt, ...(host !== undefined && { host }) };
      }
}

/** Returns the few items with the smallest values, in order. Sorts only these: there may be many thousand items. */
export function selectFirst<T>(
  items: Iterable<T>,
  getValue: (item: T) => number,
  most = MOST_OVERVIEW_ITEMS,
): T[] {
  return [...sortRange(items, (a, b) => getValue(a) - getValue(b), { to: most })];
}

/** What JSON output says about etcd. */
interface EtcdReport extends Partial<Omit<EtcdAnswer, "kind">> {
  answers: boolean;
  error?: string;
}

function toEtcdReport(etcd: EtcdSummary): EtcdReport {
  if (etcd.kind === "silence") return { answers: false, error: etcd.error.message };
  const { ms, leader, up, total, version } = etcd;
  return { answers: true, ms: Math.round(ms), leader, up, total, version };
}

const ETCD_JSON = describeObject<EtcdReport>("etcdHealth", "Whether etcd answers.", {
  answers: describeFlag("whether it answers", "answers"),
  "ms?": describeNumber("round trip of a read, ms", "ms"),
  "leader?": describeText("name of the leader", "leader"),
  "up?": describeCount("number of members that are available", "up"),
  "total?": describeCount("number of members", "total"),
  "version?": describeText("lowest version of the members", "version"),
  "error?": describeText("why it does not answer", "error"),
});

const numbers = { type: "array", items: { type: "number" } } as const;

export const OVERVIEW_JSON = describeObject<Overview>("overview", "`signalbox overview --json`", {
  counts: describePart(
    describeObject<OverviewCounts>("counts", "Numbers of the whole site.", {
      held: describeCount("runs that hold everything they claim", "held"),
      waiting: describeCount("runs that wait", "waiting"),
      problems: describeCount("rows of `ls problems`", "problems"),
      drains: describeCount("drains that have not ended", "drains"),
      schedules: describeCount("schedules", "schedules"),
      hosts: describeCount("rows of `ls hosts`", "hosts"),
      workers: describeCount("workers", "workers"),
    }),
    ({ counts }) => counts,
  ),
  hosts: describeParts(
    describeObject<HostLoad>("hostLoad", "How busy a host is.", {
      host: describeText("full name", "host"),
      state: describeField({ type: "string", description: "state, as in `ls hosts`" }, "state"),
      drained: describeFlag("whether it, one of its groups or everything is drained", "isDrained"),
      holds: describeCount("runs that hold everything they claim", "held"),
      waits: describeCount("runs that wait", "waiting"),
      "fullest?": describePart(SHARE_JSON, ({ fullest }) => fullest),
    }),
    "all hosts, by name",
    ({ hosts }) => hosts,
  ),
  queues: describeParts(
    describeObject<BusyQueue>("busyQueue", "A lock or resource with waiters.", {
      kind: describeQueueKind(({ kind }) => kind),
      name: describeText("its name", "name"),
      waiting: describeCount("number of waiters", "waiting"),
      "since?": describeInstant("start of the longest wait", "since"),
      holders: describeCount("number of holders", "holders"),
      used: describeCount("units held", "used"),
      "total?": describeCount("total units, as the first ticket states", "total"),
    }),
    "queues with waiters, the longest first",
    ({ queues }) => queues,
  ),
  activity: describePart(
    describeObject<Activity>(
      "activity",
      "How many runs held and waited, on average, in equal parts of a span of time. Runs that only leased resources and have ended, and runs that gave up waiting, are not recorded; the history of a lock has its last 20 runs, and of a schedule the last one counts.",
      {
        from: describeInstant("start of the span", "from"),
        until: describeInstant("end of the span", "until"),
        holders: describeField({ ...numbers, description: "runs that held" }, "holders"),
        waiters: describeField({ ...numbers, description: "runs that waited" }, "waiters"),
        failures: describeField({ ...numbers, description: "runs that ended and had failed" }, "failures"),
      },
    ),
    ({ activity }) => activity,
  ),
  next: describeParts(
    describeObject<NextRun>("nextRun", "The next run of a schedule.", {
      schedule: describeText("id of the schedule", "id"),
      at: describeInstant("earliest start", "at"),
      state: describeChoice(SCHEDULE_STATES, "state of the schedule", "state"),
    }),
    "next runs, soonest first",
    ({ next }) => next,
  ),
  failures: describeParts(
    describeObject<Failure>("failure", "The newest failure of a lock or schedule.", {
      kind: describeChoice(["lock", "schedule"], "kind of object", "kind"),
      name: describeText("its name", "name"),
      result: describeText("exit code of the run, or result of the occurrence", "result"),
      endedAt: describeInstant("time of the end", "endedAt"),
      "host?": describeText("full name of the run's host", "host"),
      "reason?": describeText("why signalbox ended the command, if it did", "reason"),
    }),
    "newest first",
    ({ failures }) => failures,
  ),
  "etcd?": describePart(ETCD_JSON, ({ etcd }) => etcd && toEtcdReport(etcd)),
});

/** How many runs held and waited, on average, in each of some equal parts of a span of time, and how many failed. */
interface Activity extends TimeSpan {
  holders: readonly number[];
  waiters: readonly number[];
  /** How many runs ended in each part and had failed. */
  failures: readonly number[];
}

/** The spans of an activity, ms: the shortest that has all runs is used. */
const ACTIVITY_SPANS_MS = [5, 10, 20, 40].map((minutes) => minutes * MINUTE_MS);

/**
 * Counts the runs that held or waited, from what is stored: all tickets, the last runs of each lock, the running
 * occurrences of schedules, and the last one that ended. Not recorded, and so not counted: runs that only leased
 * resources and have ended, runs that gave up waiting, and what the history of a busy lock or of a schedule does not
 * keep. A run counts once, whatever it claims.
 */
function countActivity(
  snapshot: Snapshot,
  wall: WallTime,
  buckets: number,
  span: Millis | undefined,
): Activity {
  const most = span ?? HOUR_MS;
  const intervals = listIntervals(snapshot, wall - most);
  const age = wall - intervals.oldest;
  const fitting = span ?? (Number.isFinite(age) ? ACTIVITY_SPANS_MS.find((length) => length >= age) : most);
  return countIntervals(intervals, { from: wall - (fitting ?? most), until: wall }, buckets);
}

type ActivitySnapshot = Pick<Snapshot, "queues" | "histories" | "executions" | "dues">;

/** The beginnings and ends of intervals, one after the other. Those that go on end at infinity. */
type Ends = WallTime[];

/** When runs waited and held. */
interface RunIntervals {
  waits: Ends;
  holds: Ends;
  /** When the earliest of them began; infinity if there are no intervals. */
  oldest: WallTime;
}

/** The intervals of tickets, by lists of runs, and the others. */
interface AllIntervals extends RunIntervals {
  lists: readonly RunIntervals[];
  /** When runs have ended and failed. */
  failures: readonly WallTime[];
}

const mapRuns = createListMapper<readonly Claim[], RunIntervals>();
/** Reads a list of runs once while it does not change: there may be a hundred thousand runs. */
const readRuns = memoizeWeakly((runs: readonly Claim[]) => readIntervals(runs.map(({ entries }) => entries)));

/** Lists the intervals that go on at an instant, or are later. */
function listIntervals(
  snapshot: ActivitySnapshot,
  start: WallTime,
  lists: readonly RunIntervals[] = mapRuns(groupRuns(snapshot), readRuns),
): AllIntervals {
  const tasks = listTasks(snapshot);
  const claims = tasks.size === 0 ? new Map() : followClaims(snapshot);
  for (const run of tasks.keys()) if (claims.has(run)) tasks.delete(run);
  const [waits, holds, failures]: [Ends, Ends, WallTime[]] = [[], [], []];
  let oldest = lists.reduce((least, own) => Math.min(least, own.oldest), Number.POSITIVE_INFINITY);
  for (const runs of snapshot.histories.values())
    for (const { run, enqueuedAt, grantedAt, endedAt, exit } of runs) {
      if (endedAt < start) continue;
      if (tasks.size > 0) tasks.delete(run);
      oldest = Math.min(oldest, enqueuedAt);
      waits.push(enqueuedAt, grantedAt);
      holds.push(grantedAt, endedAt);
      if (exit !== 0) failures.push(endedAt);
    }
  for (const { from, until = Number.POSITIVE_INFINITY, hasFailed } of tasks.values()) {
    if (until < start) continue;
    oldest = Math.min(oldest, from);
    holds.push(from, until);
    if (hasFailed) failures.push(until);
  }
  return { lists, waits, holds, failures, oldest };
}

/** @param runs  the entries of each run */
function readIntervals(runs: readonly (readonly ClaimEntry[])[]): RunIntervals {
  const [waits, holds]: [Ends, Ends] = [[], []];
  let oldest = Number.POSITIVE_INFINITY;
  for (const entries of runs) {
    const { enqueuedAt, grantedAt } = readClaimTimes(entries);
    if (enqueuedAt === undefined) continue;
    oldest = Math.min(oldest, enqueuedAt);
    waits.push(enqueuedAt, grantedAt ?? Number.POSITIVE_INFINITY);
    if (grantedAt !== undefined) holds.push(grantedAt, Number.POSITIVE_INFINITY);
  }
  return { waits: waits.slice(), holds: holds.slice(), oldest }; // in their exact length
}

function countIntervals(
  { lists, failures, ...others }: AllIntervals,
  span: TimeSpan,
  buckets: number,
): Activity {
  const [holders, waiters] = [createLoadCounter(span, buckets), createLoadCounter(span, buckets)];
  for (const { waits, holds } of [...lists, others]) {
    waiters.add(waits);
    holders.add(holds);
  }
  const failed = Array.from({ length: buckets }, () => 0);
  for (const at of failures) {
    const bucket = Math.ceil(((at - span.from) * buckets) / Math.max(1, span.until - span.from)) - 1;
    if (failed[bucket] !== undefined) failed[bucket] += 1;
  }
  return {
    ...span,
    failures: failed,
    holders: holders.computeAverages(),
    waiters: waiters.computeAverages(),
  };
}

/** When a run was enqueued and granted; undefined if it was not, or its ticket cannot be read. */
interface ClaimTimes {
  enqueuedAt: WallTime | undefined;
  grantedAt: WallTime | undefined;
}

function readTimes({ entry }: ClaimEntry): ClaimTimes {
  const { ticket } = entry;
  const grantedAt = isHolding(entry) ? getHeldSince(ticket) : undefined;
  return { enqueuedAt: ticket?.enqueuedAt, grantedAt };
}

/** A run waits from its first ticket until it is granted in its last queue. */
function readClaimTimes(entries: readonly ClaimEntry[]): ClaimTimes {
  const [only] = entries;
  if (only !== undefined && entries.length === 1) return readTimes(only); // as of most of a hundred thousand
  const times = entries.map(readTimes);
  const begins = times.flatMap(({ enqueuedAt }) => enqueuedAt ?? []);
  const grants = times.flatMap(({ grantedAt }) => grantedAt ?? []);
  return {
    enqueuedAt: begins.length === 0 ? undefined : Math.min(...begins),
    grantedAt: grants.length < entries.length ? undefined : Math.max(...grants),
  };
}

/** When an occurrence began and ended. */
interface TaskTimes {
  from: WallTime;
  until?: WallTime;
  hasFailed?: boolean;
}

/** Lists the occurrences of schedules that run, and the last ones that ended, by run. `until` is undefined while it runs. */
function listTasks({ executions, dues }: ActivitySnapshot): Map<string, TaskTimes> {
  const tasks = new Map<string, TaskTimes>();
  for (const { value } of dues.values())
    for (const [, { last }] of listStates(value))
      if (last !== undefined && last.endedAt > last.startedAt) {
        const { run, startedAt: from, endedAt: until, result } = last;
        tasks.set(run, { from, until, hasFailed: isFailure(result) });
      }
  for (const { value } of [...executions.values()].flat())
    if (value !== undefined) tasks.set(value.run, { from: value.since });
  return tasks;
}

/** Creates what adds up intervals in equal parts of a span. The work for an interval does not depend on its length. */
function createLoadCounter(span: TimeSpan, buckets: number) {
  const perMs = buckets / Math.max(1, span.until - span.from);
  /** What intervals that begin or end in a bucket fill of it. */
  const parts = new Float64Array(buckets + 1);
  /** By how many the intervals that fill whole buckets change at each. */
  const changes = new Float64Array(buckets + 2);
  const add = (values: Float64Array, at: number, by: number) => {
    values[at] = (values[at] ?? 0) + by;
  };
  const addInterval = (from: WallTime, until: WallTime) => {
    const start = Math.max(0, (from - span.from) * perMs);
    const end = Math.min(buckets, (until - span.from) * perMs);
    if (!(end > start)) return;
    const [first, last] = [Math.floor(start), Math.floor(end)];
    if (first === last) return add(parts, first, end - start);
    add(parts, first, first + 1 - start);
    add(parts, last, end - last);
    add(changes, first + 1, 1);
    add(changes, last, -1);
  };
  return {
    /** What is outside of the span is cut. */
    add(ends: Ends): void {
      for (let at = 0; at < ends.length; at += 2) addInterval(ends[at] ?? 0, ends[at + 1] ?? 0);
    },

    /** Rounded to hundredths: sums of parts are not exact. */
    computeAverages(): number[] {
      let whole = 0;
      return Array.from({ length: buckets }, (_, at) => {
        whole += changes[at] ?? 0;
        return Math.round((whole + (parts[at] ?? 0)) * 100) / 100;
      });
    },
  };
}
