import type { Finding } from "../../base/finding.ts";
import type { Gauges } from "../../etcd/gauges.ts";
import { type ClusterMember, type MemberStatus, StoreError } from "../../etcd/store.ts";
import { patiently } from "../observe/ports.ts";
import { judgeAlarms } from "./alarms.ts";
import { judgeOwnClock } from "./clock.ts";
import { judgeCluster } from "./cluster.ts";
import { answersOf, judgeMembers } from "./members.ts";
import { judgeOperator, judgeRunner, type Role, rightsOf } from "./permissions.ts";
import type { CheckPorts } from "./ports.ts";
import { judgeSettings } from "./settings.ts";
import { judgeSpace, type Quota, USUAL_QUOTA } from "./space.ts";

export interface Examination {
  members: readonly MemberStatus[];
  /** By endpoint. */
  gauges: ReadonlyMap<string, Gauges>;
  /** Of the database, in bytes, where the user says it. */
  quota: number | undefined;
  /** What the user is meant to be. */
  role: Role;
  settings: { ttl: number; terminationTimeout: number };
}

/**
 * Examines etcd and this host's way to it, part by part. Nothing that etcd fails at ends it: what could not be checked is
 * a finding.
 * @returns whether the keys under the prefix can be read
 */
export async function* examine(
  ports: CheckPorts,
  { members, gauges, quota, role, settings }: Examination,
): AsyncGenerator<readonly Finding[], boolean> {
  const answers = answersOf(members);
  yield judgeMembers(members);
  if (answers.length === 0) {
    yield [judgeSettings(settings), nobody(members)];
    return false;
  }
  yield judgeCluster(members, await rosterOf(ports));
  yield judgeAlarms(answers);
  yield judgeSpace(answers, (endpoint) => quotaOf(quota, gauges.get(endpoint)));
  const offsets = [...gauges].flatMap(([endpoint, { clock }]) => (clock ? [{ endpoint, ...clock }] : []));
  yield judgeOwnClock(offsets);
  yield [judgeSettings(settings)];
  const refusal = await refusalOf(ports);
  if (refusal !== undefined) {
    yield [refusal];
    return false;
  }
  return yield* examineRights(ports, role);
}

async function* examineRights(ports: CheckPorts, role: Role): AsyncGenerator<readonly Finding[], boolean> {
  try {
    const runner = await rightsOf(ports, "runner");
    yield [
      judgeRunner(ports, runner),
      judgeOperator(ports, await rightsOf(ports, "operator"), role === "operator"),
    ];
    return runner.canRead;
  } catch (error) {
    yield [notChecked("permissions", error)];
    return false;
  }
}

function nobody(members: readonly MemberStatus[]): Finding {
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

async function rosterOf(ports: CheckPorts): Promise<ClusterMember[] | undefined> {
  try {
    const roster = await ports.store.roster(ports.signal);
    return roster.length === 0 ? undefined : roster;
  } catch (error) {
    if (error instanceof StoreError) return undefined; // an older server, or one that asks for a permission
    throw error;
  }
}

/** Whether the cluster serves at all: members can answer for themselves while no majority does. */
async function refusalOf(ports: CheckPorts): Promise<Finding | undefined> {
  const glance = { key: ports.keys.prefix, limit: 1, keysOnly: true };
  try {
    await patiently(ports, (signal) => ports.store.range(glance, signal), ports.signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.kind === "permission") return undefined; // said of the permissions
    const detail = `members answer, but the cluster does not serve: ${error.message}`;
    const remedy = "see quorum and leader above; nothing can be granted, and nothing else could be checked";
    return { kind: "etcd", check: "etcd", level: "failure", detail, remedy };
  }
}

/** The finding for a part that etcd did not let be checked. @throws what is no StoreError */
export function notChecked(kind: string, error: unknown): Finding {
  if (!(error instanceof StoreError)) throw error;
  return { kind, check: kind, level: "unknown", detail: `could not be checked: ${error.message}` };
}

function quotaOf(given: number | undefined, gauges: Gauges | undefined): Quota {
  if (given !== undefined) return { bytes: given, source: "flag" };
  if (gauges?.quota !== undefined) return { bytes: gauges.quota, source: "metrics" };
  return { bytes: USUAL_QUOTA, source: "assumed" };
}
