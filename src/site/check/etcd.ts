import { createFindingBuilder, type Finding } from "../../core/base/finding.ts";
import type { ClusterMemory } from "../../core/etcd/cluster/cluster-memory.ts";
import type { MemberStatus, StoreError } from "../../core/etcd/store.ts";
import { findNestedPrefix } from "../../core/protocol/keys.ts";
import type { AnsweringStatus } from "../../core/protocol/member.ts";
import { readWithRetries } from "../observe/ports.ts";
import { countPresent, getAnsweringMembers, judgeAlarms, judgeMembers } from "../state/etcd-findings.ts";
import { judgeRoleBypass, judgeRunner, probePermissions } from "./permissions.ts";
import type { CheckPorts } from "./ports.ts";
import { judgeSchema } from "./schema.ts";

/**
 * Checks whether this host can run: members, versions, permissions of a runner, prefix. Writes nothing to etcd.
 * @param clusterId  the setting
 * @throws StoreError when no member answers at all
 */
export async function checkEtcd(
  ports: CheckPorts,
  clusterId: string | undefined,
  memory?: ClusterMemoryPort,
): Promise<Finding[]> {
  const members = await ports.store.readMemberStatuses(ports.signal);
  const identity = judgeIdentity(getAnsweringMembers(members), clusterId, memory);
  if (identity.some(({ level }) => level === "failure")) return [...judgeMembers(members), ...identity];
  const rights = await probePermissions(ports, "runner");
  const alarms = judgeAlarms(getAnsweringMembers(members)).filter(({ level }) => level !== "ok");
  // Without permission to read the prefix, the check of the prefix would fail. The finding says what to grant.
  const prefix = rights.canRead
    ? [await checkPrefix(ports), await judgeSchema(ports), ...(await judgeRoleBypass(ports))]
    : [];
  return [...judgeMembers(members), ...identity, ...alarms, judgeRunner(ports, rights), ...prefix];
}

/**
 * Reports keys under the prefix that signalbox does not write: another program may share it. Reads only the first
 * 1,000.
 */
async function checkPrefix(ports: CheckPorts): Promise<Finding> {
  const { keys } = ports;
  const about = createFindingBuilder("prefix", `prefix ${keys.prefix}`);
  const range = { ...keys.getFullRange(), limit: 1_000, keysOnly: true };
  const page = await readWithRetries(ports, range, ports.signal);
  const strange = page.kvs.filter(
    ({ key }) => keys.parse(key).kind === "unknown" && findNestedPrefix(keys, key) === undefined,
  );
  if (strange.length === 0) return about.ok(`${page.count} keys`);
  const detail = `${strange.length} keys do not belong to signalbox, such as ${strange[0]?.key}`;
  const remedy = "is another program using this prefix? Choose another one with --prefix";
  return about.warning(detail, remedy);
}

export type TransportName = "http" | "grpc";

/** The answers of the members over a transport; an error when the transport could not be tried. */
export type TransportTrial = readonly MemberStatus[] | Error;

/** The transport that works, and whether it is the one that runs use. */
export interface TransportVerdict {
  finding: Finding | undefined;
  /** The transport to continue with. */
  use: TransportName;
}

/**
 * Compares the results of both transports.
 * @param setting  `auto`, `http` or `grpc`, as configured
 * @param chosen  the transport that the setting selects
 */
export function judgeTransport(
  setting: string,
  chosen: TransportName,
  trials: Record<TransportName, TransportTrial>,
): TransportVerdict {
  const other = chosen === "http" ? "grpc" : "http";
  const name = setting === chosen ? chosen : `${chosen} (${setting})`;
  const about = createFindingBuilder("transport");
  if (countAnswers(trials[chosen]) > 0)
    return { finding: judgeChosenTransport(name, chosen, other, trials), use: chosen };
  if (countAnswers(trials[other]) === 0) return { finding: undefined, use: chosen }; // members are unavailable
  const why = describeFailure(trials[chosen]);
  return {
    use: other,
    finding: about.failure(
      `${name} does not work, ${other} does: ${why}`,
      `set transport to ${other}: without it, no run reaches etcd`,
    ),
  };
}

/** Reports a chosen transport that works with at least some members. */
function judgeChosenTransport(
  name: string,
  chosen: TransportName,
  other: TransportName,
  trials: Record<TransportName, TransportTrial>,
): Finding {
  const about = createFindingBuilder("transport");
  const better = countAnswers(trials[other]) > countAnswers(trials[chosen]);
  if (better)
    return about.warning(
      `${name} reaches ${countAnswers(trials[chosen])} members, ${other} ${countAnswers(trials[other])}: ${describeFailure(trials[chosen])}`,
      `set transport to ${other}, or turn the gateway on everywhere`,
    );
  const isSame = countAnswers(trials[other]) > 0;
  return about.ok(
    `${name} works; ${other} ${isSame ? "works too" : `does not: ${describeFailure(trials[other])}`}`,
  );
}

function countAnswers(trial: TransportTrial): number {
  return trial instanceof Error ? 0 : countPresent(trial);
}

function describeFailure(trial: TransportTrial): string {
  if (trial instanceof Error) return trial.message;
  const errors = trial.flatMap((member): StoreError[] => (member.ok ? [] : [member.error]));
  return errors[0]?.message ?? "no member is configured";
}

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
