/** Events between two snapshots. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createLastOccurrence,
  createRunningKey,
  createScheduleKeys,
} from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createAuditKey,
  createDrainKey,
  createGroupKey,
  createHistoryKey,
  createKeyValue,
  createResourceKey,
  createTicketKey,
  NOW,
  toRunId,
} from "../../../fixtures/state/sample-snapshots.ts";
import { SnapshotFollower } from "../../../fixtures/state/snapshot-follower.ts";
import { measureProcessorMs } from "../../../fixtures/steady.ts";
import { formatEventText } from "../../../src/cli/views/event.ts";
import { EventLog, listEarlierEvents, listEventsBetween } from "../../../src/cli/views/event-log.ts";
import type { AuditAction } from "../../../src/core/protocol/audit.ts";
import type { PastRun } from "../../../src/core/protocol/history.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { SNAPSHOT_COLLECTIONS } from "../../../src/site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../src/site/state/snapshot-builder.ts";

const MINUTE = 60_000;
const held = (letter: string, more = {}) =>
  createTicketKey("lock x", letter, letter.charCodeAt(0), {
    state: "held",
    enqueuedAt: NOW - 3 * MINUTE,
    grantedAt: NOW,
    ...more,
  });
const waits = (letter: string, more = {}) =>
  createTicketKey("lock x", letter, letter.charCodeAt(0), { enqueuedAt: NOW - 3 * MINUTE, ...more });
const leased = (letter: string, state: "held" | "waiting" | "admitted", count = 2) =>
  createTicketKey("resource db", letter, letter.charCodeAt(0), { state, count, total: 10 });
const history = (...runs: Partial<PastRun>[]) => createHistoryKey("x", ...runs);
const audit = (id: string, action: AuditAction, target: string, outcome: string) =>
  createAuditKey(id.repeat(20), { action, target, outcome });
const group = (...members: string[]) => createGroupKey("web", ...members);
const total = (value: object) => createResourceKey("db", value);
const drain = (more = {}) => createDrainKey("host", "a.b", more);

function between(before: KeyValue[], after: KeyValue[], from = NOW - 10 * MINUTE) {
  const follower = new SnapshotFollower(...before);
  return listEventsBetween(follower.snapshot, follower.read(...after), { from, to: NOW + 1 });
}
const texts = (before: KeyValue[], after: KeyValue[]) => between(before, after).map(formatEventText);

describe("what happens to runs", () => {
  it.each([
    ["a claim", [], [waits("a")], ["waiting  lock x  a:4711"]],
    ["a claim behind others", [held("a")], [held("a"), waits("b")], ["waiting  lock x  b:4711  behind 1"]],
    ["a claim granted at once", [], [held("a")], ["granted  lock x  a:4711  after 3m"]],
    ["a grant", [waits("a")], [held("a")], ["granted  lock x  a:4711  after 3m"]],
    [
      "a grant of a lock that is shared",
      [waits("a", { shared: true })],
      [held("a", { shared: true })],
      ["granted  lock x (shared)  a:4711  after 3m"],
    ],
    ["a turn", [waits("a")], [waits("a", { state: "admitted" })], ["admitted  lock x  a:4711"]],
    ["a waiter that leaves", [waits("a")], [], ["left  lock x  a:4711  after 3m"]],
    ["a holder that is gone", [held("a")], [], ["ended  lock x  a:4711  its end is not recorded"]],
    ["a place kept", [held("a")], [held("a", { state: "grace" })], ["ended  lock x  a:4711"]],
    ["the end of a place kept", [held("a", { state: "grace" })], [], []],
    [
      "a wish to reset",
      [held("a")],
      [held("a", { reset: { by: "ann", at: NOW, why: "stuck" } })],
      ["reset  lock x  a:4711  asked by ann: stuck"],
    ],
    ["nothing that matters", [held("a")], [held("a", { label: "other" })], []],
    [
      "a ticket that is none",
      [held("a")],
      [createKeyValue(keys.lock("x", toRunId("a")), "{", 97)],
      [`malformed  lock x  malformed ticket ${toRunId("a")}`],
    ],
    ["a lease alone", [leased("a", "waiting")], [leased("a", "held")], ["granted  resource db=2  a:4711"]],
    ["a lease given back", [leased("a", "held")], [], ["ended  resource db=2  a:4711"]],
    [
      "a lock and a lease together",
      [leased("a", "waiting"), waits("a")],
      [leased("a", "held"), held("a")],
      ["granted  lock x db=2  a:4711  after 3m"],
    ],
    [
      "an end that is remembered, whatever became of the tickets",
      [held("a"), history({ run: "old" })],
      [history({ run: toRunId("a"), exit: 1, reason: "reset by ann" }, { run: "old" })],
      ["ended  lock x  web1:4711  exit 1 after 3s: reset by ann"],
    ],
    [
      "the end of a run that shared its lock",
      [],
      [history({ shared: true })],
      ["ended  lock x (shared)  web1:4711  exit 0 after 3s"],
    ],
    ["a run that came and went meanwhile", [], [history({})], ["ended  lock x  web1:4711  exit 0 after 3s"]],
  ])("%s", (_, before, after, expected) => {
    expect(texts(before, after)).toEqual(expected);
  });

  it("is told in the order in which it can have happened, whatever the clocks of hosts say", () => {
    // b's clock is a minute late: it says that it was granted before a gave up.
    const events = between(
      [held("a"), waits("b"), waits("c")],
      [
        history({ run: toRunId("a"), endedAt: NOW - 1_000 }),
        held("b", { grantedAt: NOW - MINUTE }),
        waits("c"),
        waits("d"),
      ],
    );
    expect(events.map(({ kind, at }) => [kind, at - NOW])).toEqual([
      ["waiting", -3 * MINUTE],
      ["ended", -1_000],
      ["granted", -1_000],
    ]);
  });

  it("is never said to have happened before the last picture or after this one", () => {
    const at = (grantedAt: number) => between([], [held("a", { grantedAt })], NOW - 5)[0]?.at;
    expect([at(0), at(NOW - 1), at(NOW + MINUTE)]).toEqual([NOW - 5, NOW - 1, NOW + 1]);
  });

  it("leads to the run while it is there, and to what it was about afterwards", () => {
    const queue = { kind: "lock", name: "x" };
    expect(between([], [held("a")])[0]).toEqual({
      at: NOW,
      kind: "granted",
      tone: "held",
      host: "a.example.com",
      words: ["lock x", "a:4711", "after 3m"],
      subject: { kind: "run", name: toRunId("a"), queue },
    });
    expect(between([held("a")], [])[0]?.subject).toEqual({
      kind: "record",
      name: toRunId("a"),
      about: queue,
      isEndedRun: true,
    });
    expect(between([], [history({ exit: 1 })])[0]).toMatchObject({
      tone: "problem",
      host: "web1.example.com",
    });
  });
});

describe("what operators do", () => {
  const many = ["a.b", "c.d", "e.f", "g.h", "i.j"];
  it.each([
    ["a drain", [], [drain({ why: "upgrade" })], ["drained  host a.b  ann  upgrade"]],
    ["an undrain", [drain()], [], ["undrained  host a.b"]],
    [
      "a drain that ended by itself",
      [drain({ until: NOW })],
      [],
      ["undrained  host a.b  its time had passed"],
    ],
    [
      "a drain and its record",
      [],
      [drain(), audit("1", "drain", "host a.b", "drained")],
      ["drained  host a.b  ann"],
    ],
    [
      "a record alone",
      [],
      [audit("1", "reset", "lock x", "asked 1")],
      ["audit  lock x  ann@ops  reset: asked 1"],
    ],
    [
      "what became of it",
      [audit("1", "reset", "lock x", "asked 1")],
      [audit("1", "reset", "lock x", "1 gone")],
      ["audit  lock x  ann@ops  reset: 1 gone"],
    ],
    ["a record that was pruned", [audit("1", "reset", "lock x", "done")], [], []],
    ["a total", [total({ total: 10 })], [total({ total: 12 })], ["configured  resource db  10 → 12"]],
    ["a resource that comes", [], [total({})], ["configured  resource db  none → stated by runs"]],
    ["a resource that goes", [total({ total: 1 })], [], ["configured  resource db  1 → none"]],
    ["members", [group("a.b", "c.d")], [group("c.d", "e.f")], ["configured  group web  +e -a"]],
    ["many members", [], [group(...many)], ["configured  group web  +a +c +e +2 more"]],
    ["a group that goes", [group("a.b")], [], ["configured  group web  removed"]],
    [
      "a host",
      [],
      [createKeyValue(keys.host("n.e.w"), '{"v":1,"seenAt":1}')],
      ["host  n.e.w  seen for the first time"],
    ],
    [
      "a host that says it is there",
      [createKeyValue(keys.host("n"), '{"seenAt":1}')],
      [createKeyValue(keys.host("n"), '{"seenAt":2}')],
      [],
    ],
  ])("%s", (_, before, after, expected) => {
    expect(texts(before, after)).toEqual(expected);
  });
});

describe("many changes", () => {
  const crowd = (count: number, state: "held" | "waiting") =>
    Array.from({ length: count }, (_, at) =>
      createTicketKey(`lock l${at}`, `r${at}-`, at + 1, {
        state,
        enqueuedAt: NOW - MINUTE,
        grantedAt: NOW - at,
      }),
    );

  it("come to the last ones, and how many there were before", () => {
    const follower = new SnapshotFollower(...crowd(10_000, "waiting"));
    const { snapshot } = follower;
    const events = listEventsBetween(snapshot, follower.read(...crowd(10_000, "held")), { from: 0, to: NOW });
    expect(events).toHaveLength(201);
    expect(events[0]).toMatchObject({
      kind: "more",
      words: ["and 9,800 more changes before"],
      at: events[1]?.at,
    });
    expect(events.at(-1)?.at).toBe(NOW);
  });

  it("cost next to nothing where there are none, and little where there is one", () => {
    const follower = new SnapshotFollower(...crowd(10_000, "held"));
    const first = follower.snapshot;
    const second = follower.put(waits("z"));
    const times = Array.from({ length: 21 }, () =>
      measureProcessorMs(() =>
        expect(listEventsBetween(first, second, { from: 0, to: NOW })).toHaveLength(1),
      ),
    );
    // 0.5 ms on a fast machine; the events of all 10,000 take a hundred times as long.
    expect(Math.min(...times)).toBeLessThan(10);
  });
});

describe("the log of events", () => {
  it("remembers what happened since it looks, the newest first", () => {
    const follower = new SnapshotFollower(held("a"));
    const log = new EventLog();
    log.addSnapshot(new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS).getSnapshot(), NOW); // nothing was read yet
    log.addSnapshot(follower.snapshot, NOW);
    expect(log.list).toEqual([]);
    log.addSnapshot(follower.put(waits("b")), NOW + 10);
    const { list } = log;
    log.addSnapshot({ ...follower.snapshot }, NOW + 20);
    expect(log.list).toBe(list);
    log.addSnapshot(follower.read(waits("b")), NOW + 30);
    expect(log.list.map(({ kind }) => kind)).toEqual(["ended", "waiting"]);
  });

  it("tells what happened while etcd was away when it did, not when that was heard", () => {
    const follower = new SnapshotFollower(waits("a"));
    const log = new EventLog();
    for (const wall of [NOW, NOW + MINUTE]) log.addSnapshot({ ...follower.snapshot }, wall);
    log.addSnapshot(follower.read(held("a", { grantedAt: NOW + 30_000 })), NOW + 2 * MINUTE);
    expect(log.list).toMatchObject([{ kind: "granted", at: NOW + 30_000 }]);
  });

  it("forgets what came before the last thousand", () => {
    const follower = new SnapshotFollower();
    const log = new EventLog();
    log.addSnapshot(follower.snapshot, NOW);
    for (let run = 1; run <= 1_005; run += 1)
      log.addSnapshot(follower.read(history({ run: `r${run}` })), NOW + run);
    expect(log.list).toHaveLength(1_000);
    expect(log.list.at(-1)?.at).toBe(NOW + 5);
  });

  const ended = (lock: string, ...ago: number[]) =>
    createHistoryKey(
      lock,
      ...ago.map((seconds) => ({ run: `${lock}${seconds}`, endedAt: NOW - seconds * 1_000 })),
    );

  it("begins with what has ended before, newest first, the last three of each lock", () => {
    const follower = new SnapshotFollower(
      ended("a", 2, 3, 4, 5),
      createHistoryKey("b", { run: "b", exit: 3 }),
    );
    const log = new EventLog();
    log.addSnapshot(follower.snapshot, NOW);
    expect([log.list.length, log.length]).toEqual([0, 4]);
    expect(log.earlier).toEqual(listEarlierEvents(follower.snapshot, NOW));
    expect(log.earlier.map(({ at }) => (NOW - at) / 1_000)).toEqual([0, 2, 3, 4]);
    expect(log.earlier).toMatchObject([
      { words: ["lock b", "web1:4711", "exit 3 after 3s"], tone: "problem" },
      { words: ["lock a", "web1:4711", "exit 0 after 3s"], tone: "quiet" },
      {},
      {},
    ]);
    log.addSnapshot(follower.put(ended("c", -1)), NOW + 1_000);
    expect([log.list.length, log.length]).toEqual([1, 5]);
    expect(log.slice(0, 2).map(({ words }) => words[0])).toEqual(["lock c", "lock b"]);
    expect([log.slice(1, 5), log.slice(2, 4)]).toEqual([log.earlier, log.earlier.slice(1, 3)]);
  });
});

describe("what happens to schedules", () => {
  const idle = createScheduleKeys("s");
  const [definition] = idle;
  const busy = [...idle, createRunningKey("s", { run: "r1", attempt: 2 })];
  const failed = createScheduleKeys("s", {}, { last: createLastOccurrence() });
  const pause = { by: "signalbox", at: NOW, why: "after 3 failures" };
  const pausedItself = createScheduleKeys("s", {}, { failed: 3, pause });
  const [byAnn] = createScheduleKeys("s", { pause: { by: "ann", at: 1 } });
  const record = createAuditKey("a", { action: "schedule", target: "schedule s", outcome: "paused" });
  const beside = { ...createRunningKey("s", { run: "r2", pid: 43 }, 120_000), createRevision: 13n };

  it.each([
    ["a start", idle, busy, ["started  schedule s  web1:42  attempt 2, 1.0s late"]],
    ["a start beside another run", busy, [...busy, beside], ["started  schedule s  web1:43  1.0s late"]],
    ["an end", busy, failed, ["ended  schedule s  web1:42  failed after 9s"]],
    ["nothing new", busy, busy, []],
    ["a new one", [], [definition], ["configured  schedule s  added: 0 * * * *"]],
    [
      "one that pauses itself",
      idle,
      pausedItself,
      ["configured  schedule s  paused by signalbox: after 3 failures"],
    ],
    ["one that continues", pausedItself, idle, ["configured  schedule s  resumed"]],
    [
      "one that has paused itself, and that ann pauses",
      pausedItself,
      [byAnn, ...idle.slice(1)],
      ["configured  schedule s  paused by ann"],
    ],
    [
      "a pause, but not the record of it too",
      [definition],
      [byAnn, record],
      ["configured  schedule s  paused by ann"],
    ],
    ["the end of a pause", [byAnn], [definition], ["configured  schedule s  resumed"]],
    ["one that is deleted", [definition], [], ["configured  schedule s  deleted"]],
  ])("%s", (_, before, after, expected) => {
    expect(texts(before, after)).toEqual(expected);
  });
});
