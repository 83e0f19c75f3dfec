import type { WallTime } from "../../core/base/clock.ts";
import { clean } from "../../core/base/text.ts";
import { hasEnded } from "../../core/protocol/drain.ts";
import { DRAIN_SCOPES, type Keys } from "../../core/protocol/keys.ts";
import type { WatchEvent } from "../../core/protocol/txn.ts";
import { computeQueueTally, computeShares, type QueueTally } from "../../site/state/shares.ts";
import type { NamedQueue, Snapshot } from "../../site/state/snapshot.ts";
import { buildViewContext } from "../../site/state/view-context.ts";
import { computeHostAgents, type HostAgent, sumDeclined } from "./hosts.ts";
import { findProblems } from "./problems.ts";
import { buildScheduleRows, SCHEDULE_STATES } from "./schedules.ts";

/** Computes the metrics of a snapshot. */
export function measureSnapshot(snapshot: Snapshot, wall: WallTime): MetricFamily[] {
  const drained = new Map<string, number>(DRAIN_SCOPES.map((scope) => [scope, 0]));
  for (const drain of snapshot.drains.values())
    if (!hasEnded(drain, wall)) drained.set(drain.scope, (drained.get(drain.scope) ?? 0) + 1);
  return [
    createMetric("etcd_revision", "Revision of etcd that all metrics describe.", Number(snapshot.revision)),
    ...measureQueues(snapshot, wall),
    ...measureHistories(snapshot),
    createLabelledMetric("drains", "Active drains, by scope.", "scope", drained),
    createMetric("hosts", "Hosts with a host record.", snapshot.hosts.size),
    ...measureAgents(snapshot),
    measureProblems(snapshot, wall),
    ...measureSchedules(snapshot, wall),
  ];
}

function measureProblems(snapshot: Snapshot, wall: WallTime): MetricFamily {
  const counts = new Map<string, { level: string; kind: string; count: number }>();
  for (const { level, kind } of findProblems(snapshot, wall)) {
    const known = counts.get(`${level}/${kind}`) ?? { level, kind, count: 0 };
    counts.set(`${level}/${kind}`, { ...known, count: known.count + 1 });
  }
  const samples = [...counts.values()].map(({ count, ...labels }) => [labels, count] as const);
  return { name: "problems", help: "Problems that an operator should look at.", samples };
}

/** Measures the agents of all hosts, by their keys. */
export function measureAgents(snapshot: Snapshot): MetricFamily[] {
  const agents = [...computeHostAgents(snapshot).values()].flat();
  const versions = Map.groupBy(agents, ({ version }) => version);
  const counts = [...versions].map(([version, own]) => [version, own.length] as const);
  const sum = (getNumber: (agent: HostAgent) => number) =>
    agents.reduce((total, agent) => total + getNumber(agent), 0);
  return [
    createLabelledMetric("agents", "Agents that have a session, by version.", "version", counts),
    createMetric(
      "agent_holders",
      "Runs of agents that hold a claim.",
      sum(({ held }) => held),
    ),
    createMetric(
      "agent_waiters",
      "Runs of agents that wait.",
      sum(({ waiting }) => waiting),
    ),
    createLabelledMetric(
      "agent_declined",
      "Calls that the agents have declined since their start, by reason.",
      "reason",
      sumDeclined(agents),
    ),
  ];
}

const CLOCKS = ["ok", "warns", "refuses", "malformed"];

/** Maximum number of schedules with their own series. There may be 100,000 schedules; the last ones to end are shown. */
const MOST_SCHEDULES = 1_000;

/** Measures schedules and workers. */
function measureSchedules(snapshot: Snapshot, wall: WallTime): MetricFamily[] {
  const states = new Map<string, number>(SCHEDULE_STATES.map((state) => [state, 0]));
  let lateness = 0;
  for (const { state, states: all, next } of buildScheduleRows(snapshot, buildViewContext(snapshot, wall))) {
    states.set(state, (states.get(state) ?? 0) + 1);
    if (all.includes("late") && next !== undefined) lateness = Math.max(lateness, wall - next);
  }
  const tasks = [...snapshot.executions.values()].reduce((sum, { length }) => sum + length, 0);
  return [
    createLabelledMetric("schedules", "Schedules, each by the first of its states.", "state", states),
    createMetric(
      "schedule_lateness_seconds",
      "How late the most overdue schedule is that no worker takes.",
      lateness / 1_000,
    ),
    createMetric("tasks_running", "Occurrences of schedules that run.", tasks),
    ...measureSuccesses(snapshot),
    ...measureWorkers(snapshot),
  ];
}

