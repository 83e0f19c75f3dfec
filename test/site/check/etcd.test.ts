/** Findings from the answers of members, as tables, without etcd. */
import { describe, expect, test } from "vitest";
import type { Finding } from "../../../src/core/base/finding.ts";
import { formatBytes } from "../../../src/core/base/size.ts";
import { type MemberStatus, StoreError, type StoreErrorKind } from "../../../src/core/etcd/store.ts";
import type { AnsweringStatus, ClusterMember } from "../../../src/core/protocol/member.ts";
import { judgeOwnClock } from "../../../src/site/check/clock.ts";
import { judgeIdentity, judgeTransport, type TransportTrial } from "../../../src/site/check/etcd.ts";
import { computeSurvivedOutage, judgeSettings } from "../../../src/site/check/examine.ts";
import {
  findEtcdFaults,
  getAnsweringMembers,
  judgeAlarms,
  judgeCluster,
  judgeMembers,
  judgeSpace,
} from "../../../src/site/state/etcd-findings.ts";

const GIB = 1024 ** 3;
const formatFindings = (findings: readonly Finding[]) =>
  findings.map(({ level, kind, detail }) => `${level} ${kind}: ${detail}`);

const buildMember = (id: number, change: Partial<AnsweringStatus> = {}): AnsweringStatus => ({
  endpoint: `http://m${id}:2379`,
  ok: true,
  version: "3.5.28",
  memberId: BigInt(id),
  leaderId: 1n,
  revision: 9n,
  raftTerm: 2n,
  raftIndex: 50n,
  dbSize: 1,
  errors: [],
  millis: 1.4,
  clusterId: 7n,
  ...change,
});
const buildSilentMember = (id: number, kind: StoreErrorKind = "unavailable"): MemberStatus => {
  const endpoint = `http://m${id}:2379`;
  return { endpoint, ok: false, error: new StoreError(kind, `${endpoint}: no answer`) };
};
const buildMemberList = (count: number, learner?: number): ClusterMember[] =>
  Array.from({ length: count }, (_, at) => ({
    id: BigInt(at + 1),
    name: `m${at + 1}`,
    clientUrls: [`http://m${at + 1}:2379`],
    isLearner: at + 1 === learner,
  }));
/** Members by their number: `1 2 -3 ?4` are two that answer, one that does not, and one that does so only to root. */
const buildMembers = (text: string, changes: Record<number, Partial<AnsweringStatus>> = {}): MemberStatus[] =>
  text.split(" ").map((word) => {
    const id = Number(word.replace(/\D/, ""));
    if (word.startsWith("-")) return buildSilentMember(id);
    return word.startsWith("?") ? buildSilentMember(id, "permission") : buildMember(id, changes[id]);
  });

describe("members", () => {
  test.each<[version: string, level: string]>([
    ["3.3.27", "failure"],
    ["2.3.8", "failure"],
    ["3.4.23", "hint"],
    ["3.4.41", "hint"],
    ["3.4.42", "ok"],
    ["3.5.0", "warning"],
    ["3.5.5", "warning"],
    ["3.5.6", "hint"],
    ["3.5.27", "hint"],
    ["3.5.28", "ok"],
    ["3.6.8", "hint"],
    ["3.6.9", "ok"],
    ["3.7.0", "ok"],
    ["4.0.0-rc.1", "ok"],
  ])("etcd %s: %s", (version, level) => {
    expect(judgeMembers([buildMember(1, { version })])).toMatchObject([
      { level, check: "member http://m1:2379" },
    ]);
  });

  test.each([
    ["3.4.23", "etcd 3.4.23, which is older than 3.4.42, 1 ms", /3\.4\.42/],
    ["3.5.2", "etcd 3.5.2, which is older than 3.5.28, 1 ms", /different data.*held twice/],
  ])("of %s the floor is named, and what to do", (version, detail, remedy) => {
    expect(judgeMembers([buildMember(1, { version })])).toMatchObject([
      { detail, remedy: expect.stringMatching(remedy) },
    ]);
  });

  test("one that tells its status to root only is there, and its metrics tell its version", () => {
    const gauges = new Map([
      ["http://m1:2379", { version: "3.5.30", quota: undefined, compacted: undefined, clock: undefined }],
      ["http://m2:2379", { version: "3.5.27", quota: undefined, compacted: undefined, clock: undefined }],
    ]);
    expect(formatFindings(judgeMembers(buildMembers("?1 ?2 ?3"), gauges))).toEqual([
      "ok member: etcd 3.5.30, only the user root can read its status",
      "hint member: etcd 3.5.27, which is older than 3.5.28, only the user root can read its status",
      "ok member: it answers; only the user root can read its status",
      "warning versions: members are of different versions: 3.5.27, 3.5.30",
    ]);
  });

  test("mixed versions, and one that is away", () => {
    expect(formatFindings(judgeMembers(buildMembers("1 2 -3", { 2: { version: "3.6.9" } })))).toEqual([
      "ok member: etcd 3.5.28, 1 ms",
      "ok member: etcd 3.6.9, 1 ms",
      "warning member: no answer",
      "warning versions: members are of different versions: 3.5.28, 3.6.9",
    ]);
  });
});

