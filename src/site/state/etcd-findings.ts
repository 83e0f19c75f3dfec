import { createFindingBuilder, type Finding } from "../../core/base/finding.ts";
import { formatBytes } from "../../core/base/size.ts";
import { pluralize } from "../../core/base/text.ts";
import { type AnsweringStatus, type ClusterMember, findTopStatus } from "../../core/protocol/member.ts";

/** The status of an endpoint, or the error of the request for it. */
export type EndpointStatus =
  | AnsweringStatus
  | { endpoint: string; ok: false; error: { kind: string; message: string } };

/** What members publish outside the API. */
interface PublishedFacts {
  version: string | undefined;
  /** In bytes. */
  quota: number | undefined;
}

export interface KnownMembers {
  /** Or why it is not known. */
  roster: readonly ClusterMember[] | Error;
  statuses: readonly EndpointStatus[];
  /** By endpoint. */
  metrics: ReadonlyMap<string, PublishedFacts>;
}

/** Finds what is wrong with etcd itself, as `doctor` does. Says nothing of a database whose quota is not known. */
export function findEtcdFaults({ roster, statuses, metrics }: KnownMembers): Finding[] {
  const answers = getAnsweringMembers(statuses);
  const members = roster instanceof Error || roster.length === 0 ? undefined : roster;
  const findings = [
    ...judgeAlarms(answers),
    ...judgeMembers(statuses, metrics),
    ...judgeCluster(statuses, members),
    ...judgeSpace(answers, (endpoint) => {
      const bytes = metrics.get(endpoint)?.quota;
      return bytes === undefined ? undefined : { bytes, source: "metrics" };
    }),
  ];
  return findings.filter(({ level }) => level === "warning" || level === "failure");
}

export function getAnsweringMembers(members: readonly EndpointStatus[]): AnsweringStatus[] {
  return members.flatMap((member) => (member.ok ? [member] : []));
}

/** Oldest version with all required features. */
const OLDEST_VERSION = [3, 4] as const;
/** First patch of each release line that never acknowledges a stale renewal. */
const FIRST_SOUND_PATCHES: Record<string, number> = { "3.4": 42, "3.5": 28, "3.6": 9 };

/**
 * Checks whether each endpoint answers, how old its version is, and whether all versions are equal.
 * @param gauges  by endpoint; they may contain the version of a member that does not report its status
 */
export function judgeMembers(
  members: readonly EndpointStatus[],
  gauges: ReadonlyMap<string, PublishedFacts> = new Map(),
): Finding[] {
  const versions = members.map((member) =>
    member.ok ? member.version : gauges.get(member.endpoint)?.version,
  );
  return [...members.map((member, at) => judgeMember(member, versions[at])), ...judgeMixture(versions)];
}

/**
 * Returns whether a member is available, but reports its status only to the user root: etcd 3.4.42, 3.5.28, 3.6.9 and
 * later do so when authentication is on.
 */
function isStatusHidden(member: EndpointStatus): boolean {
  return !member.ok && member.error.kind === "permission";
}

/** Counts the endpoints that are available, with or without a status. */
export function countPresent(members: readonly EndpointStatus[]): number {
  return members.filter((member) => member.ok || isStatusHidden(member)).length;
}

function judgeMember(member: EndpointStatus, version: string | undefined): Finding {
  const about = createFindingBuilder("member", `member ${member.endpoint}`);
  if (!member.ok && !isStatusHidden(member)) {
    const start = `${member.endpoint}: `; // the finding already contains it
    const { message } = member.error;
    const detail = message.startsWith(start) ? message.slice(start.length) : message;
    return { ...about.warning(detail, suggestRemedy(member.error.kind)), id: "member-away" };
  }
  const rest = member.ok ? `${member.millis.toFixed(0)} ms` : "only the user root can read its status";
  if (version === undefined) return about.ok(`it answers; ${rest}`);
  const fault = findVersionFault(version);
  if (fault === undefined) return about.ok(`etcd ${version}, ${rest}`);
  const { older, level, remedy } = fault;
  const detail = `etcd ${version}, which is older than ${older}, ${rest}`;
  return { ...about[level](detail, remedy), id: "member-version" };
}

function suggestRemedy(kind: string): string {
  if (kind === "unauthenticated") return "check user and password, or the certificate: signalbox config";
  if (kind === "invalid" || kind === "notEtcd") return "choose another --transport, or turn its gateway on";
  return "start it, or take it out of endpoints";
}

/** First patch of each release line whose members do not come to hold different data after a crash (etcd #13766, #14685). */
const FIRST_CONSISTENT_PATCHES: Record<string, number> = { "3.5": 6 };

