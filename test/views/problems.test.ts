/** Problems: what is reported to operators, and what is not. */

import { describe, expect, it } from "vitest";
import { buildProblemId } from "../../src/state/problem.ts";
import { ETCD_REMEDY, findProblems, problemsView } from "../../src/views/problems.ts";
import { keys } from "../protocol/samples.ts";
import {
  drainOf,
  groupOf,
  held,
  historyOf,
  hostOf,
  NOW,
  pictureOf,
  plain,
  stand,
} from "../state/pictures.ts";
import { worker } from "./schedules.ts";

/** A mark of a grant, of a session of 30 s. */
function createMark(run: string): string {
  const ticket = { run, host: "h", pid: 1, user: "u", command: "c", count: 1, total: 1, enqueuedAt: NOW };
  return JSON.stringify({ v: 1, ...ticket, ...held, ttl: 30, term: "2" });
}

function markOf({ key }: ReturnType<typeof stand>): ReturnType<typeof plain>[] {
  return [plain(keys.mark(key), createMark(key.slice(key.lastIndexOf("/") + 1)))];
}

describe("problems", () => {
  const kinds = (...kvs: Parameters<typeof pictureOf>[0]) =>
    findProblems(pictureOf(kvs), NOW).map(({ kind }) => kind);
  it.each([
    ["a ticket that cannot be read", [plain(keys.lock("x", "h".repeat(16)), "{")], ["malformed"]],
    ["a key that is none of ours", [plain(`${keys.prefix}drains/nothing/x`, "")], ["malformed"]],
    ["a ticket on no session", [{ ...stand("lock x", "a", 1, held), session: 0n }], ["orphan"]],
    [
      "a mark whose ticket has vanished",
      [plain(keys.mark(keys.lock("x", "a".repeat(16))), createMark("a".repeat(16)))],
      ["vanished"],
    ],
    [
      "a mark beside its ticket",
      [stand("lock x", "a", 1, held), ...markOf(stand("lock x", "a", 1, held))],
      [],
    ],
    ["grace past its time", [stand("lock x", "a", 1, { state: "grace", until: NOW - 1 })], ["overdue"]],
    [
      "a reset that nobody answers",
      [stand("lock x", "a", 1, { ...held, reset: { by: "x", at: NOW - 600_000 } })],
      ["reset-unanswered"],
    ],
    ["a clock ahead of ours", [stand("lock x", "a", 1, { ...held, enqueuedAt: NOW + 60_000 })], ["clock"]],
    [
      "a long wait",
      [stand("lock x", "a", 1, { state: "waiting", enqueuedAt: NOW - 7_200_000 })],
      ["long-wait"],
    ],
    ["a hold of days", [stand("lock x", "a", 1, { ...held, grantedAt: NOW - 2e8 })], ["long-hold"]],
    [
      "totals that disagree",
      [
        stand("resource db", "a", 1, { total: 3, enqueuedAt: NOW }),
        stand("resource db", "b", 2, { total: 4, enqueuedAt: NOW }),
      ],
      ["totals"],
    ],
    [
      "a claim over the configured total",
      [
        plain(keys.resourceConfig("db"), "2"),
        stand("resource db", "a", 1, { count: 3, total: 2, enqueuedAt: NOW }),
      ],
      ["too-large"],
    ],
    ["a drain that has ended", [drainOf("all", "all", { until: 2 })], ["drain-ended"]],
    ["a group that cannot be read", [plain(keys.group("web"), "{")], ["malformed", "group"]],
    ["a group's host that was never seen", [groupOf("web", "w.example.com")], ["host"]],
    [
      "a group's host that only runs a worker: nothing",
      [groupOf("web", "W.example.com"), worker("w", { host: "w.example.com" })],
      [],
    ],
    [
      "a host that claims and leaves no word",
      [
        hostOf("b.example.com", { seenAt: NOW }),
        stand("lock x", "a", 1, { ...held, enqueuedAt: NOW - 1_200_000 }),
      ],
      ["host"],
    ],
    [
      "hosts of which none leaves word: nothing",
      [stand("lock x", "a", 1, { ...held, enqueuedAt: NOW - 1_200_000 })],
      [],
    ],
    [
      "a long hold on a host that left word when it claimed: nothing but the hold",
      [
        hostOf("a.example.com", { seenAt: NOW - 2e8 - 100_000 }),
        stand("lock x", "a", 1, { ...held, enqueuedAt: NOW - 2e8, grantedAt: NOW - 2e8 }),
      ],
      ["long-hold"],
    ],
    [
      "many that wait long in one queue: once",
      [
        stand("lock x", "a", 1, { ...held, enqueuedAt: NOW }),
        stand("lock x", "b", 2, { state: "waiting", enqueuedAt: NOW - 7_200_000 }),
        stand("lock x", "c", 3, { state: "waiting", enqueuedAt: NOW - 7_100_000 }),
      ],
      ["long-wait"],
    ],
    ["nothing", [stand("lock x", "a", 1, { ...held, enqueuedAt: NOW })], []],
  ] as const)("are found: %s", (_, kvs, expected) => {
    expect(kinds(...kvs)).toEqual(expected);
  });

  it("quote names in lines to copy: a name is other people's word", () => {
    const evil = "a'; rm -rf /;";
    const kvs = [plain(keys.lock(evil, "h".repeat(16)), "{"), plain(keys.resourceConfig(evil), "[]")];
    const remedies = findProblems(pictureOf(kvs), NOW).map(({ remedy }) => remedy);
    expect(remedies).toEqual([
      `signalbox reset lock 'a'\\''; rm -rf /;' --run ${"h".repeat(16)} --force`,
      "signalbox resource set 'a'\\''; rm -rf /;' …",
    ]);
  });

  it("stay the same problem while they last", () => {
    const kvs = [
      stand("lock x", "a", 1, { ...held, enqueuedAt: NOW, grantedAt: NOW - 2e8 }),
      stand("lock y", "b", 2, { state: "waiting", enqueuedAt: NOW - 7_200_000 }),
      drainOf("all", "all", { until: 2 }),
    ];
    const at = (wall: number) => findProblems(pictureOf(kvs), wall);
    expect(at(NOW).map(buildProblemId)).toEqual(at(NOW + 3_700_000).map(buildProblemId));
    expect(at(NOW)).not.toEqual(at(NOW + 3_700_000));
  });

  it("put failures first, and have a host and a run where there is one", () => {
    const kvs = [
      stand("lock a", "a", 1, { state: "grace", until: NOW - 1 }),
      plain(keys.lock("b", "h".repeat(16)), "{"),
    ];
    const found = findProblems(pictureOf(kvs), NOW);
    expect(found.map(({ level }) => level)).toEqual(["failure", "warning"]);
    expect(found[1]).toMatchObject({ host: "a.example.com", run: "a".repeat(16), subject: "lock a" });
  });

  it("judge a hold by what is usual for the lock", () => {
    const history = historyOf("x", { waited: 0, held: 60_000 });
    const holder = (since: number) =>
      stand("lock x", "a", 1, { ...held, enqueuedAt: NOW, grantedAt: NOW - since });
    expect(kinds(history, holder(170_000))).toEqual([]);
    expect(kinds(history, holder(190_000))).toEqual(["long-hold"]);
  });

  it("judge a wait by what is usual for the lock", () => {
    const history = historyOf("x", { waited: 3_000_000, held: 1e9 });
    const waiter = (since: number) => stand("lock x", "a", 1, { state: "waiting", enqueuedAt: NOW - since });
    expect(kinds(history, waiter(8_900_000))).toEqual([]);
    expect(kinds(history, waiter(9_100_000))).toEqual(["long-wait"]);
    expect(kinds(waiter(8_900_000))).toEqual(["long-wait"]);
  });
});