describe("the cluster", () => {
  const listLevels = (members: MemberStatus[], roster?: ClusterMember[]) =>
    [...judgeIdentity(getAnsweringMembers(members), "7"), ...judgeCluster(members, roster)]
      .filter(({ kind }) => kind !== "identity")
      .map(({ kind, level }) => `${kind} ${level}`)
      .join(", ");

  test.each<
    [
      what: string,
      members: string,
      count: number,
      found: string,
      changes?: Record<number, Partial<AnsweringStatus>>,
    ]
  >([
    ["all of three", "1 2 3", 3, "quorum ok, leader ok"],
    ["two of three", "1 2 -3", 3, "quorum warning, leader ok"],
    ["one of three", "2 -1 -3", 3, "quorum failure, leader failure", { 2: { leaderId: 0n } }],
    ["four of five", "1 2 3 4 -5", 5, "quorum warning, leader ok"],
    ["without a roster", "1 -2 -3", 0, "quorum failure, leader ok"],
    ["a single one", "1", 1, "quorum hint, leader ok"],
    ["one address for three", "1", 3, "quorum ok, endpoints hint, leader ok"],
    ["different leaders", "1 2", 2, "quorum ok, leader warning", { 2: { leaderId: 2n } }],
    ["different clusters", "1 2", 2, "unity failure, quorum ok, leader ok", { 2: { clusterId: 8n } }],
    ["one that is behind", "1 2", 2, "quorum ok, leader ok, lag warning", { 1: { raftIndex: 5_000n } }],
    ["one that is a little behind", "1 2", 2, "quorum ok, leader ok", { 1: { raftIndex: 500n } }],
    ["nobody", "-1", 0, ""],
    ["all keep their status to themselves", "?1 ?2 ?3", 3, "quorum ok, leader hint"],
    ["two do, one is away", "?1 -2 ?3", 3, "quorum warning, leader hint"],
    [
      "one address for three, which keeps its status to itself",
      "?1",
      3,
      "quorum ok, endpoints hint, leader hint",
    ],
    ["the only one keeps its status to itself", "?1", 1, "quorum hint, leader hint"],
  ])("%s", (_, members, count, found, changes) => {
    expect(listLevels(buildMembers(members, changes), count === 0 ? undefined : buildMemberList(count))).toBe(
      found,
    );
  });

  test("learners do not count", () => {
    expect(listLevels(buildMembers("1 2 3"), buildMemberList(4, 4))).toBe("quorum ok, leader ok");
  });

  test.each([
    ["1 2 -3", 3, "2 of 3 members answered, 2 are a majority: no further member may fail"],
    ["1 2 3 4 -5", 5, "4 of 5 members answered, 3 are a majority: 1 more may fail"],
  ])("says how many of %s may be lost", (members, count, text) => {
    expect(formatFindings(judgeCluster(buildMembers(members), buildMemberList(count)))).toContainEqual(
      expect.stringContaining(text),
    );
  });
});

describe("the cluster's id", () => {
  const DEFAULT = 0xcdf818194e3a8c32n;
  test.each<[what: string, ids: (bigint | undefined)[], configured: string | undefined, found: string[]]>([
    ["as configured", [7n, 7n], "7", ["ok identity: id 7, as configured"]],
    ["not configured", [0xabcn], undefined, ["hint identity: id abc; clusterId is not set"]],
    ["another", [0xabcn], "7", ["failure identity: id abc, but clusterId is 7: nothing can start"]],
    [
      "of two clusters",
      [7n, 0xabcn, 7n],
      "7",
      [
        "failure unity: the endpoints belong to 2 clusters: 7 (http://m1:2379, http://m3:2379) and abc (http://m2:2379)",
      ],
    ],
    [
      "that of every etcd without flags",
      [DEFAULT],
      "cdf818194e3a8c32",
      [
        "hint identity: id cdf818194e3a8c32, as configured; every etcd that was started without flags has this id",
      ],
    ],
    ["not told", [undefined], undefined, []],
  ])("%s", (_, ids, configured, found) => {
    const answers = ids.map((clusterId, index) =>
      buildMember(index + 1, { clusterId } as Partial<AnsweringStatus>),
    );
    expect(formatFindings(judgeIdentity(answers, configured))).toEqual(found);
  });
});