function measureSuccesses({ dues }: Snapshot): MetricFamily[] {
  const ended = [...dues].flatMap(([schedule, { value }]) => {
    const { last, succeededAt } = value ?? {};
    if (last === undefined) return [];
    const success = succeededAt ?? (last.result === "ok" ? last.endedAt : undefined); // an older worker has written it
    return [{ schedule, endedAt: last.endedAt, success }];
  });
  const shown = ended.sort((a, b) => b.endedAt - a.endedAt).slice(0, MOST_SCHEDULES);
  return [
    ...measureItems(shown, ({ schedule }) => ({ schedule }), [
      [
        "schedule_last_success_timestamp_seconds",
        "When an occurrence of the schedule last succeeded, in seconds since the epoch.",
        ({ success }) => success && success / 1_000,
      ],
      [
        "schedule_last_end_timestamp_seconds",
        "When an occurrence of the schedule last ended, in seconds since the epoch.",
        ({ endedAt }) => endedAt / 1_000,
      ],
    ]),
    createMetric(
      "schedules_left_out",
      "Schedules that have run and have no series of their own.",
      ended.length - shown.length,
    ),
  ];
}

function measureWorkers({ workers }: Snapshot): MetricFamily[] {
  const clocks = new Map(CLOCKS.map((clock) => [clock, 0]));
  let slots = 0;
  let leaving = 0;
  for (const { value } of workers.values()) {
    const clock = value?.clock ?? "malformed";
    clocks.set(clock, (clocks.get(clock) ?? 0) + 1);
    if (value?.isLeaving) leaving += 1;
    else slots += value?.concurrency ?? 0;
  }
  return [
    createLabelledMetric("workers", "Workers, by the state of their clocks.", "clock", clocks),
    createMetric("workers_leaving", "Workers that take no more tasks.", leaving),
    createMetric("worker_slots", "Tasks that the other workers may run at once.", slots),
  ];
}

/** Maximum number of locks with their own series: the locks with the longest wait. */
const MOST_LOCKS = 100;
/** Maximum number of resources with their own series. */
const MOST_RESOURCES = 2_000;

/** Measures locks and resources. */
function measureQueues(snapshot: Snapshot, wall: WallTime): MetricFamily[] {
  const queues = [...snapshot.queues.values()];
  const locks = queues.filter(({ kind }) => kind === "lock");
  const resources = queues.filter(({ kind }) => kind === "resource");
  const kinds = [
    { kind: "lock", tallies: locks.map(computeQueueTally) },
    { kind: "resource", tallies: resources.map(computeQueueTally) },
  ];
  return [
    ...measureItems(kinds, ({ kind }) => ({ kind }), listKindMetrics(wall)),
    ...measureLocks(locks, wall),
    ...measureResources(snapshot),
  ];
}

/** Lists the metrics of all locks together, and of all resources together. */
function listKindMetrics(wall: WallTime): ItemMetric<{ tallies: readonly QueueTally[] }>[] {
  return [
    ["queues", "Locks and resources that are held or waited for.", ({ tallies }) => tallies.length],
    [
      "holders",
      "Runs that hold a lock or units.",
      ({ tallies }) => tallies.reduce((sum, { holders }) => sum + holders, 0),
    ],
    [
      "waiters",
      "Runs that wait for a lock or units.",
      ({ tallies }) => tallies.reduce((sum, { waiting }) => sum + waiting, 0),
    ],
    [
      "waited_queues",
      "Locks and resources with waiting runs.",
      ({ tallies }) => tallies.filter(({ waiting }) => waiting > 0).length,
    ],
    [
      "oldest_wait_seconds",
      "How long the longest waiting run has waited.",
      ({ tallies }) =>
        computeSecondsSince(
          tallies.map(({ since }) => since),
          wall,
        ),
    ],
    [
      "oldest_hold_seconds",
      "How long the longest holding run has held.",
      ({ tallies }) =>
        computeSecondsSince(
          tallies.map(({ heldSince }) => heldSince),
          wall,
        ),
    ],
  ];
}

/** Returns the seconds since the first of some instants: 0 if there is none or, because clocks differ, in the future. */
function computeSecondsSince(instants: readonly (number | undefined)[], wall: WallTime): number {
  return instants.reduce<number>((most, instant = wall) => Math.max(most, wall - instant), 0) / 1_000;
}

function measureLocks(locks: readonly NamedQueue[], wall: WallTime): MetricFamily[] {
  const getStart = (lock: NamedQueue) => computeQueueTally(lock).since ?? Number.POSITIVE_INFINITY;
  const waited = locks.filter((lock) => computeQueueTally(lock).waiting > 0);
  const shown = waited.sort((a, b) => getStart(a) - getStart(b)).slice(0, MOST_LOCKS);
  return [
    ...measureItems(shown, ({ name }) => ({ lock: name }), [
      ["lock_waiters", "Runs that wait for a lock.", (lock) => computeQueueTally(lock).waiting],
      [
        "lock_oldest_wait_seconds",
        "How long the longest waiting run of a lock has waited.",
        (lock) => computeSecondsSince([computeQueueTally(lock).since], wall),
      ],
    ]),
    createMetric(
      "locks_left_out",
      "Locks with waiters that have no series of their own.",
      waited.length - shown.length,
    ),
  ];
}

