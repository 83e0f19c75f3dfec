/** Findings from the answers of members, as tables, without etcd. */
import { describe, expect, test } from "vitest";
import type { Finding } from "../../src/base/finding.ts";
import { formatBytes } from "../../src/base/size.ts";
import { judgeOwnClock } from "../../src/check/clock.ts";
import { computeSurvivedOutage, judgeSettings } from "../../src/check/examine.ts";
import { judgeIdentity } from "../../src/check/identity.ts";
import { judgeTransport, type TransportTrial } from "../../src/check/transport.ts";
import { type MemberStatus, StoreError, type StoreErrorKind } from "../../src/etcd/store.ts";
import type { AnsweringStatus, ClusterMember } from "../../src/protocol/member.ts";
import {
  findEtcdFaults,
  getAnsweringMembers,
  judgeAlarms,
  judgeCluster,
  judgeMembers,
  judgeSpace,
} from "../../src/state/etcd-findings.ts";

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
const buildRefusingMember = (id: number) => buildSilentMember(id, "permission");
const buildMemberList = (...ids: number[]): ClusterMember[] =>
  ids.map((id) => ({ id: BigInt(id), name: `m${id}`, clientUrls: [`http://m${id}:2379`], isLearner: false }));
const buildLearner = (id: number): ClusterMember =>
  ({ ...buildMemberList(id)[0], isLearner: true }) as ClusterMember;

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

  test("the floor is named", () => {
    expect(judgeMembers([buildMember(1, { version: "3.4.23" })])).toMatchObject([
      { detail: "etcd 3.4.23, which is older than 3.4.42, 1 ms", remedy: expect.stringContaining("3.4.42") },
    ]);
  });

  test("members that can come to hold different data are named as such", () => {
    expect(judgeMembers([buildMember(1, { version: "3.5.2" })])).toMatchObject([
      {
        detail: "etcd 3.5.2, which is older than 3.5.28, 1 ms",
        remedy: expect.stringMatching(/different data.*held twice/),
      },
    ]);
  });

  test("one that tells its status to root only is there, and its metrics tell its version", () => {
    const gauges = new Map([
      ["http://m1:2379", { version: "3.5.30", quota: undefined, compacted: undefined, clock: undefined }],
      ["http://m2:2379", { version: "3.5.27", quota: undefined, compacted: undefined, clock: undefined }],
    ]);
    expect(
      formatFindings(
        judgeMembers([buildRefusingMember(1), buildRefusingMember(2), buildRefusingMember(3)], gauges),
      ),
    ).toEqual([
      "ok member: etcd 3.5.30, only the user root can read its status",
      "hint member: etcd 3.5.27, which is older than 3.5.28, only the user root can read its status",
      "ok member: it answers; only the user root can read its status",
      "warning versions: members are of different versions: 3.5.27, 3.5.30",
    ]);
  });

  test("mixed versions, and one that is away", () => {
    expect(
      formatFindings(
        judgeMembers([buildMember(1), buildMember(2, { version: "3.6.9" }), buildSilentMember(3)]),
      ),
    ).toEqual([
      "ok member: etcd 3.5.28, 1 ms",
      "ok member: etcd 3.6.9, 1 ms",
      "warning member: no answer",
      "warning versions: members are of different versions: 3.5.28, 3.6.9",
    ]);
  });
});

