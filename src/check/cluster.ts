import type { Finding } from "../base/finding.ts";
import type { ClusterMember, MemberStatus } from "../etcd/store.ts";
import { type ClusterMemoryPort, judgeIdentity } from "./identity.ts";
import { type AnsweringMember, countPresent, getAnsweringMembers, isStatusHidden } from "./members.ts";

/** How many log entries a member may be behind the others: the members are not read at the same instant. */
const LAG = 1_000;

/**
 * Checks whether the members that answer form one cluster with a majority and a leader.
 * @param roster  the members of the cluster; undefined when the list could not be read
 * @param configured  the setting `clusterId`
 */
export function judgeCluster(
  members: readonly MemberStatus[],
  roster: readonly ClusterMember[] | undefined,
  configured: string | undefined,
  memory?: ClusterMemoryPort,
): Finding[] {
  const answers = getAnsweringMembers(members);
  if (countPresent(members) === 0) return [];
  return [
    ...judgeIdentity(answers, configured, memory),
    judgeQuorum(members, roster),
    ...judgeEndpoints(members, roster),
    answers.length === 0 ? STATUS_HIDDEN : judgeLeader(answers),
    ...judgeLag(answers),
  ];
}

/** The finding when no member reports its status. */
const STATUS_HIDDEN: Finding = {
  kind: "leader",
  check: "leader",
  level: "hint",
  detail: "only the user root can read the leader, the alarms and the size of the database",
  remedy: "to have these checked too, run doctor as etcd's user root, or watch etcd's own metrics",
};

/** Checks for a majority. When the members of the cluster are not known, it counts the endpoints instead. */
function judgeQuorum(
  members: readonly MemberStatus[],
  roster: readonly ClusterMember[] | undefined,
): Finding {
  const answering = new Set(getAnsweringMembers(members).map(({ memberId }) => memberId));
  const voters = roster?.filter(({ isLearner }) => !isLearner).map(({ id }) => id);
  const size = voters?.length ?? members.length;
  const known = voters === undefined ? answering.size : voters.filter((id) => answering.has(id)).length;
  const there = Math.min(size, known + members.filter(isStatusHidden).length);
  const majority = Math.floor(size / 2) + 1;
  const about = { kind: "quorum", check: "quorum" };
  const detail = `${there} of ${size} ${size === 1 ? "member" : "members"} answered, ${majority} ${majority === 1 ? "is" : "are"} a majority`;
  const isAsked = members.length >= size;
  if (size === 1)
    return {
      ...about,
      level: "hint",
      detail: "a single member: while it is down, nothing can start",
      remedy: "for production, three or five members",
    };
  if (there === size || !isAsked) return { ...about, level: "ok", detail };
  if (there < majority)
    return {
      ...about,
      level: "failure",
      detail: `${detail}: without a majority, nothing can be granted or renewed`,
      remedy: "start the members that do not answer",
    };
  const left = there - majority;
  const spare =
    left === 0 ? "no further member may fail" : `${left} more may fail before nothing can be granted`;
  return {
    ...about,
    level: "warning",
    detail: `${detail}: ${spare}`,
    remedy: "start the members that do not answer",
  };
}

/**
 * Reports a single endpoint of a larger cluster: if that member fails, the host loses etcd. A load balancer may serve
 * several members at one address.
 */
function judgeEndpoints(
  members: readonly MemberStatus[],
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
    {
      kind: "endpoints",
      check: "endpoints",
      level: "hint",
      detail: `only one address is configured, but the cluster has ${voters.length} members`,
      remedy: `unless it is the address of a load balancer, add the others to endpoints: ${urls.join(",")}`,
    },
  ];
}

function judgeLeader(answers: readonly AnsweringMember[]): Finding {
  const about = { kind: "leader", check: "leader" };
  const leaders = new Set(answers.map(({ leaderId }) => leaderId));
  const [leader = 0n] = leaders;
  if (leaders.size === 1 && leader === 0n)
    return {
      ...about,
      level: "failure",
      detail: "no member knows a leader",
      remedy: "is a majority of the members running, and can they reach each other?",
    };
  if (leaders.size > 1)
    return {
      ...about,
      level: "warning",
      detail: "the members do not agree on the leader",
      remedy:
        "an election may be in progress: look again in a few seconds; if this persists, check the network between the members",
    };
  const name = answers.find(({ memberId }) => memberId === leader)?.endpoint;
  const terms = answers.reduce((most, { raftTerm }) => (raftTerm > most ? raftTerm : most), 0n);
  return { ...about, level: "ok", detail: `${name ?? leader.toString(16)}, term ${terms}` };
}

function judgeLag(answers: readonly AnsweringMember[]): Finding[] {
  const newest = answers.reduce((most, { raftIndex }) => (raftIndex > most ? raftIndex : most), 0n);
  return answers
    .filter(({ raftIndex }) => newest - raftIndex > LAG)
    .map(({ endpoint, raftIndex }) => ({
      kind: "lag",
      check: `member ${endpoint}`,
      level: "warning",
      detail: `${newest - raftIndex} log entries behind`,
      remedy: "is its disk or its network slow? It catches up by itself, and answers late meanwhile",
    }));
}
