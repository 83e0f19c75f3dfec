/** Tables of etcd itself: sessions, users and members. */
import { describe, expect, test } from "vitest";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { ASCII_DRAWING } from "../../../src/cli/views/drawing.ts";
import { buildMemberRows, drawMemberGraphs } from "../../../src/cli/views/etcd-members.ts";
import { buildSessionRows, SESSION_COLUMNS, SESSIONS_JSON } from "../../../src/cli/views/etcd-sessions.ts";
import { buildPermissionRows, PERMISSION_COLUMNS } from "../../../src/cli/views/etcd-users.ts";
import { formatAgentSession } from "../../../src/core/protocol/agent-record.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

type Reading = Parameters<typeof buildSessionRows>[1][number];

const keys = createKeys("/s/");
const RUN = "0123456789abcdef";
const read = (id: bigint, more: Partial<Reading>): Reading => ({
  id,
  time: { left: 20, ttl: 30 },
  keys: [],
  keyCount: more.keys?.length ?? 0,
  owner: undefined,
  fault: undefined,
  ...more,
});
const own = (key: string, value: string) => ({ keys: [key], owner: { key, value } });
const describeRow = (reading: Reading) => {
  const [row] = buildSessionRows(keys, [reading]);
  return SESSION_COLUMNS.map(({ formatCell }) => (row === undefined ? "" : formatCell(row, 0))).join(" | ");
};

describe("whose a session is", () => {
  test.each([
    [
      "an agent",
      own(keys.agentSession("web1", 0xan), formatAgentSession({ agent: RUN, pid: 7, version: "1" })),
      "agent | web1:7 | 1 | session of the agent of web1 | ",
    ],
    ["a worker", own(keys.worker("w"), '{"v":1,"host":"web2","pid":8}'), "worker | web2:8 | 1 | worker w | "],
    [
      "a run",
      own(keys.lock("x", RUN), serializeTicket(createTicket({ run: RUN, host: "web3", pid: 9 }))),
      `run | web3:9 | 1 | ticket for lock x of run ${RUN} | `,
    ],
    [
      "a run whose ticket cannot be read",
      own(keys.lock("x", RUN), "?"),
      `run |  | 1 | ticket for lock x of run ${RUN} | `,
    ],
    [
      "a viewer",
      own(keys.outputRequest("web1", RUN, RUN), "{}"),
      `viewer |  | 1 | request for the output of run ${RUN} | `,
    ],
    [
      "another program",
      { keys: ["/other\x1b", "/b", "/c", "/d"], keyCount: 120 },
      "foreign |  | 120 | /other\\x1b, /b, /c and 117 more | ",
    ],
    ["nobody", {}, "empty |  | 0 |  | "],
    ["somebody whose keys may not be read", { fault: "no" }, "hidden |  | 0 |  | no"],
  ])("%s", (_, more, text) => {
    expect(describeRow(read(10n, more))).toBe(`a | 20 s | 30 s | ${text}`);
  });

  test("one that has ended meanwhile has no time left", () => {
    expect(describeRow(read(10n, { time: undefined }))).toBe(
      "a |  |  | empty |  | 0 |  | it has ended meanwhile",
    );
  });
});

test("those that end soonest come first, and those left out are counted", () => {
  const rows = buildSessionRows(keys, [
    read(1n, {}),
    read(2n, { time: { left: 1, ttl: 30 } }),
    read(3n, { time: undefined }),
  ]);
  expect(rows.map(({ id }) => id)).toEqual([3n, 2n, 1n]);
  expect(SESSIONS_JSON.toJson({ count: 10, rows })).toMatchObject({ count: 10, more: 7 });
});

test.each([
  [{ key: "/a" }, "/a"],
  [{ key: "/a/", rangeEnd: "/a0" }, "/a/*"],
  [{ key: "/a", rangeEnd: "/c" }, "/a to /c"],
  [{ key: "/a", rangeEnd: "\0" }, "from /a on"],
  [{ key: "", rangeEnd: "\0" }, "all"],
  [{ key: "\0", rangeEnd: "\0" }, "all"],
  [{ key: "\xff" }, "\\xff"],
])("a permission on %j is shown as %s", (range, text) => {
  const rows = buildPermissionRows([{ name: "r", permissions: [{ access: "read", ...range }] }]);
  expect(rows.map((row) => PERMISSION_COLUMNS.map(({ formatCell }) => formatCell(row, 0)))).toEqual([
    ["r", "read", text],
  ]);
});

test("a role without permissions has a row", () => {
  expect(buildPermissionRows([{ name: "r", permissions: [] }])).toEqual([
    { role: "r", permission: undefined },
  ]);
});

type MemberReading = Parameters<typeof buildMemberRows>[0];
type Answer = Extract<MemberReading["statuses"][number], { ok: true }>;

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

const build = (
  statuses: MemberReading["statuses"],
  roster: MemberReading["roster"] = [list(1n), list(2n), list(3n)],
) => buildMemberRows({ roster, statuses, metrics: new Map([[url(1n), { quota: 4_096, version: "3.5.1" }]]) });

describe("members", () => {
  test("the leader comes first, and the others are compared with it", () => {
    const rows = build([answer(2n, { raftIndex: 400n }), answer(3n, { raftIndex: 1_001n }), answer(1n)]);
    expect(rows.map(({ member, state, lag, quota }) => [member?.name, state, lag, quota])).toEqual([
      ["m1", "leader", 0, 4_096],
      ["m2", "follower", 600, undefined],
      ["m3", "follower", 0, undefined],
    ]);
  });

  test("each has a graph of its latency and its lag over time, as far as they fit", () => {
    const readings = [2, 8].map((millis, at) => ({
      at: 3_000 * at,
      rows: build([answer(1n, { millis }), answer(2n, { raftIndex: at === 0 ? 1_000n : 400n })]),
    }));
    const draw = (height: number, from = 0) =>
      drawMemberGraphs(readings.slice(from), { width: 30, height, signs: ASCII_DRAWING }).map((line) =>
        line.map(({ text }) => text).join(""),
      );
    const [blank, title, ...graph] = draw(8);
    expect([blank, title]).toEqual(["", "M1  latency in ms above, lag below, last 3s"]);
    expect(graph.map((line) => line.slice(0, 7))).toEqual([
      "    8 |",
      ...Array(4).fill("      |"),
      "    1 |",
    ]);
    expect(draw(24).filter((line) => line.includes("latency"))).toHaveLength(3);
    expect(draw(24)[15]).toMatch(/^ {2}600 \|/);
    expect([draw(7), draw(24, 1)]).toEqual([[], []]);
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

  test("a learner, a member that has not joined, a hidden status, an endpoint without a member", () => {
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
