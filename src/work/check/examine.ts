import type { Finding } from "../../base/finding.ts";
import type { MemberMetrics } from "../../etcd/members/member-metrics.ts";
import { type ClusterMember, type MemberStatus, StoreError } from "../../etcd/store.ts";
import { readWithRetries } from "../observe/ports.ts";
import { judgeAlarms } from "./alarms.ts";
import { type AuthenticationMode, judgeAuthentication, judgeSchedulePermission } from "./authentication.ts";
import { judgeOwnClock } from "./clock.ts";
import { judgeCluster } from "./cluster.ts";
import { judgeCompaction } from "./compaction.ts";
import type { ClusterMemoryPort } from "./identity.ts";
import { countPresent, getAnsweringMembers, judgeMembers } from "./members.ts";
import { type EtcdRole, judgeOperator, judgeRunner, probePermissions } from "./permissions.ts";
import type { CheckPorts } from "./ports.ts";
import { judgeRoleBypass } from "./role-bypass.ts";
import { findSchemaFault, judgeSchema } from "./schema.ts";
import { judgeSettings } from "./settings.ts";
import { DEFAULT_QUOTA, judgeSpace, type Quota } from "./space.ts";

interface ExaminationOptions {
  members: readonly MemberStatus[];
  /** By endpoint. */
  gauges: ReadonlyMap<string, MemberMetrics>;
  /** Quota of the database in bytes, if the user gives it. */
  quota: number | undefined;
  /** The role that the user is meant to have. */
  role: EtcdRole;
  settings: { ttl: number; terminationTimeout: number; clusterId: string | undefined };
  memory?: ClusterMemoryPort;
  /** Undefined: it could not be determined. */
  authenticationMode: AuthenticationMode | undefined;
}

/**
 * Examines etcd and this host's connection to it, part by part. An error of etcd does not end the examination: a part
 * that could not be checked becomes a finding.
 * @returns whether the keys under the prefix can be read
 */
export async function* examine(
  ports: CheckPorts,
  { members, gauges, quota, role, settings, memory, authenticationMode }: ExaminationOptions,
): AsyncGenerator<readonly Finding[], boolean> {
  const answers = getAnsweringMembers(members);
  yield judgeMembers(members, gauges);
  if (countPresent(members) === 0) {
    yield [judgeSettings(settings), buildNoMemberFinding(members)];
    return false;
  }
  yield judgeCluster(members, await readRoster(ports), settings.clusterId, memory);
  if (answers.length > 0) yield judgeAlarms(answers);
  yield judgeSpace(answers, (endpoint) => chooseQuota(quota, gauges.get(endpoint)));
  const offsets = [...gauges].flatMap(([endpoint, { clock }]) => (clock ? [{ endpoint, ...clock }] : []));
  yield judgeOwnClock(offsets);
  yield [judgeSettings(settings)];
  const refusal = await checkServing(ports);
  if (refusal !== undefined) {
    yield [refusal];
    return false;
  }
  yield await judgeCompaction(ports, answers, (endpoint) => chooseQuota(quota, gauges.get(endpoint)));
  yield judgeAuthentication(authenticationMode);
  return yield* examineRights(ports, role, authenticationMode);
}

async function* examineRights(
  ports: CheckPorts,
  role: EtcdRole,
  openness: AuthenticationMode | undefined,
): AsyncGenerator<readonly Finding[], boolean> {
  try {
    const runner = await probePermissions(ports, "runner");
    yield [
      judgeRunner(ports, runner),
      judgeOperator(ports, await probePermissions(ports, "operator"), role === "operator"),
    ];
    if (openness === "closed") yield await judgeSchedulePermission(ports, role);
    if (runner.canRead)
      yield [judgeSchema(await findSchemaFault(ports, ports.signal)), ...(await judgeRoleBypass(ports))];
    return runner.canRead;
  } catch (error) {
    yield [buildUncheckedFinding("permissions", error)];
    return false;
  }
}

function buildNoMemberFinding(members: readonly MemberStatus[]): Finding {
  const refused = members.find((member) => !member.ok && member.error.kind === "unauthenticated");
  const detail =
    refused === undefined
      ? `none of the ${members.length === 1 ? "members" : `${members.length} members`} answers: nothing can start, and nothing else could be checked`
      : "etcd refuses the credentials: nothing else could be checked";
  const remedy =
    refused === undefined
      ? "is etcd running, and are endpoints right? signalbox config"
      : "check user and password: signalbox config";
  return { kind: "etcd", check: "etcd", level: "failure", detail, remedy };
}

async function readRoster(ports: CheckPorts): Promise<ClusterMember[] | undefined> {
  try {
    const roster = await ports.store.listMembers(ports.signal);
    return roster.length === 0 ? undefined : roster;
  } catch (error) {
    if (error instanceof StoreError) return undefined; // an older server, or it needs a permission
    throw error;
  }
}

/** Checks whether the cluster serves requests: members can report their own status without a majority. */
async function checkServing(ports: CheckPorts): Promise<Finding | undefined> {
  const glance = { key: ports.keys.prefix, limit: 1, keysOnly: true };
  try {
    await readWithRetries(ports, glance, ports.signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.kind === "permission") return undefined; // reported with the permissions
    const detail = `members answer, but the cluster does not serve: ${error.message}`;
    const remedy = "see quorum and leader above; nothing can be granted, and nothing else could be checked";
    return { kind: "etcd", check: "etcd", level: "failure", detail, remedy };
  }
}

/** Builds the finding for a part that could not be checked. @throws any error that is not a StoreError */
export function buildUncheckedFinding(kind: string, error: unknown): Finding {
  if (!(error instanceof StoreError)) throw error;
  return { kind, check: kind, level: "unknown", detail: `could not be checked: ${error.message}` };
}

function chooseQuota(given: number | undefined, gauges: MemberMetrics | undefined): Quota {
  if (given !== undefined) return { bytes: given, source: "flag" };
  if (gauges?.quota !== undefined) return { bytes: gauges.quota, source: "metrics" };
  return { bytes: DEFAULT_QUOTA, source: "assumed" };
}