/** Describes what is wrong with a version, and the lowest version without the fault. */
function findVersionFault(
  version: string,
): (Pick<Finding, "level" | "remedy"> & { older: string }) | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  if (major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1]))
    return { level: "failure", older: OLDEST_VERSION.join("."), remedy: "etcd 3.4 or later is needed" };
  const line = `${major}.${minor}`;
  const floor = FIRST_SOUND_PATCHES[line];
  if (floor === undefined || patch >= floor) return undefined;
  const older = `${line}.${floor}`;
  if (patch < (FIRST_CONSISTENT_PATCHES[line] ?? 0))
    return {
      level: "warning",
      older,
      remedy: `upgrade to ${older} or later: members of this version can come to hold different data after a crash, and then a lock can be held twice`,
    };
  const remedy = `upgrade to ${older} or later: older servers can acknowledge a stale renewal (runs guard against it), and do not enforce roles`;
  return { level: "hint", older, remedy };
}

function judgeMixture(all: readonly (string | undefined)[]): Finding[] {
  const versions = [...new Set(all.filter((version) => version !== undefined))].sort();
  if (versions.length < 2) return [];
  return [
    createFindingBuilder("versions").warning(
      `members are of different versions: ${versions.join(", ")}`,
      "finish the upgrade: until then etcd has only the features of the oldest member",
    ),
  ];
}

/** How many log entries a member may be behind the others: the members are not read at the same instant. */
export const MAX_LOG_LAG = 1_000;

/**
 * Checks whether the members that answer have a majority and a leader.
 * @param roster  the members of the cluster; undefined when the list could not be read
 */
export function judgeCluster(
  members: readonly EndpointStatus[],
  roster: readonly ClusterMember[] | undefined,
): Finding[] {
  const answers = getAnsweringMembers(members);
  if (countPresent(members) === 0) return [];
  return [
    judgeQuorum(members, roster),
    ...judgeEndpoints(members, roster),
    answers.length === 0 ? STATUS_HIDDEN : judgeLeader(answers),
    ...judgeLag(answers),
  ];
}

/** The finding when no member reports its status. */
const STATUS_HIDDEN = createFindingBuilder("leader").hint(
  "only the user root can read the leader, the alarms and the size of the database",
  "to have these checked too, run doctor as etcd's user root, or watch etcd's own metrics",
);

/** Checks for a majority. When the members of the cluster are not known, it counts the endpoints instead. */
function judgeQuorum(
  members: readonly EndpointStatus[],
  roster: readonly ClusterMember[] | undefined,
): Finding {
  const answering = new Set(getAnsweringMembers(members).map(({ memberId }) => memberId));
  const voters = roster?.filter(({ isLearner }) => !isLearner).map(({ id }) => id);
  const size = voters?.length ?? members.length;
  const known = voters === undefined ? answering.size : voters.filter((id) => answering.has(id)).length;
  const there = Math.min(size, known + members.filter(isStatusHidden).length);
  const majority = Math.floor(size / 2) + 1;
  const about = createFindingBuilder("quorum");
  const detail = `${there} of ${pluralize(size, "member")} answered, ${majority} ${majority === 1 ? "is" : "are"} a majority`;
  const isAsked = members.length >= size;
  if (size === 1)
    return about.hint(
      "a single member: while it is down, nothing can start",
      "for production, three or five members",
    );
  if (there === size || !isAsked) return about.ok(detail);
  const remedy = "start the members that do not answer";
  if (there < majority)
    return about.failure(`${detail}: without a majority, nothing can be granted or renewed`, remedy);
  const left = there - majority;
  const spare =
    left === 0 ? "no further member may fail" : `${left} more may fail before nothing can be granted`;
  return about.warning(`${detail}: ${spare}`, remedy);
}

/**
 * Reports a single endpoint of a larger cluster: if that member fails, the host loses etcd. A load balancer may serve
 * several members at one address.
 */
function judgeEndpoints(
  members: readonly EndpointStatus[],
  roster: readonly ClusterMember[] | undefined,
): Finding[] {
  const known = new Set(getAnsweringMembers(members).map(({ memberId }) => memberId));
  const [only] = members;
  const voters = (roster ?? []).filter(({ isLearner }) => !isLearner);
  const others = voters.filter(
    ({ id, clientUrls }) => !known.has(id) && !clientUrls.includes(only?.endpoint ?? ""),
  );
  if (members.length > 1 || voters.length < 2 || others.length === 0) return [];
  const urls = others.flatMap(({ clientUrls }) => clientUrls);
  return [
    createFindingBuilder("endpoints").hint(
      `only one address is configured, but the cluster has ${voters.length} members`,
      `unless it is the address of a load balancer, add the others to endpoints: ${urls.join(",")}`,
    ),
  ];
}

