import type { Finding } from "../../base/finding.ts";
import type { ClusterMember, MemberStatus } from "../../etcd/store.ts";
import { type Answer, answersOf } from "./members.ts";

/** Entries of the log that a member may be behind the others: the members are not asked at one instant. */
const LAG = 1_000;

/**
 * Whether the members that answer are one cluster with a majority and a leader.
 * @param roster  who belongs to it; undefined where nobody could be asked
 */
export function judgeCluster(
  members: readonly MemberStatus[],
  roster: readonly ClusterMember[] | undefined,
): Finding[] {
  const answers = answersOf(members);
  if (answers.length === 0) return [];
  return [
    ...judgeUnity(answers),
    judgeQuorum(members, roster),
    ...judgeEndpoints(members, roster),
    judgeLeader(answers),
    ...judgeLag(answers),
  ];
}

function judgeUnity(answers: readonly Answer[]): Finding[] {
  const clusters = new Map(answers.map(({ clusterId, endpoint }) => [clusterId, endpoint]));
  if (clusters.size < 2) return [];
  return [
    {
      ...{ kind: "unity", check: "cluster", level: "failure" },
      detail: `the endpoints belong to ${clusters.size} clusters: ${[...clusters.values()].join(" and ")} know nothing of each other`,
      remedy: "name the members of one cluster only: two runs would each get the same lock",
    },
  ];
}

/** Where the cluster's members are not known, the endpoints are taken for them. */
function judgeQuorum(
  members: readonly MemberStatus[],
  roster: readonly ClusterMember[] | undefined,
): Finding {
  const answering = new Set(answersOf(members).map(({ memberId }) => memberId));
  const voters = roster?.filter(({ isLearner }) => !isLearner).map(({ id }) => id);
  const size = voters?.length ?? members.length;
  const there = voters === undefined ? answering.size : voters.filter((id) => answering.has(id)).length;
  const majority = Math.floor(size / 2) + 1;
  const about = { kind: "quorum", check: "quorum" };
  const detail = `${there} of ${size} ${size === 1 ? "member" : "members"} answered, ${majority} ${majority === 1 ? "is" : "are"} a majority`;
  const isAsked = members.length >= size;
  if (size === 1)
    return {
      ...{ ...about, level: "hint", detail: "a single member: while it is away, nothing can start" },
      remedy: "for production, three or five members",
    };
  if (there === size || !isAsked) return { ...about, level: "ok", detail };
  if (there < majority)
    return {
      ...{ ...about, level: "failure", detail: `${detail}: without one, nothing can be granted or renewed` },
      remedy: "start the members that are away",
    };
  const left = there - majority;
  const spare =
    left === 0 ? "not one more may be lost" : `${left} more may be lost before nothing can be granted`;
  return {
    ...{ ...about, level: "warning", detail: `${detail}: ${spare}` },
    remedy: "start the members that are away",
  };
}

/** A host that knows one member of three loses etcd with it. One address may stand for several, behind a balancer. */
function judgeEndpoints(
  members: readonly MemberStatus[],
  roster: readonly ClusterMember[] | undefined,
): Finding[] {
  const known = new Set(answersOf(members).map(({ memberId }) => memberId));
  const others = (roster ?? []).filter(({ id, isLearner }) => !isLearner && !known.has(id));
  if (members.length > 1 || others.length === 0) return [];
  const urls = others.flatMap(({ clientUrls }) => clientUrls);
  return [
    {
      ...{ kind: "endpoints", check: "endpoints", level: "hint" },
      detail: `only one address is configured, of a cluster of ${others.length + 1}`,
      remedy: `unless it is a balancer's, add the others to endpoints: ${urls.join(",")}`,
    },
  ];
}

function judgeLeader(answers: readonly Answer[]): Finding {
  const about = { kind: "leader", check: "leader" };
  const leaders = new Set(answers.map(({ leaderId }) => leaderId));
  const [leader = 0n] = leaders;
  if (leaders.size === 1 && leader === 0n)
    return {
      ...{ ...about, level: "failure", detail: "no member knows a leader" },
      remedy: "is a majority of the members running, and can they reach each other?",
    };
  if (leaders.size > 1)
    return {
      ...{ ...about, level: "warning", detail: "the members do not agree on who leads them" },
      remedy:
        "an election may be under way: look again in a few seconds; if it stays, check the network between the members",
    };
  const name = answers.find(({ memberId }) => memberId === leader)?.endpoint;
  const terms = answers.reduce((most, { raftTerm }) => (raftTerm > most ? raftTerm : most), 0n);
  return { ...about, level: "ok", detail: `${name ?? leader.toString(16)}, term ${terms}` };
}

function judgeLag(answers: readonly Answer[]): Finding[] {
  const newest = answers.reduce((most, { raftIndex }) => (raftIndex > most ? raftIndex : most), 0n);
  return answers
    .filter(({ raftIndex }) => newest - raftIndex > LAG)
    .map(({ endpoint, raftIndex }) => ({
      ...{ kind: "lag", check: `member ${endpoint}`, level: "warning" },
      detail: `${newest - raftIndex} log entries behind`,
      remedy: "is its disk or its network slow? It catches up by itself, and answers late meanwhile",
    }));
}
