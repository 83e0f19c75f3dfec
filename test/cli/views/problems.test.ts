/** Problems: what is reported to operators, and what is not. */

import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createLastOccurrence,
  createRunningKey,
  createScheduleKeys,
  createWorkerKey,
} from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createDrainKey,
  createGroupKey,
  createHistoryKey,
  createHostKey,
  createKeyValue,
  createResourceKey,
  createSnapshot,
  createTicketKey,
  held,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { SnapshotFollower } from "../../../fixtures/state/snapshot-follower.ts";
import { ETCD_REMEDY, findProblems, problemsView } from "../../../src/cli/views/problems.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { buildProblemId } from "../../../src/site/state/problem.ts";

const ticket = createTicketKey("lock x", "a", 1, held);
/** The mark of its grant, of a session of 30 s. */
const mark = createKeyValue(
  keys.mark(ticket.key),
  JSON.stringify({ ...JSON.parse(ticket.value), enqueuedAt: NOW, ttl: 30, term: "2" }),
);

/** Problems that time brings to a queue that does not change, in which there are none at first. */
it.each([
  ["a grace that ends", { state: "grace", until: NOW + 5_000 }, "overdue"],
  ["a reset that nobody answers", { ...held, reset: { by: "x", at: NOW } }, "reset-unanswered"],
  ["a long wait", { enqueuedAt: NOW }, "long-wait"],
  ["a long hold", { ...held, grantedAt: NOW }, "long-hold"],
] as const)("%s is found as soon as by a first look", (_, fields, kind) => {
  const kv = createTicketKey("lock x", "a", 1, { enqueuedAt: NOW, ...fields });
  const followed = createSnapshot([kv]);
  let found = 0;
  for (let wall = NOW; wall < NOW + 3 * 86_400_000; wall += 97_000) {
    const problems = findProblems(followed, wall);
    expect(problems).toEqual(findProblems(createSnapshot([kv]), wall));
    found += problems.filter((problem) => problem.kind === kind).length;
  }
  expect(findProblems(followed, NOW)).toEqual([]);
  expect(found).toBeGreaterThan(0);
});

it("finds problems of an unchanged queue when its history or its configuration changes", () => {
  const follower = new SnapshotFollower(
    createTicketKey("resource db", "a", 1, { total: 3, enqueuedAt: NOW }),
    createTicketKey("lock x", "b", 2, { ...held, enqueuedAt: NOW, grantedAt: NOW - 600_000 }),
  );
  const listKinds = () => findProblems(follower.snapshot, NOW).map(({ kind }) => kind);
  expect(listKinds()).toEqual([]);
  follower.put(createResourceKey("db", { total: "4" }));
  expect(listKinds()).toEqual(["totals"]);
  follower.put(createHistoryKey("x", ...Array.from({ length: 10 }, () => ({ held: 1_000 }))));
  expect(listKinds()).toEqual(["totals", "long-hold"]);
});

