import { describe, expect, test } from "vitest";
import { buildMemberRows } from "../../src/views/etcd-members.ts";

type Reading = Parameters<typeof buildMemberRows>[0];
type Answer = Extract<Reading["statuses"][number], { ok: true }>;

const url = (id: bigint) => `http://etcd${id}:2379`;
const list = (id: bigint, isLearner = false) => ({ id, name: `m${id}`, clientUrls: [url(id)], isLearner });
const answer = (memberId: bigint, more: Partial<Answer> = {}): Answer => ({
  endpoint: url(memberId),
  ok: true,
  version: "3.5.30",
  memberId,
  leaderId: 1n,
  revision: 9n,
  raftTerm: 5n,
  raftIndex: 1_000n,
  dbSize: 20_480,
  errors: [],
  millis: 2,
  ...more,
});
const refuse = (endpoint: string, kind: string, message: string) => ({
  endpoint,
  ok: false as const,
  error: { kind, message: `${endpoint}: ${message}` },
});

const build = (statuses: Reading["statuses"], roster: Reading["roster"] = [list(1n), list(2n), list(3n)]) =>
  buildMemberRows({ roster, statuses, metrics: new Map([[url(1n), { quota: 4_096, version: "3.5.1" }]]) });

describe("members", () => {
  test("the leader comes first, and the others are compared with it", () => {
    const rows = build([answer(2n, { raftIndex: 400n }), answer(3n, { raftIndex: 1_001n }), answer(1n)]);
    expect(rows.map(({ member, state, lag, quota }) => [member?.name, state, lag, quota])).toEqual([
      ["m1", "leader", 0, 4_096],
      ["m2", "follower", 600, undefined],
      ["m3", "follower", 0, undefined],
    ]);
  });

  test("without the leader, the one with the most entries is the measure", () => {
    const rows = build([
      refuse(url(1n), "unavailable", "connection refused"),
      answer(2n),
      answer(3n, { raftIndex: 7n }),
    ]);
    expect(rows.map(({ member, state, lag, note }) => [member?.name, state, lag, note])).toEqual([
      ["m2", "follower", 0, ""],
      ["m3", "follower", 993, ""],
      ["m1", "unreachable", undefined, "connection refused"],
    ]);
  });

  test("a former leader that is cut off is no measure, and is said to be behind", () => {
    const former = answer(3n, { leaderId: 3n, raftTerm: 4n, raftIndex: 5_000n });
    const rows = build([answer(1n), answer(2n), former]);
    expect(rows.find(({ member }) => member?.name === "m2")?.lag).toBe(0);
    expect(rows.find(({ member }) => member?.name === "m3")?.note).toBe(
      "it is in an earlier term than http://etcd1:2379",
    );
  });

  test("an alarm belongs to the member that raised it, even if that one does not answer", () => {
    const errors = ["memberID:3 alarm:NOSPACE ", "memberID:2  alarm:CORRUPT", "etcdserver: no leader"];
    const rows = build([answer(1n, { errors }), answer(2n, { errors: errors.slice(0, 1), leaderId: 0n })]);
    expect(rows.map(({ member, state, alarms, note }) => [member?.name, state, alarms, note])).toEqual([
      ["m1", "leader", [], "etcdserver: no leader"],
      ["m2", "leaderless", ["CORRUPT"], ""],
      ["m3", "unasked", ["NOSPACE"], "no endpoint is known to lead to it, so it was not asked"],
    ]);
  });

  test("a learner, one that has not joined, a hidden status, and an endpoint of nobody", () => {
    const rows = build(
      [
        answer(1n),
        answer(2n),
        refuse(url(3n), "permission", "no"),
        refuse("http://lb:2379", "unavailable", "late"),
      ],
      [list(1n), list(2n, true), list(3n), { ...list(4n), clientUrls: [] }],
    );
    expect(rows.map(({ endpoint, state, note }) => [endpoint, state, note])).toEqual([
      [url(1n), "leader", ""],
      [url(2n), "learner", ""],
      [url(3n), "hidden", "only the user root may read its status"],
      ["http://lb:2379", "unreachable", "late"],
      ["", "unasked", "it has not joined the cluster yet"],
    ]);
  });

  test("two endpoints of one member are one row, and one whose list is not known too", () => {
    const twice = [refuse(url(1n), "unavailable", "late"), answer(1n, { endpoint: "http://lb:2379" })];
    expect(build(twice, [list(1n)]).map(({ endpoint }) => endpoint)).toEqual(["http://lb:2379"]);
    expect(build([answer(1n)], new Error("no")).map(({ state }) => state)).toEqual(["leader"]);
  });
});
