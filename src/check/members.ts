import type { Finding } from "../base/finding.ts";
import type { MemberMetrics } from "../etcd/member-metrics.ts";
import type { MemberStatus } from "../etcd/store.ts";

/** A member that answered. */
export type AnsweringMember = Extract<MemberStatus, { ok: true }>;

/** Oldest version with all required features. */
const OLDEST_VERSION = [3, 4] as const;
/** First patch of each release line that never acknowledges a stale renewal. */
const FIRST_SOUND_PATCHES: Record<string, number> = { "3.4": 42, "3.5": 28, "3.6": 9 };

/**
 * Checks whether each endpoint answers, how old its version is, and whether all versions are equal.
 * @param gauges  by endpoint; they may contain the version of a member that does not report its status
 */
export function judgeMembers(
  members: readonly MemberStatus[],
  gauges: ReadonlyMap<string, MemberMetrics> = new Map(),
): Finding[] {
  const versions = members.map((member) =>
    member.ok ? member.version : gauges.get(member.endpoint)?.version,
  );
  return [...members.map((member, at) => judgeMember(member, versions[at])), ...judgeMixture(versions)];
}

export function getAnsweringMembers(members: readonly MemberStatus[]): AnsweringMember[] {
  return members.flatMap((member) => (member.ok ? [member] : []));
}

/**
 * Returns whether a member is available, but reports its status only to the user root: etcd 3.4.42, 3.5.28, 3.6.9 and
 * later do so when authentication is on.
 */
export function isStatusHidden(member: MemberStatus): boolean {
  return !member.ok && member.error.kind === "permission";
}

/** Counts the endpoints that are available, with or without a status. */
export function countPresent(members: readonly MemberStatus[]): number {
  return members.filter((member) => member.ok || isStatusHidden(member)).length;
}

function judgeMember(member: MemberStatus, version: string | undefined): Finding {
  const about = { kind: "member", check: `member ${member.endpoint}` };
  if (!member.ok && !isStatusHidden(member)) {
    const detail = stripEndpoint(member.error.message, member.endpoint);
    return {
      ...about,
      id: "member-away",
      level: "warning",
      detail,
      remedy: suggestRemedy(member.error.kind),
    };
  }
  const rest = member.ok ? `${member.millis.toFixed(0)} ms` : "only the user root can read its status";
  if (version === undefined) return { ...about, level: "ok", detail: `it answers; ${rest}` };
  const fault = findVersionFault(version);
  if (fault === undefined) return { ...about, level: "ok", detail: `etcd ${version}, ${rest}` };
  const { older, ...judgement } = fault;
  return {
    ...about,
    ...judgement,
    id: "member-version",
    detail: `etcd ${version}, which is older than ${older}, ${rest}`,
  };
}

/** Removes the address from the start of a member's error message; the finding already contains it. */
function stripEndpoint(message: string, endpoint: string): string {
  return message.startsWith(`${endpoint}: `) ? message.slice(endpoint.length + 2) : message;
}

function suggestRemedy(kind: string): string {
  if (kind === "unauthenticated") return "check user and password, or the certificate: signalbox config";
  if (kind === "invalid" || kind === "notEtcd") return "choose another --transport, or turn its gateway on";
  return "start it, or take it out of endpoints";
}

/** Describes what is wrong with a version, and the lowest version without the fault. */
function findVersionFault(
  version: string,
): (Pick<Finding, "level" | "remedy"> & { older: string }) | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  if (major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1]))
    return { level: "failure", older: OLDEST_VERSION.join("."), remedy: "etcd 3.4 or later is needed" };
  const floor = FIRST_SOUND_PATCHES[`${major}.${minor}`];
  if (floor === undefined || patch >= floor) return undefined;
  const older = `${major}.${minor}.${floor}`;
  const remedy = `upgrade to ${older} or later: older servers can acknowledge a stale renewal (runs guard against it), and do not enforce roles`;
  return { level: "hint", older, remedy };
}

function judgeMixture(all: readonly (string | undefined)[]): Finding[] {
  const versions = [...new Set(all.filter((version) => version !== undefined))].sort();
  if (versions.length < 2) return [];
  return [
    {
      kind: "versions",
      check: "versions",
      level: "warning",
      detail: `members are of different versions: ${versions.join(", ")}`,
      remedy: "finish the upgrade: until then etcd has only the features of the oldest member",
    },
  ];
}