function measureResources(snapshot: Snapshot): MetricFamily[] {
  const { hosts, others } = computeShares(snapshot);
  const shares = [...hosts.flatMap(({ parts }) => parts), ...others];
  const shown = shares.slice(0, MOST_RESOURCES);
  return [
    ...measureItems(shown, ({ name }) => ({ resource: name }), [
      ["resource_units", "Total units of a resource.", ({ total }) => total],
      ["resource_used_units", "Units of a resource that are leased.", ({ used }) => used],
      ["resource_waiters", "Runs that wait for units of a resource.", ({ waiting }) => waiting],
    ]),
    createMetric(
      "resources_left_out",
      "Resources that have no series of their own.",
      shares.length - shown.length,
    ),
  ];
}

/** Maximum number of locks with their own series: the locks that ran last. */
const MOST_HISTORIES = 1_000;

/** Measures the last runs of each lock from its history. */
function measureHistories({ histories }: Snapshot): MetricFamily[] {
  const jobs = [...histories].flatMap(([lock, runs]) => {
    const [last] = runs;
    return last === undefined ? [] : [{ lock, last, success: runs.find(({ exit }) => exit === 0) }];
  });
  const shown = jobs.sort((a, b) => b.last.endedAt - a.last.endedAt).slice(0, MOST_HISTORIES);
  return [
    ...measureItems(shown, ({ lock }) => ({ lock }), [
      [
        "lock_last_success_timestamp_seconds",
        "When a run of the lock last ended with exit code 0, in seconds since the epoch.",
        ({ success }) => success && success.endedAt / 1_000,
      ],
      [
        "lock_last_end_timestamp_seconds",
        "When the last run of the lock ended, in seconds since the epoch.",
        ({ last }) => last.endedAt / 1_000,
      ],
      ["lock_last_exit_code", "Exit code of the last run of the lock.", ({ last }) => last.exit],
      [
        "lock_last_duration_seconds",
        "How long the last run of the lock held it.",
        ({ last }) => Math.max(0, last.held) / 1_000,
      ],
    ]),
    createMetric(
      "lock_histories_left_out",
      "Locks with a history that have no series of their own.",
      jobs.length - shown.length,
    ),
  ];
}

/** A value with its labels. */
type MetricSample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** All samples of one metric, as in Prometheus. Every metric is a gauge. */
export interface MetricFamily {
  /** Name without the prefix `signalbox_`. */
  name: string;
  help: string;
  samples: readonly MetricSample[];
}

export function createMetric(name: string, help: string, value: number): MetricFamily {
  return { name, help, samples: [[{}, value]] };
}

/** Creates a family with one sample for each value of a label. */
function createLabelledMetric(
  name: string,
  help: string,
  label: string,
  counts: Iterable<readonly [string, number]>,
): MetricFamily {
  return { name, help, samples: [...counts].map(([word, count]) => [{ [label]: word }, count]) };
}

/** A metric of items: its name, its help, and its value for an item, if it has one. */
type ItemMetric<T> = readonly [name: string, help: string, read: (item: T) => number | undefined];

/** Measures items: creates a family for each metric, with one sample for each item. */
function measureItems<T>(
  items: readonly T[],
  getLabels: (item: T) => MetricSample[0],
  metrics: readonly ItemMetric<T>[],
): MetricFamily[] {
  return metrics.map(([name, help, read]) => {
    const samples = items.flatMap((item): MetricSample[] => {
      const value = read(item);
      return value === undefined ? [] : [[getLabels(item), value]];
    });
    return { name, help, samples };
  });
}

type Prom = typeof import("prom-client");

/** Renders metrics in the text format of Prometheus, without duplicate series: with one, Prometheus rejects the scrape. */
export function renderFamilies(prom: Prom, families: readonly MetricFamily[]): Promise<string> {
  const registry = new prom.Registry();
  for (const { name, help, samples } of families) {
    if (samples.length === 0) continue;
    const labelNames = [...new Set(samples.flatMap(([labels]) => Object.keys(labels)))];
    const gauge = new prom.Gauge({ name: `signalbox_${name}`, help, labelNames, registers: [registry] });
    for (const [labels, value] of samples)
      gauge.set(Object.fromEntries(Object.entries(labels).map(([key, text]) => [key, clean(text)])), value);
  }
  return registry.metrics();
}

/**
 * Sums how many bytes a watch has seen written, by collection. etcd keeps every value until it is compacted, so a key that is
 * overwritten fills the database as well as new keys do.
 */
export function sumWrittenBytes(keys: Keys, events: readonly WatchEvent[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "put") continue;
    const { key, value } = event.kv;
    const collection = keys.findFirstSegment(key) ?? "other"; // the label takes no value that a user can choose
    sums.set(collection, (sums.get(collection) ?? 0) + Buffer.byteLength(key) + Buffer.byteLength(value));
  }
  return sums;
}
