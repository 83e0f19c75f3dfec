import type { Finding } from "../../base/finding.ts";
import type { AnsweringMember } from "./members.ts";

/** The id of every single-member cluster that was started without flags. It does not identify a cluster. */
const DEFAULT_ID = 0xcdf818194e3a8c32n;

/**
 * Checks whether all members that answer belong to one cluster, and to the configured one.
 * @param configured  the setting `clusterId`
 */
export function judgeIdentity(
  answers: readonly AnsweringMember[],
  configured: string | undefined,
): Finding[] {
  const endpoints = new Map<bigint, string[]>();
  for (const { clusterId, endpoint } of answers)
    if (clusterId !== undefined) endpoints.set(clusterId, [...(endpoints.get(clusterId) ?? []), endpoint]);
  if (endpoints.size > 1) return [buildSeveralClustersFinding(endpoints)];
  const [id] = endpoints.keys();
  return id === undefined ? [] : [judgeId(id, configured)];
}

function buildSeveralClustersFinding(endpoints: ReadonlyMap<bigint, readonly string[]>): Finding {
  const list = [...endpoints].map(([id, urls]) => `${id.toString(16)} (${urls.join(", ")})`).join(" and ");
  return {
    ...{ kind: "unity", check: "cluster", level: "failure" },
    detail: `the endpoints belong to ${endpoints.size} clusters: ${list}`,
    remedy: "name the members of one cluster only, and set clusterId: two runs would each get the same lock",
  };
}

function judgeId(id: bigint, configured: string | undefined): Finding {
  const about = { kind: "identity", check: "cluster" };
  const text = id.toString(16);
  if (configured === undefined)
    return {
      ...{ ...about, level: "hint", detail: `id ${text}; clusterId is not set` },
      remedy: `set it on every host, so that a host that reaches another cluster starts nothing: "clusterId": "${text}"`,
    };
  if (configured !== text)
    return {
      ...{
        ...about,
        level: "failure",
        detail: `id ${text}, but clusterId is ${configured}: nothing can start`,
      },
      remedy: "are endpoints right? If the cluster was replaced by a new one, set clusterId on every host",
    };
  if (id === DEFAULT_ID)
    return {
      ...{ ...about, level: "hint" },
      detail: `id ${text}, as configured; every etcd that was started without flags has this id`,
      remedy: "start the cluster with an --initial-cluster-token of its own",
    };
  return { ...about, level: "ok", detail: `id ${text}, as configured` };
}
