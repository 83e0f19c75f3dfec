import { formatDuration } from "../base/duration.ts";
import { createFindingBuilder, type Finding } from "../base/finding.ts";
import { computeRenewalPeriod, computeSafetyMargin, computeSmallestTtl } from "../config/ttl.ts";
import type { MemberMetrics } from "../etcd/member-metrics.ts";
import { type MemberStatus, StoreError } from "../etcd/store.ts";
import { findOldestRevision, readCurrentRevision, readTimeOfRevision } from "../observe/past-revision.ts";
import { readWithRetries } from "../observe/ports.ts";
import type { AnsweringStatus, ClusterMember } from "../protocol/member.ts";
import {
  countPresent,
  DEFAULT_QUOTA,
  getAnsweringMembers,
  judgeAlarms,
  judgeCluster,
  judgeMembers,
  judgeSpace,
  type Quota,
} from "../state/etcd-findings.ts";
import { judgeOwnClock } from "./clock.ts";
import { judgeGrowth } from "./growth.ts";
import { type ClusterMemoryPort, judgeIdentity } from "./identity.ts";
import {
  type AuthenticationMode,
  type EtcdRole,
  judgeAuthentication,
  judgeOperator,
  judgeRoleBypass,
  judgeRunner,
  judgeSchedulePermission,
  judgeWorker,
  probePermissions,
} from "./permissions.ts";
import type { CheckPorts } from "./ports.ts";
import { judgeSchema } from "./schema.ts";

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
  const roster = await readRoster(ports);
  yield [...judgeIdentity(answers, settings.clusterId, memory), ...judgeCluster(members, roster)];
  if (answers.length > 0) yield judgeAlarms(answers);
  const getQuota = (endpoint: string) => chooseQuota(quota, gauges.get(endpoint));
  yield judgeSpace(answers, getQuota);
  const offsets = [...gauges].flatMap(([endpoint, { clock }]) => (clock ? [{ endpoint, ...clock }] : []));
  yield judgeOwnClock(offsets);
  yield [judgeSettings(settings)];
  const refusal = await checkServing(ports);
  if (refusal !== undefined) {
    yield [refusal];
    return false;
  }
  yield await judgeCompaction(ports, answers, getQuota, gauges);
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
    const isWorkerOnly = role === "worker";
    yield [
      ...(isWorkerOnly && !runner.canRead ? [] : [judgeRunner(ports, runner, !isWorkerOnly)]),
      ...judgeWorker(ports, await probePermissions(ports, "worker"), isWorkerOnly),
      judgeOperator(ports, await probePermissions(ports, "operator"), role === "operator"),
    ];
    if (openness === "closed") yield await judgeSchedulePermission(ports, role);
    if (runner.canRead) yield [await judgeSchema(ports), ...(await judgeRoleBypass(ports))];
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
  return createFindingBuilder("etcd").failure(detail, remedy);
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
    return createFindingBuilder("etcd").failure(detail, remedy);
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

/** Checks whether etcd's past states are removed, and when its database is full otherwise. */
export async function judgeCompaction(
  ports: CheckPorts,
  answers: readonly AnsweringStatus[],
  getQuota: (endpoint: string) => Quota,
  gauges: ReadonlyMap<string, MemberMetrics> = new Map(),
): Promise<Finding[]> {
  const [answer] = [...answers].sort((a, b) => b.dbSize - a.dbSize);
  if (answer === undefined) return [];
  try {
    const { signal = new AbortController().signal } = ports;
    const oldest = await findOldestRevision(ports, signal);
    const now = await readCurrentRevision(ports, signal);
    const middle = await readTimeOfRevision(ports, (oldest.revision + now) / 2n, signal);
    const { bytes: quota } = getQuota(answer.endpoint);
    const retentions = answers.map(({ endpoint }) => gauges.get(endpoint)?.autoCompaction);
    return judgeGrowth({ ...answer, quota, oldest, middle, retentions, now: ports.clock.getWallTime() });
  } catch (error) {
    if (error instanceof StoreError) return []; // reported with the permissions
    throw error;
  }
}

/** Typical duration of a leader election with etcd's default timing, ms; no session can be renewed during it. */
const ELECTION = 5_000;

/**
 * Computes how long an outage of etcd may last before commands are ended, ms: from the last successful renewal, which
 * may be one renewal period ago, to the TERM, one termination timeout before the horizon. Both parameters in ms.
 */
export function computeSurvivedOutage(ttl: number, terminationTimeout: number): number {
  return ttl - computeSafetyMargin(ttl) - computeRenewalPeriod(ttl) - terminationTimeout;
}

/** Checks whether the time to live leaves enough time besides the termination timeout. */
export function judgeSettings({
  ttl,
  terminationTimeout,
}: Omit<ExaminationOptions["settings"], "clusterId">): Finding {
  const survived = computeSurvivedOutage(ttl, terminationTimeout);
  const about = createFindingBuilder("settings", "ttl");
  const whole = formatDuration(Math.max(0, Math.floor(survived / 100) * 100));
  const detail = `${formatDuration(ttl)}, with a termination timeout of ${formatDuration(terminationTimeout)}: commands survive an outage of ${whole}`;
  if (survived >= ELECTION) return about.ok(detail);
  return about.warning(
    `${detail}; etcd may need as long to elect a leader`,
    `to survive that, set ttl to ${formatDuration(computeSmallestTtl(terminationTimeout + ELECTION))}, or a shorter terminationTimeout`,
  );
}