describe("problems of etcd itself", () => {
  const fault = {
    kind: "alarm",
    check: "alarms",
    level: "failure",
    detail: "memberID:1 alarm:NOSPACE",
  } as const;

  it("come from what the members say, and lead to them", () => {
    const lag = {
      kind: "lag",
      check: "member m2",
      level: "warning",
      detail: "2000 log entries behind",
    } as const;
    const snapshot = { ...pictureOf([]), etcdFaults: [lag, fault] };
    const found = findProblems(snapshot, NOW);
    expect(found.map(({ kind, subject }) => [kind, subject])).toEqual([
      ["alarm", "alarms"],
      ["lag", "member m2"],
    ]);
    expect(found.map((problem) => problemsView.getSubject(problem))).toMatchObject([
      { kind: "record", remedy: ETCD_REMEDY },
      { kind: "record", remedy: ETCD_REMEDY },
    ]);
  });

  it("a lag that grows stays one problem, and two alarms are two", () => {
    const second = { ...fault, detail: "memberID:2 alarm:NOSPACE" };
    const ids = findProblems({ ...pictureOf([]), etcdFaults: [fault, second] }, NOW).map(buildProblemId);
    expect(new Set(ids).size).toBe(2);
    const lags = ["2000", "2001"].map((count) =>
      buildProblemId({ kind: "lag", level: "warning", subject: "member m2", detail: count, remedy: "" }),
    );
    expect(lags[0]).toBe(lags[1]);
  });
});