describe("problems", () => {
  const kinds = (...kvs: KeyValue[]) => findProblems(createSnapshot(kvs), NOW).map(({ kind }) => kind);
  it.each([
    ["a ticket that cannot be read", [createKeyValue(keys.lock("x", "h".repeat(16)), "{")], ["malformed"]],
    ["a key that is none of ours", [createKeyValue(`${keys.prefix}drains/nothing/x`, "")], ["malformed"]],
    ["a ticket on no session", [{ ...ticket, session: 0n }], ["orphan"]],
    ["a mark whose ticket has vanished", [mark], ["vanished"]],
    ["a mark beside its ticket", [ticket, mark], []],
    [
      "a clock ahead of ours",
      [createTicketKey("lock x", "a", 1, { ...held, enqueuedAt: NOW + 60_000 })],
      ["clock"],
    ],
    [
      "totals that disagree",
      [
        createTicketKey("resource db", "a", 1, { total: 3, enqueuedAt: NOW }),
        createTicketKey("resource db", "b", 2, { total: 4, enqueuedAt: NOW }),
      ],
      ["totals"],
    ],
    [
      "a claim over the configured total",
      [
        createKeyValue(keys.resourceConfig("db"), "2"),
        createTicketKey("resource db", "a", 1, { count: 3, total: 2, enqueuedAt: NOW }),
      ],
      ["too-large"],
    ],
    ["a drain that has ended", [createDrainKey("all", "all", { until: 2 })], ["drain-ended"]],
    ["a group that cannot be read", [createKeyValue(keys.group("web"), "{")], ["malformed", "group"]],
    ["a group's host that was never seen", [createGroupKey("web", "w.example.com")], ["host"]],
    [
      "a group's host that only runs a worker: nothing",
      [createGroupKey("web", "W.example.com"), createWorkerKey("w", { host: "w.example.com" })],
      [],
    ],
    [
      "a host that claims and leaves no word",
      [
        createHostKey("b.example.com", { seenAt: NOW }),
        createTicketKey("lock x", "a", 1, { ...held, enqueuedAt: NOW - 1_200_000 }),
      ],
      ["host"],
    ],
    [
      "hosts of which none leaves word: nothing",
      [createTicketKey("lock x", "a", 1, { ...held, enqueuedAt: NOW - 1_200_000 })],
      [],
    ],
    [
      "a long hold on a host that left word when it claimed: nothing but the hold",
      [
        createHostKey("a.example.com", { seenAt: NOW - 2e8 - 100_000 }),
        createTicketKey("lock x", "a", 1, { ...held, enqueuedAt: NOW - 2e8, grantedAt: NOW - 2e8 }),
      ],
      ["long-hold"],
    ],
    [
      "many that wait long in one queue: once",
      [
        createTicketKey("lock x", "a", 1, { ...held, enqueuedAt: NOW }),
        createTicketKey("lock x", "b", 2, { enqueuedAt: NOW - 7_200_000 }),
        createTicketKey("lock x", "c", 3, { enqueuedAt: NOW - 7_100_000 }),
      ],
      ["long-wait"],
    ],
    ["nothing", [createTicketKey("lock x", "a", 1, { ...held, enqueuedAt: NOW })], []],
  ] as const)("are found: %s", (_, kvs, expected) => {
    expect(kinds(...kvs)).toEqual(expected);
  });

  it("quote names in lines to copy: a name is other people's word", () => {
    const evil = "a'; rm -rf /;";
    const kvs = [
      createKeyValue(keys.lock(evil, "h".repeat(16)), "{"),
      createKeyValue(keys.resourceConfig(evil), "[]"),
    ];
    const remedies = findProblems(createSnapshot(kvs), NOW).map(({ remedy }) => remedy);
    expect(remedies).toEqual([
      `signalbox reset lock 'a'\\''; rm -rf /;' --run ${"h".repeat(16)} --force`,
      "signalbox resource set 'a'\\''; rm -rf /;' …",
    ]);
  });

  it("stay the same problem while they last", () => {
    const kvs = [
      createTicketKey("lock x", "a", 1, { ...held, enqueuedAt: NOW, grantedAt: NOW - 2e8 }),
      createTicketKey("lock y", "b", 2, { enqueuedAt: NOW - 7_200_000 }),
      createDrainKey("all", "all", { until: 2 }),
    ];
    const at = (wall: number) => findProblems(createSnapshot(kvs), wall);
    expect(at(NOW).map(buildProblemId)).toEqual(at(NOW + 3_700_000).map(buildProblemId));
    expect(at(NOW)).not.toEqual(at(NOW + 3_700_000));
  });

  it("put failures first, and have a host and a run where there is one", () => {
    const kvs = [
      createTicketKey("lock a", "a", 1, { state: "grace", until: NOW - 1 }),
      createKeyValue(keys.lock("b", "h".repeat(16)), "{"),
    ];
    const found = findProblems(createSnapshot(kvs), NOW);
    expect(found.map(({ level }) => level)).toEqual(["failure", "warning"]);
    expect(found[1]).toMatchObject({ host: "a.example.com", run: "a".repeat(16), subject: "lock a" });
  });

  it("judge a hold by what is usual for the lock", () => {
    const history = createHistoryKey("x", { waited: 0, held: 60_000 });
    const holder = (since: number) =>
      createTicketKey("lock x", "a", 1, { ...held, enqueuedAt: NOW, grantedAt: NOW - since });
    expect(kinds(history, holder(170_000))).toEqual([]);
    expect(kinds(history, holder(190_000))).toEqual(["long-hold"]);
  });

  it("judge a wait by what is usual for the lock", () => {
    const history = createHistoryKey("x", { waited: 3_000_000, held: 1e9 });
    const waiter = (since: number) => createTicketKey("lock x", "a", 1, { enqueuedAt: NOW - since });
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
    const snapshot = { ...createSnapshot([]), etcdFaults: [lag, fault] };
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
    const ids = findProblems({ ...createSnapshot([]), etcdFaults: [fault, second] }, NOW).map(buildProblemId);
    expect(new Set(ids).size).toBe(2);
    const lags = ["2000", "2001"].map((count) =>
      buildProblemId({ kind: "lag", level: "warning", subject: "member m2", detail: count, remedy: "" }),
    );
    expect(lags[0]).toBe(lags[1]);
  });
});