test("alarms: each once, though every member tells all", () => {
  const errors = ["memberID:1 alarm:NOSPACE ", "etcdserver: no leader"];
  expect(formatFindings(judgeAlarms([1, 2].map((id) => buildMember(id, { errors }))))).toEqual([
    "failure alarm: memberID:1 alarm:NOSPACE: the database is full, nothing new can start",
  ]);
  expect(judgeAlarms([buildMember(1, { errors: ["memberID:1 alarm:CORRUPT"] })])[0]?.remedy).toMatch(
    "backup",
  );
  expect(formatFindings(judgeAlarms([buildMember(1)]))).toEqual(["ok alarm: none"]);
});

describe("the database's size", () => {
  test.each<[size: number, level: string]>([
    [0.69, "ok"],
    [0.7, "warning"],
    [0.89, "warning"],
    [0.9, "failure"],
    [1.1, "failure"],
  ])("%d of the quota: %s", (share, level) => {
    const findings = judgeSpace([buildMember(1, { dbSize: share * 8 * GIB })], () => ({
      bytes: 8 * GIB,
      source: "metrics",
    }));
    expect(findings).toMatchObject([{ level }]);
  });

  test("what is only assumed is said to be, and so is what a defragmentation would give back", () => {
    const [finding] = judgeSpace([buildMember(1, { dbSize: 1.9 * GIB, dbInUse: GIB / 10 })], () => ({
      bytes: 2 * GIB,
      source: "assumed",
    }));
    expect(finding).toMatchObject({
      detail: "1.9 GiB of 2.0 GiB (etcd's default; set another with --quota), 102 MiB of it in use",
      remedy: expect.stringContaining("defrag"),
    });
  });

  test.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [1023, "1023 bytes"],
    [1024, "1.0 KiB"],
    [20 * 1024, "20 KiB"],
    [1.5 * GIB, "1.5 GiB"],
    [3000 * 1024 * GIB, "3000 TiB"],
  ])("%d is %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});

describe("this host's settings", () => {
  test("the design's table: with TTL 30 and 10 s to end, 14 s are survived", () => {
    expect(computeSurvivedOutage(30_000, 10_000)).toBe(14_000);
  });

  test.each<[ttl: number, termination: number, level: string]>([
    [30_000, 10_000, "ok"],
    [20_000, 10_000, "ok"],
    [15_000, 10_000, "warning"],
    [5_000, 1_000, "warning"],
    [9_000, 1_000, "ok"],
  ])("ttl %d, termination timeout %d: %s", (ttl, terminationTimeout, level) => {
    const finding = judgeSettings({ ttl, terminationTimeout });
    expect(finding.level).toBe(level);
    const advised = /ttl to (\d+)s/.exec(finding.remedy ?? "")?.[1];
    if (level === "warning")
      expect(computeSurvivedOutage(Number(advised) * 1000, terminationTimeout)).toBeGreaterThan(5_000);
  });
});

describe("transports", () => {
  const works: TransportTrial = buildMembers("1 2");
  const off: TransportTrial = [buildSilentMember(1, "invalid"), buildSilentMember(2, "invalid")];
  const half: TransportTrial = [buildMember(1), buildSilentMember(2, "invalid")];
  test.each<[string, string, TransportTrial, TransportTrial, RegExp | undefined, string?]>([
    ["both work", "auto", works, works, /^ok transport: http \(auto\) works; grpc works too$/],
    ["grpc does not", "http", works, off, /^ok transport: http works; grpc does not: /],
    ["grpc cannot be tried", "auto", works, new Error("no"), /^ok transport: .*grpc does not: no/],
    [
      "the gateway is off",
      "auto",
      off,
      works,
      /^failure transport: http \(auto\) does not work, grpc does/,
      "grpc",
    ],
    ["it is off on one", "auto", half, works, /^warning transport: http \(auto\) reaches 1 members, grpc 2/],
    ["etcd is away", "auto", buildMembers("-1"), buildMembers("-1"), undefined],
  ])("%s", (_, setting, http, grpc, found, use = "http") => {
    const verdict = judgeTransport(setting, "http", { http, grpc });
    expect(verdict.use).toBe(use);
    const text = verdict.finding && formatFindings([verdict.finding])[0];
    if (found === undefined) expect(text).toBeUndefined();
    else expect(text).toMatch(found);
  });
});

describe("this host's clock", () => {
  const buildOffset = (endpoint: string, least: number, most = least + 1_000) => ({ endpoint, least, most });
  test.each<[what: string, offsets: ReturnType<typeof buildOffset>[], found: RegExp]>([
    ["nobody says", [], /^ok clock: not compared/],
    [
      "it agrees",
      [buildOffset("a", -500), buildOffset("b", 4_000)],
      /^ok clock: within 5s of those of 2 members/,
    ],
    ["a slow answer proves nothing", [buildOffset("a", -60_000, 60_000)], /^ok/],
    [
      "it is behind all",
      [buildOffset("a", 60_000), buildOffset("b", 61_000)],
      /^warning clock: 1m or more behind that of etcd's member \(a\)/,
    ],
    [
      "it is ahead",
      [buildOffset("a", -62_000, -61_000)],
      /^warning clock: 1m1s or more ahead of that of etcd's member/,
    ],
    [
      "one member is off",
      [buildOffset("a", 0), buildOffset("b", 0), buildOffset("c", -62_000, -60_000)],
      /^warning clock: this host's is 1m or more ahead of/,
    ],
  ])("%s", (_, offsets, found) => {
    expect(formatFindings(judgeOwnClock(offsets))).toEqual([expect.stringMatching(found)]);
  });
});

describe("what is wrong with etcd itself", () => {
  const read = (statuses: MemberStatus[], quota?: number, roster: ClusterMember[] = buildMemberList(3)) =>
    formatFindings(
      findEtcdFaults({ roster, statuses, metrics: new Map([["http://m1:2379", { version: "", quota }]]) }),
    );
  const all = buildMembers("1 2 3");

  test("is nothing where all is well, or only root may read it", () => {
    expect(read(all, 1_000)).toEqual([]);
    expect(read(buildMembers("?1 ?2 ?3"))).toEqual([]);
  });

  test("is each fault that doctor warns of", () => {
    const errors = ["memberID:1 alarm:NOSPACE", "memberID:2 alarm:CORRUPT"];
    const changes = { 1: { raftIndex: 2_000n, errors }, 2: { version: "3.6.9" } };
    expect(read(buildMembers("1 2 -3", changes))).toEqual([
      "failure alarm: memberID:1 alarm:NOSPACE: the database is full, nothing new can start",
      "failure alarm: memberID:2 alarm:CORRUPT: the members' data differ",
      "warning member: no answer",
      "warning versions: members are of different versions: 3.5.28, 3.6.9",
      "warning quorum: 2 of 3 members answered, 2 are a majority: no further member may fail",
      "warning lag: 1950 log entries behind",
    ]);
  });

  test("a former leader that is cut off does not make the others lag", () => {
    const former = { leaderId: 3n, raftTerm: 1n, raftIndex: 9_000n };
    expect(read(buildMembers("1 2 3", { 3: former }))).toEqual([
      "warning leader: the members do not agree on the leader",
    ]);
  });

  test("one that is cut off, names no leader and raises its term, lags", () => {
    const [leader, cut] = [{ raftIndex: 3_000n }, { leaderId: 0n, raftTerm: 9n }];
    expect(read(buildMembers("1 2 3", { 1: leader, 2: leader, 3: cut }))).toEqual([
      "warning leader: the members do not agree on the leader",
      "warning lag: 2950 log entries behind",
    ]);
  });

  test("a database is judged by a known quota only", () => {
    const full = buildMembers("1 2 3", { 1: { dbSize: 1_900 * 1024 ** 2 } });
    expect(read(full)).toEqual([]);
    expect(read(full, 2 * GIB)).toEqual(["failure space: 1.9 GiB of 2.0 GiB"]);
    expect(read(full, 8 * GIB)).toEqual([]);
  });

  test("members that are not asked count for the majority", () => {
    expect(read(buildMembers("1 2 -3"), undefined, buildMemberList(5))).toEqual([
      "warning member: no answer",
    ]);
  });
});
