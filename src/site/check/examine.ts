import {
  DAY_MS,
  formatBriefDuration,
  formatDuration,
  HOUR_MS,
  type Millis,
  type WallTime,
} from "../../core/base/clock.ts";
import { createFindingBuilder, type Finding } from "../../core/base/finding.ts";
import { formatBytes } from "../../core/base/size.ts";
import { computeRenewalPeriod, computeSafetyMargin, computeSmallestTtl } from "../../core/config/ttl.ts";
import type { MemberMetrics } from "../../core/etcd/member-metrics.ts";
import { type MemberStatus, StoreError } from "../../core/etcd/store.ts";
import type { AnsweringStatus, ClusterMember } from "../../core/protocol/member.ts";
import {
  findOldestRevision,
  readCurrentRevision,
  readTimeOfRevision,
  type TimedRevision,
} from "../observe/past-revision.ts";
import { readWithRetries } from "../observe/ports.ts";
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
import { type ClusterMemoryPort, judgeIdentity } from "./etcd.ts";
import {
  type AuthenticationMode,
  type EtcdRole,
  findCommandSchedule,
  judgeAuthentication,
  judgeOperator,
  judgeRoleBypass,
  judgeRunner,
  judgeSchedulePermission,
  judgeTransactions,
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
  settings: {
    ttl: number;
    terminationTimeout: Millis;
    clusterId: string | undefined;
    user: string | undefined;
  };
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
  yield await examineAuthentication(ports, authenticationMode, settings.user);
  return yield* examineRights(ports, role, authenticationMode);
}

async function examineAuthentication(
  ports: CheckPorts,
  mode: AuthenticationMode | undefined,
  user: string | undefined,
): Promise<Finding[]> {
  try {
    return judgeAuthentication(mode, user, mode === "open" ? await findCommandSchedule(ports) : undefined);
  } catch (error) {
    return [buildUncheckedFinding("authentication", error)];
  }
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
    if (runner.canRead)
      yield [await judgeTransactions(ports), await judgeSchema(ports), ...(await judgeRoleBypass(ports))];
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
const ELECTION_TIME_MS = 5_000;

/**
 * Computes how long an outage of etcd may last before commands are ended: from the last successful renewal, which
 * may be one renewal period ago, to the TERM, one termination timeout before the horizon. Both parameters in ms.
 */
export function computeSurvivedOutage(ttl: number, terminationTimeout: Millis): number {
  return ttl - computeSafetyMargin(ttl) - computeRenewalPeriod(ttl) - terminationTimeout;
}

/** Checks whether the time to live leaves enough time besides the termination timeout. */
export function judgeSettings({
  ttl,
  terminationTimeout,
}: Pick<ExaminationOptions["settings"], "ttl" | "terminationTimeout">): Finding {
  const survived = computeSurvivedOutage(ttl, terminationTimeout);
  const about = createFindingBuilder("settings", "ttl");
  const whole = formatDuration(Math.max(0, Math.floor(survived / 100) * 100));
  const detail = `${formatDuration(ttl)}, with a termination timeout of ${formatDuration(terminationTimeout)}: commands survive an outage of ${whole}`;
  if (survived >= ELECTION_TIME_MS) return about.ok(detail);
  return about.warning(
    `${detail}; etcd may need as long to elect a leader`,
    `to survive that, set ttl to ${formatDuration(computeSmallestTtl(terminationTimeout + ELECTION_TIME_MS))}, or a shorter terminationTimeout`,
  );
}

/** What is known of the past states in a database, and of the room that is left for more. Sizes in bytes. */
export interface GrowthFacts {
  revision: bigint;
  dbSize: number;
  /** Without the space that a compaction has freed, if the member reports it. */
  dbInUse?: number | undefined;
  quota: number;
  /** The oldest revision that etcd has not compacted. */
  oldest: TimedRevision;
  /** A revision between that and the last one: the changes since then tell the present rate. */
  middle: TimedRevision;
  /** `--auto-compaction-retention` of each member, as far as they say. */
  retentions: readonly (string | undefined)[];
  now: WallTime;
}

/** From this revision on, an etcd that is compacted at all has been compacted. */
const LEAST_REVISION = 100_000n;
/** A compaction that nothing repeats for so long was made by hand, ms. */
const LONGEST_KEPT = 2 * DAY_MS;
/** A rate is known from so much time, ms, and so many changes on. */
const LEAST_TIME = HOUR_MS;
const LEAST_CHANGES = 1_000;
/** A database that is full earlier is reported, whatever its revision is, in days. */
const FULL_WITHIN_DAYS = 90;

/**
 * Judges whether etcd's past states are removed. A default etcd keeps them all, and its database fills up.
 * @returns nothing if it cannot be known yet
 */
export function judgeGrowth(facts: GrowthFacts): Finding[] {
  const about = createFindingBuilder("compaction");
  const { revision, oldest, retentions, now } = facts;
  const [retention = "0"] = retentions;
  if (retentions.every((one) => one !== undefined && !/^0\D*$/.test(one)))
    return [about.ok(`past states are removed: --auto-compaction-retention=${retention}`)];
  const wasCompacted = oldest.revision > 1n;
  const kept = now - (oldest.at ?? now);
  if (wasCompacted && kept < LONGEST_KEPT) return [about.ok("past states are removed")];
  const forecast = forecastDays(facts);
  if (revision < LEAST_REVISION && (forecast?.days ?? FULL_WITHIN_DAYS) >= FULL_WITHIN_DAYS) return [];
  const stay = wasCompacted
    ? `nobody has compacted this etcd for ${formatBriefDuration(kept)}: ${revision - oldest.revision} changes since then`
    : `nobody has ever compacted this etcd: all its ${revision} changes`;
  return [
    about.warning(
      `${stay} stay in the database (${formatBytes(facts.dbSize)}). It is full after about ${countChangesLeft(facts)} more${forecast?.text ?? ""}`,
      "start the members with --auto-compaction-retention=1h; then etcdctl defrag, on one member after the other",
    ),
  ];
}

/** Counts the changes that stay in the database. */
function countChanges({ revision, oldest }: GrowthFacts): number {
  return Math.max(1, Number(oldest.revision > 1n ? revision - oldest.revision : revision));
}

/** The size of a change with its share of everything else in the database: rather too large, so the forecast is rather too early. */
function computeChangeSize(facts: GrowthFacts): number {
  return (facts.dbInUse ?? facts.dbSize) / countChanges(facts);
}

function countChangesLeft(facts: GrowthFacts): number {
  const { quota, dbSize, dbInUse = dbSize } = facts;
  return Math.round(Math.max(0, quota - dbInUse) / computeChangeSize(facts));
}

/** Forecasts when the quota is reached. Undefined if the changes since the middle are too little to know a rate. */
function forecastDays(facts: GrowthFacts): { days: number; text: string } | undefined {
  const { revision, middle, now, quota } = facts;
  const changes = Number(revision - middle.revision);
  const time = now - (middle.at ?? now);
  if (time < LEAST_TIME || changes < LEAST_CHANGES) return undefined;
  const days = (countChangesLeft(facts) * time) / changes / DAY_MS;
  const size = Math.round(computeChangeSize(facts));
  const text = `, in about ${formatBriefDuration(days * DAY_MS)} (${changes} in the last ${formatBriefDuration(time)}, ${size} B each, quota ${formatBytes(quota)})`;
  return { days, text };
}