describe("problems with schedules", () => {
  const found = (...kvs: KeyValue[]) =>
    findProblems(createSnapshot(kvs), NOW).map(({ kind, level, subject }) => `${level} ${kind} ${subject}`);
  const LONG = { runAt: NOW - 301_000 };
  const AGAIN = { attempt: 0, failures: 0, kind: "due" } as const;
  it.each([
    [
      "nothing",
      [
        createWorkerKey("w"),
        ...createScheduleKeys("s", {}, { last: createLastOccurrence({ result: "ok" }) }),
      ],
      [],
    ],
    [
      "a definition that cannot be read",
      [createKeyValue(keys.schedule("s"), "{")],
      ["failure malformed schedule s"],
    ],
    [
      "one that should have run",
      [createWorkerKey("w"), ...createScheduleKeys("s", {}, LONG)],
      ["failure late schedule s"],
    ],
    [
      "one that is late by a little",
      [createWorkerKey("w"), ...createScheduleKeys("s", {}, { runAt: NOW - 299_000 })],
      [],
    ],
    [
      "one that a drain of everything stops",
      [createWorkerKey("w"), ...createScheduleKeys("s", {}, LONG), createDrainKey("all", "all")],
      [],
    ],
    [
      "one that is due, and waits for a run that is tried again soon",
      [
        createWorkerKey("w"),
        ...createScheduleKeys(
          "s",
          {},
          { ...LONG, open: [{ ...AGAIN, scheduled: NOW - 400_000, runAt: NOW + 5_000 }] },
        ),
      ],
      [],
    ],
    [
      "a run that is put off again and again",
      [
        createWorkerKey("w"),
        ...createScheduleKeys(
          "s",
          {},
          { open: [{ ...AGAIN, scheduled: NOW, runAt: NOW + 5_000, postponed: 10 }] },
        ),
        ...createScheduleKeys(
          "t",
          {},
          { open: [{ ...AGAIN, scheduled: NOW, runAt: NOW + 5_000, postponed: 9 }] },
        ),
      ],
      ["warning postponed schedule s"],
    ],
    [
      "one whose occurrences are all skipped",
      [
        createWorkerKey("w"),
        ...createScheduleKeys("s", {}, { skipped: { since: NOW - 300_000, count: 2 } }),
        ...createScheduleKeys("t", {}, { skipped: { since: NOW - 299_000, count: 2 } }),
      ],
      ["warning missed schedule s"],
    ],
    [
      "one that runs, and long",
      [createWorkerKey("w"), ...createScheduleKeys("s", {}, LONG), createRunningKey("s")],
      [],
    ],
    [
      "one that was paused",
      [createWorkerKey("w"), ...createScheduleKeys("s", { pause: { by: "a", at: 1 } }, LONG)],
      [],
    ],
    [
      "a dead letter",
      [
        createWorkerKey("w"),
        ...createScheduleKeys("s", {}, { last: createLastOccurrence({ result: "ok" }), dead: 2 }),
      ],
      ["warning dead-letter schedule s"],
    ],
    [
      "types without a worker, a line each",
      [...createScheduleKeys("s"), ...createScheduleKeys("t"), ...createScheduleKeys("u", { type: "b" })],
      ["warning no-worker schedule s", "warning no-worker schedule u"],
    ],
    [
      "a running key that cannot be read",
      [createWorkerKey("w"), ...createScheduleKeys("s"), createKeyValue(keys.running("s"), "{")],
      ["failure malformed schedule s"],
    ],
    [
      "a running key on no session",
      [createWorkerKey("w"), ...createScheduleKeys("s"), { ...createRunningKey("s"), session: 0n }],
      ["failure orphan schedule s"],
    ],
    [
      "a clock that is off",
      [createWorkerKey("w", { clock: "refuses" }), createWorkerKey("v", { clock: "warns", pid: 1 })],
      ["failure clock worker web1.example.com:42", "warning clock worker web1.example.com:1"],
    ],
    [
      "a worker's word that cannot be read",
      [createKeyValue(keys.worker("w"), "{")],
      ["warning malformed worker w"],
    ],
  ] as const)("%s", (_, kvs, expected) => {
    expect(found(...kvs)).toEqual(expected);
  });

  it("many that are late have one line, of the one that is the latest", () => {
    const late = Array.from({ length: 50 }, (_, at) =>
      createScheduleKeys(`s${at}`, {}, { runAt: NOW - 400_000 - at }),
    );
    const all = findProblems(createSnapshot([createWorkerKey("w"), ...late.flat()]), NOW);
    expect(all).toMatchObject([{ subject: "schedule s49", detail: expect.stringContaining("49 more") }]);
  });
});