describe("the cluster", () => {
  const listLevels = (members: MemberStatus[], roster?: ClusterMember[]) =>
    Object.fromEntries(
      [...judgeIdentity(getAnsweringMembers(members), "7"), ...judgeCluster(members, roster)].flatMap(
        ({ kind, level }) => (kind === "identity" ? [] : [[kind, level]]),
      ),
    );

  test.each<[what: string, members: MemberStatus[], roster: ClusterMember[] | undefined, found: object]>([
    [
      "all of three",
      [buildMember(1), buildMember(2), buildMember(3)],
      buildMemberList(1, 2, 3),
      { quorum: "ok", leader: "ok" },
    ],
    [
      "two of three",
      [buildMember(1), buildMember(2), buildSilentMember(3)],
      buildMemberList(1, 2, 3),
      { quorum: "warning", leader: "ok" },
    ],
    [
      "one of three",
      [buildMember(2, { leaderId: 0n }), buildSilentMember(1), buildSilentMember(3)],
      buildMemberList(1, 2, 3),
      { quorum: "failure", leader: "failure" },
    ],
    [
      "four of five",
      [1, 2, 3, 4].map((id) => buildMember(id)).concat(buildSilentMember(5) as never),
      buildMemberList(1, 2, 3, 4, 5),
      { quorum: "warning", leader: "ok" },
    ],
    [
      "without a roster",
      [buildMember(1), buildSilentMember(2), buildSilentMember(3)],
      undefined,
      { quorum: "failure", leader: "ok" },
    ],
    ["a single one", [buildMember(1)], buildMemberList(1), { quorum: "hint", leader: "ok" }],
    [
      "one address for three",
      [buildMember(1)],
      buildMemberList(1, 2, 3),
      { quorum: "ok", endpoints: "hint", leader: "ok" },
    ],
    [
      "learners do not count",
      [buildMember(1), buildMember(2), buildMember(3)],
      [...buildMemberList(1, 2, 3), buildLearner(4)],
      { quorum: "ok", leader: "ok" },
    ],
    [
      "different leaders",
      [buildMember(1), buildMember(2, { leaderId: 2n })],
      buildMemberList(1, 2),
      { quorum: "ok", leader: "warning" },
    ],
    [
      "different clusters",
      [buildMember(1), buildMember(2, { clusterId: 8n })],
      buildMemberList(1, 2),
      { unity: "failure", quorum: "ok", leader: "ok" },
    ],
    [
      "one that is behind",
      [buildMember(1, { raftIndex: 5_000n }), buildMember(2)],
      buildMemberList(1, 2),
      { quorum: "ok", leader: "ok", lag: "warning" },
    ],
    [
      "one that is a little behind",
      [buildMember(1, { raftIndex: 500n }), buildMember(2)],
      buildMemberList(1, 2),
      { quorum: "ok", leader: "ok" },
    ],
    ["nobody", [buildSilentMember(1)], undefined, {}],
    [
      "all keep their status to themselves",
      [buildRefusingMember(1), buildRefusingMember(2), buildRefusingMember(3)],
      buildMemberList(1, 2, 3),
      { quorum: "ok", leader: "hint" },
    ],
    [
      "two do, one is away",
      [buildRefusingMember(1), buildSilentMember(2), buildRefusingMember(3)],
      buildMemberList(1, 2, 3),
      { quorum: "warning", leader: "hint" },
    ],
    [
      "one address for three, which keeps its status to itself",
      [buildRefusingMember(1)],
      buildMemberList(1, 2, 3),
      { quorum: "ok", endpoints: "hint", leader: "hint" },
    ],
    [
      "the only one keeps its status to itself",
      [buildRefusingMember(1)],
      buildMemberList(1),
      { quorum: "hint", leader: "hint" },
    ],
  ])("%s", (_, members, roster, found) => {
    expect(listLevels(members, roster)).toEqual(found);
  });

  test("says how many may be lost", () => {
    const told3 = formatFindings(
      judgeCluster([buildMember(1), buildMember(2), buildSilentMember(3)], buildMemberList(1, 2, 3)),
    );
    expect(told3).toContainEqual(
      expect.stringContaining("2 of 3 members answered, 2 are a majority: no further member may fail"),
    );
    const told5 = formatFindings(
      judgeCluster(
        [buildMember(1), buildMember(2), buildMember(3), buildMember(4), buildSilentMember(5)],
        buildMemberList(1, 2, 3, 4, 5),
      ),
    );
    expect(told5).toContainEqual(expect.stringMatching(/4 of 5 .*: 1 more may fail/));
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

describe("alarms", () => {
  test("each once, though every member tells all", () => {
    const errors = ["memberID:1 alarm:NOSPACE ", "etcdserver: no leader"];
    expect(formatFindings(judgeAlarms([buildMember(1, { errors }), buildMember(2, { errors })]))).toEqual([
      "failure alarm: memberID:1 alarm:NOSPACE: the database is full, nothing new can start",
    ]);
    expect(judgeAlarms([buildMember(1, { errors: ["memberID:1 alarm:CORRUPT"] })])[0]?.remedy).toMatch(
      "backup",
    );
    expect(formatFindings(judgeAlarms([buildMember(1)]))).toEqual(["ok alarm: none"]);
  });
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
  const works: TransportTrial = [buildMember(1), buildMember(2)];
  const off: TransportTrial = [buildSilentMember(1, "invalid"), buildSilentMember(2, "invalid")];
  const half: TransportTrial = [buildMember(1), buildSilentMember(2, "invalid")];
  test.each<
    [
      what: string,
      setting: string,
      http: TransportTrial,
      grpc: TransportTrial,
      found: RegExp | undefined,
      use: string,
    ]
  >([
    ["both work", "auto", works, works, /^ok transport: http \(auto\) works; grpc works too$/, "http"],
    ["grpc does not", "http", works, off, /^ok transport: http works; grpc does not: /, "http"],
    ["grpc cannot be tried", "auto", works, new Error("no"), /^ok transport: .*grpc does not: no/, "http"],
    [
      "the gateway is off",
      "auto",
      off,
      works,
      /^failure transport: http \(auto\) does not work, grpc does/,
      "grpc",
    ],
    [
      "it is off on one",
      "auto",
      half,
      works,
      /^warning transport: http \(auto\) reaches 1 members, grpc 2/,
      "http",
    ],
    ["etcd is away", "auto", [buildSilentMember(1)], [buildSilentMember(1)], undefined, "http"],
  ])("%s", (_, setting, http, grpc, found, use) => {
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
  const read = (
    statuses: MemberStatus[],
    quota?: number,
    roster: ClusterMember[] = buildMemberList(1, 2, 3),
  ) =>
    formatFindings(
      findEtcdFaults({ roster, statuses, metrics: new Map([["http://m1:2379", { version: "", quota }]]) }),
    );
  const all = [buildMember(1), buildMember(2), buildMember(3)];

  test("is nothing where all is well, or only root may read it", () => {
    expect(read(all, 1_000)).toEqual([]);
    expect(read([1, 2, 3].map(buildRefusingMember))).toEqual([]);
  });

  test("is each fault that doctor warns of", () => {
    const errors = ["memberID:1 alarm:NOSPACE", "memberID:2 alarm:CORRUPT"];
    const far = buildMember(1, { raftIndex: 2_000n, errors });
    expect(read([far, buildMember(2, { version: "3.6.9" }), buildSilentMember(3)])).toEqual([
      "failure alarm: memberID:1 alarm:NOSPACE: the database is full, nothing new can start",
      "failure alarm: memberID:2 alarm:CORRUPT: the members' data differ",
      "warning member: no answer",
      "warning versions: members are of different versions: 3.5.28, 3.6.9",
      "warning quorum: 2 of 3 members answered, 2 are a majority: no further member may fail",
      "warning lag: 1950 log entries behind",
    ]);
  });

  test("a former leader that is cut off does not make the others lag", () => {
    const former = buildMember(3, { leaderId: 3n, raftTerm: 1n, raftIndex: 9_000n });
    expect(read([buildMember(1), buildMember(2), former])).toEqual([
      "warning leader: the members do not agree on the leader",
    ]);
  });

  test("one that is cut off, names no leader and raises its term, lags", () => {
    const cut = buildMember(3, { leaderId: 0n, raftTerm: 9n });
    const others = [1, 2].map((id) => buildMember(id, { raftIndex: 3_000n }));
    expect(read([...others, cut])).toEqual([
      "warning leader: the members do not agree on the leader",
      "warning lag: 2950 log entries behind",
    ]);
  });

  test("a database is judged by a known quota only", () => {
    const full = [buildMember(1, { dbSize: 1_900 * 1024 ** 2 }), buildMember(2), buildMember(3)];
    expect(read(full)).toEqual([]);
    expect(read(full, 2 * GIB)).toEqual(["failure space: 1.9 GiB of 2.0 GiB"]);
    expect(read(full, 8 * GIB)).toEqual([]);
  });

  test("members that are not asked count for the majority", () => {
    const five = buildMemberList(1, 2, 3, 4, 5);
    expect(read([buildMember(1), buildMember(2), buildSilentMember(3)], undefined, five)).toEqual([
      "warning member: no answer",
    ]);
  });
});