function judgeLeader(answers: readonly AnsweringStatus[]): Finding {
  const about = createFindingBuilder("leader");
  const leaders = new Set(answers.map(({ leaderId }) => leaderId));
  const [leader = 0n] = leaders;
  if (leaders.size === 1 && leader === 0n)
    return about.failure(
      "no member knows a leader",
      "is a majority of the members running, and can they reach each other?",
    );
  if (leaders.size > 1)
    return about.warning(
      "the members do not agree on the leader",
      "an election may be in progress: look again in a few seconds; if this persists, check the network between the members",
    );
  const name = answers.find(({ memberId }) => memberId === leader)?.endpoint;
  const terms = answers.reduce((most, { raftTerm }) => (raftTerm > most ? raftTerm : most), 0n);
  return about.ok(`${name ?? leader.toString(16)}, term ${terms}`);
}

function judgeLag(answers: readonly AnsweringStatus[]): Finding[] {
  const top = findTopStatus(answers);
  return answers.flatMap((answer) => {
    const lag = countEntriesBehind(answer, top);
    if (lag <= MAX_LOG_LAG) return [];
    return createFindingBuilder("lag", `member ${answer.endpoint}`).warning(
      `${lag} log entries behind`,
      "is its disk or its network slow? It catches up by itself, and answers late meanwhile",
    );
  });
}

/** Computes how many log entries a member is behind the one with which it is compared. */
export function countEntriesBehind({ raftIndex }: AnsweringStatus, top: AnsweringStatus | undefined): number {
  return top === undefined ? 0 : Math.max(0, Number(top.raftIndex - raftIndex));
}

/** Reports alarms and errors of the members, each once: every member lists the alarms of all. */
export function judgeAlarms(answers: readonly AnsweringStatus[]): Finding[] {
  const texts = new Set(answers.flatMap(({ errors }) => errors.map((error) => error.trim())));
  const alarms = [...texts].filter((text) => !/no leader/.test(text)); // reported with the leader
  const about = createFindingBuilder("alarm", "alarms");
  if (alarms.length === 0) return [about.ok("none")];
  return alarms.map((text) => about.failure(explainAlarm(text), suggestAlarmRemedy(text)));
}

function explainAlarm(text: string): string {
  if (text.includes("NOSPACE")) return `${text}: the database is full, nothing new can start`;
  if (text.includes("CORRUPT")) return `${text}: the members' data differ`;
  return text;
}

function suggestAlarmRemedy(text: string): string {
  if (text.includes("NOSPACE"))
    return "etcdctl compact REVISION, then etcdctl defrag on each member (or a larger --quota-backend-bytes), then etcdctl alarm disarm";
  if (text.includes("CORRUPT"))
    return "stop using it: replace the member that differs, or restore a backup, and see etcd's docs on data corruption";
  return "see: etcdctl endpoint status, etcdctl alarm list";
}

/** Default quota of etcd's database, in bytes. */
export const DEFAULT_QUOTA = 2 * 1024 ** 3;
/** The shares of its quota from which a database is a warning, and nearly full. */
const FILLING_SHARE = 0.7;
export const NEARLY_FULL = 0.9;

/** The quota of a database and its source. */
export interface Quota {
  bytes: number;
  /** `assumed`: not known, so etcd's default is used. */
  source: "flag" | "metrics" | "assumed";
}

/** Checks how full the databases are. @param getQuota  returns the quota of the member at an endpoint; undefined if it is not to be judged */
export function judgeSpace(
  answers: readonly AnsweringStatus[],
  getQuota: (endpoint: string) => Quota | undefined,
): Finding[] {
  return answers.flatMap((answer) => {
    const quota = getQuota(answer.endpoint);
    return quota === undefined ? [] : judgeDatabase(answer, quota);
  });
}

function judgeDatabase({ endpoint, dbSize, dbInUse }: AnsweringStatus, quota: Quota): Finding {
  const share = dbSize / quota.bytes;
  const assumed = quota.source === "assumed" ? " (etcd's default; set another with --quota)" : "";
  const used = dbInUse === undefined ? "" : `, ${formatBytes(dbInUse)} of it in use`;
  const detail = `${formatBytes(dbSize)} of ${formatBytes(quota.bytes)}${assumed}${used}`;
  const about = createFindingBuilder("space", `database ${endpoint}`);
  if (share < FILLING_SHARE) return about.ok(detail);
  const isLoose = dbInUse !== undefined && dbInUse < dbSize / 2;
  const remedy = isLoose
    ? "most of it is free: etcdctl defrag, on one member after the other"
    : "compact (--auto-compaction-retention), defragment, or raise --quota-backend-bytes: when it is full, nothing new starts";
  return about[share < NEARLY_FULL ? "warning" : "failure"](detail, remedy);
}
