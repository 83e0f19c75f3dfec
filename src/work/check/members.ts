import type { Finding } from "../../base/finding.ts";
import type { MemberStatus } from "../../etcd/store.ts";

/** A member that answered. */
export type Answer = Extract<MemberStatus, { ok: true }>;

/** Oldest version that speaks all we need. */
const OLDEST = [3, 4] as const;
/** First patches, by release line, that never acknowledge a stale renewal. */
const SOUND: Record<string, number> = { "3.4": 42, "3.5": 28, "3.6": 9 };

/** Whether each endpoint answers and how old it is; whether all are of one version. */
export function judgeMembers(members: readonly MemberStatus[]): Finding[] {
  return [...members.map(judgeMember), ...judgeMixture(answersOf(members))];
}

export function answersOf(members: readonly MemberStatus[]): Answer[] {
  return members.flatMap((member) => (member.ok ? [member] : []));
}

function judgeMember(member: MemberStatus): Finding {
  const about = { kind: "member", check: `member ${member.endpoint}` };
  if (!member.ok) {
    const detail = withoutEndpoint(member.error.message, member.endpoint);
    return { ...about, level: "warning", detail, remedy: remedyFor(member.error.kind) };
  }
  const millis = `${member.millis.toFixed(0)} ms`;
  const fault = versionFault(member.version);
  if (fault === undefined) return { ...about, level: "ok", detail: `etcd ${member.version}, ${millis}` };
  const { older, ...rest } = fault;
  return { ...about, ...rest, detail: `etcd ${member.version}, which is older than ${older}, ${millis}` };
}

/** Errors of a member begin with its address, which the finding has said. */
function withoutEndpoint(message: string, endpoint: string): string {
  return message.startsWith(`${endpoint}: `) ? message.slice(endpoint.length + 2) : message;
}

function remedyFor(kind: string): string {
  if (kind === "unauthenticated") return "check user and password, or the certificate: signalbox config";
  if (kind === "invalid") return "choose another --transport, or turn its gateway on";
  return "start it, or take it out of endpoints";
}

/** What is wrong with a version: the one that it should at least be. */
function versionFault(version: string): (Pick<Finding, "level" | "remedy"> & { older: string }) | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    return { level: "failure", older: OLDEST.join("."), remedy: "etcd 3.4 or later is needed" };
  const floor = SOUND[`${major}.${minor}`];
  if (floor === undefined || patch >= floor) return undefined;
  const older = `${major}.${minor}.${floor}`;
  const remedy = `upgrade to ${older} or later: older servers can acknowledge a stale renewal (runs guard against it)`;
  return { level: "warning", older, remedy };
}

function judgeMixture(answers: readonly Answer[]): Finding[] {
  const versions = [...new Set(answers.map(({ version }) => version))].sort();
  if (versions.length < 2) return [];
  return [
    {
      ...{ kind: "versions", check: "versions", level: "warning" },
      detail: `members are of different versions: ${versions.join(", ")}`,
      remedy: "finish the upgrade: until then etcd serves what the oldest one can",
    },
  ];
}
