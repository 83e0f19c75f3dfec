import { hasEnded } from "../../protocol/drain.ts";
import { DRAIN_SCOPES } from "../../protocol/keys.ts";
import { findProblems } from "../problems/find-problems.ts";
import type { Collection, Snapshot } from "../snapshot/snapshot.ts";
import { measureAgents } from "./agents.ts";
import { measureHistories } from "./histories.ts";
import { createLabelledMetric, createMetric, type MetricFamily } from "./metric-family.ts";
import { measureQueues } from "./queues.ts";
import { measureSchedules } from "./schedules.ts";

/** Collections that the metrics need. */
export const METRIC_COLLECTIONS: readonly Collection[] = [
  "locks",
  "resources",
  "resourceConfigs",
  "groups",
  "drains",
  "hosts",
  "histories",
  "schedules",
  "dues",
  "runnings",
  "workers",
  "calendars",
];

/** Computes the metrics of a snapshot. @param wall  ms since the epoch */
export function measureSnapshot(snapshot: Snapshot, wall: number): MetricFamily[] {
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

function measureProblems(snapshot: Snapshot, wall: number): MetricFamily {
  const counts = new Map<string, { level: string; kind: string; count: number }>();
  for (const { level, kind } of findProblems(snapshot, wall)) {
    const known = counts.get(`${level}/${kind}`) ?? { level, kind, count: 0 };
    counts.set(`${level}/${kind}`, { ...known, count: known.count + 1 });
  }
  const samples = [...counts.values()].map(({ count, ...labels }) => [labels, count] as const);
  return { name: "problems", help: "Problems that an operator should look at.", samples };
}
