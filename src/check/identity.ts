import { createFindingBuilder, type Finding } from "../base/finding.ts";
import type { ClusterMemory } from "../etcd/cluster/cluster-memory.ts";
import type { AnsweringStatus } from "../protocol/member.ts";

/** Remembers the cluster of the endpoints, as the first response does. */
export type ClusterMemoryPort = Pick<ClusterMemory, "remember">;

/** The id of every single-member cluster that was started without flags. It does not identify a cluster. */
const DEFAULT_ID = 0xcdf818194e3a8c32n;

/**
 * Checks whether all members that answer belong to one cluster, and to the configured or remembered one.
 * @param configured  the setting `clusterId`
 */
export function judgeIdentity(
  answers: readonly AnsweringStatus[],
  configured: string | undefined,
  memory?: ClusterMemoryPort,
): Finding[] {
  const endpoints = new Map<bigint, string[]>();
  for (const { clusterId, endpoint } of answers)
    if (clusterId !== undefined) endpoints.set(clusterId, [...(endpoints.get(clusterId) ?? []), endpoint]);
  if (endpoints.size > 1) return [buildSeveralClustersFinding(endpoints)];
  const [id] = endpoints.keys();
  return id === undefined
    ? []
    : [configured === undefined ? judgeUnsetId(id, memory) : judgeId(id, configured)];
}

function buildSeveralClustersFinding(endpoints: ReadonlyMap<bigint, readonly string[]>): Finding {
  const list = [...endpoints].map(([id, urls]) => `${id.toString(16)} (${urls.join(", ")})`).join(" and ");
  return createFindingBuilder("unity", "cluster").failure(
    `the endpoints belong to ${endpoints.size} clusters: ${list}`,
    "name the members of one cluster only, and set clusterId: two runs would each get the same lock",
  );
}

function judgeUnsetId(id: bigint, memory: ClusterMemoryPort | undefined): Finding {
  const about = createFindingBuilder("identity", "cluster");
  const text = id.toString(16);
  const remembered = memory?.remember(id);
  if (remembered !== undefined && "id" in remembered && remembered.id !== id)
    return about.failure(
      `id ${text}, but this host remembers the cluster ${remembered.id.toString(16)} (${remembered.path}): nothing can start`,
      "are endpoints right? If the cluster was replaced by a new one, run signalbox init --forget-cluster on every host",
    );
  return about.hint(
    `id ${text}; clusterId is not set${describeMemory(remembered)}`,
    `set it on every host, so that a host that reaches another cluster starts nothing: "clusterId": "${text}"`,
  );
}

function describeMemory(remembered: ReturnType<ClusterMemoryPort["remember"]> | undefined): string {
  if (remembered === undefined) return "";
  return "fault" in remembered
    ? `, and this host cannot remember the cluster: ${remembered.fault}`
    : `; this host remembers the cluster in ${remembered.path}`;
}

function judgeId(id: bigint, configured: string): Finding {
  const about = createFindingBuilder("identity", "cluster");
  const text = id.toString(16);
  if (configured !== text)
    return about.failure(
      `id ${text}, but clusterId is ${configured}: nothing can start`,
      "are endpoints right? If the cluster was replaced by a new one, set clusterId on every host",
    );
  if (id === DEFAULT_ID)
    return about.hint(
      `id ${text}, as configured; every etcd that was started without flags has this id`,
      "start the cluster with an --initial-cluster-token of its own",
    );
  return about.ok(`id ${text}, as configured`);
}
