/** Events between two snapshots. */
import { describe, expect, it } from "vitest";
import { measureProcessorMs } from "../../fixtures/steady.ts";
import type { AuditAction } from "../../src/protocol/audit.ts";
import type { PastRun } from "../../src/protocol/history.ts";
import type { KeyValue } from "../../src/protocol/txn.ts";
import { SNAPSHOT_COLLECTIONS, type Snapshot } from "../../src/state/snapshot.ts";
import { SnapshotBuilder } from "../../src/state/snapshot-builder.ts";
import { formatEventText } from "../../src/views/event.ts";
import { EventLog, listEventsBetween } from "../../src/views/event-log.ts";
import { keys } from "../protocol/samples.ts";
import {
  auditOf,
  drainOf,
  groupOf,
  historyOf,
  NOW,
  plain,
  resourceOf,
  runOf,
  stand,
} from "../state/pictures.ts";

const MINUTE = 60_000;
const held = (letter: string, more = {}) =>
  stand("lock x", letter, letter.charCodeAt(0), {
    state: "held",
    enqueuedAt: NOW - 3 * MINUTE,
    grantedAt: NOW,
    ...more,
  });
const waits = (letter: string, more = {}) =>
  stand("lock x", letter, letter.charCodeAt(0), { state: "waiting", enqueuedAt: NOW - 3 * MINUTE, ...more });
const leased = (letter: string, state: "held" | "waiting" | "admitted", count = 2) =>
  stand("resource db", letter, letter.charCodeAt(0), { state, count, total: 10 });
const history = (...runs: Partial<PastRun>[]) => historyOf("x", ...runs);
const audit = (id: string, action: AuditAction, target: string, outcome: string) =>
  auditOf(id.repeat(20), { action, target, outcome });
const group = (...members: string[]) => groupOf("web", ...members);
const total = (value: object) => resourceOf("db", value);
const drain = (more = {}) => drainOf("host", "a.b", more);

/** Pictures one after the other, as a follower sees them: each a whole read. */
class Follower {
  readonly #fold = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
  #revision = 1n;

  read(...kvs: KeyValue[]): Snapshot {
    this.#revision += 1n;
    this.#fold.begin();
    // What has another text is another revision of its key.
    for (const kv of kvs) this.#fold.add({ ...kv, modRevision: this.#modOf(kv) });
    this.#fold.finish(this.#revision);
    return this.#fold.getSnapshot();
  }

  readonly #seen = new Map<string, { value: string; at: bigint }>();
  #modOf({ key, value }: KeyValue): bigint {
    const known = this.#seen.get(key);
    if (known?.value === value) return known.at;
    this.#seen.set(key, { value, at: this.#revision });
    return this.#revision;
  }
}

function between(before: KeyValue[], after: KeyValue[], from = NOW - 10 * MINUTE) {
  const follower = new Follower();
  const first = follower.read(...before);
  return listEventsBetween(first, follower.read(...after), { from, to: NOW + 1 });
}
const texts = (before: KeyValue[], after: KeyValue[]) => between(before, after).map(formatEventText);

describe("what happens to runs", () => {
  it.each<[string, KeyValue[], KeyValue[], string[]]>([
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
      [plain(keys.lock("x", runOf("a")), "{", 97)],
      [`malformed  lock x  malformed ticket ${runOf("a")}`],
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
      [history({ run: runOf("a"), exit: 1, reason: "reset by ann" }, { run: "old" })],
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
        history({ run: runOf("a"), endedAt: NOW - 1_000 }),
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
      subject: { kind: "run", name: runOf("a"), queue },
    });
    expect(between([held("a")], [])[0]?.subject).toEqual({
      kind: "record",
      name: runOf("a"),
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
  it.each<[string, KeyValue[], KeyValue[], string[]]>([
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
      [plain(keys.host("n.e.w"), '{"v":1,"seenAt":1}')],
      ["host  n.e.w  seen for the first time"],
    ],
    [
      "a host that says it is there",
      [plain(keys.host("n"), '{"seenAt":1}')],
      [plain(keys.host("n"), '{"seenAt":2}')],
      [],
    ],
  ])("%s", (_, before, after, expected) => {
    expect(texts(before, after)).toEqual(expected);
  });
});

describe("many changes", () => {
  const crowd = (count: number, state: "held" | "waiting") =>
    Array.from({ length: count }, (_, at) =>
      stand(`lock l${at}`, `r${at}-`, at + 1, { state, enqueuedAt: NOW - MINUTE, grantedAt: NOW - at }),
    );

  it("come to the last ones, and how many there were before", () => {
    const follower = new Follower();
    const first = follower.read(...crowd(10_000, "waiting"));
    const events = listEventsBetween(first, follower.read(...crowd(10_000, "held")), { from: 0, to: NOW });
    expect(events).toHaveLength(201);
    expect(events[0]).toMatchObject({
      kind: "more",
      words: ["and 9,800 more changes before"],
      at: events[1]?.at,
    });
    expect(events.at(-1)?.at).toBe(NOW);
  });

  it("cost next to nothing where there are none, and little where there is one", () => {
    const follower = new Follower();
    const kvs = crowd(10_000, "held");
    const first = follower.read(...kvs);
    const second = follower.read(...kvs, waits("z"));
    const times = Array.from({ length: 21 }, () => {
      return measureProcessorMs(() =>
        expect(listEventsBetween(first, second, { from: 0, to: NOW })).toHaveLength(1),
      );
    });
    // 0.5 ms on a fast machine; the events of all 10,000 take a hundred times as long.
    expect(Math.min(...times)).toBeLessThan(10);
  });
});

describe("the log of events", () => {
  it("remembers what happened since it looks, the newest first", () => {
    const follower = new Follower();
    const log = new EventLog();
    log.addSnapshot(new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS).getSnapshot(), NOW); // nothing was read yet
    log.addSnapshot(follower.read(held("a")), NOW);
    expect(log.list).toEqual([]);
    const next = follower.read(held("a"), waits("b"));
    log.addSnapshot(next, NOW + 10);
    const { list } = log;
    log.addSnapshot({ ...next }, NOW + 20);
    expect(log.list).toBe(list);
    log.addSnapshot(follower.read(waits("b")), NOW + 30);
    expect(log.list.map(({ kind }) => kind)).toEqual(["ended", "waiting"]);
  });

  it("tells what happened while etcd was away when it did, not when that was heard", () => {
    const follower = new Follower();
    const log = new EventLog();
    const last = follower.read(waits("a"));
    for (const wall of [NOW, NOW + MINUTE]) log.addSnapshot({ ...last }, wall);
    log.addSnapshot(follower.read(held("a", { grantedAt: NOW + 30_000 })), NOW + 2 * MINUTE);
    expect(log.list).toMatchObject([{ kind: "granted", at: NOW + 30_000 }]);
  });

  it("forgets what came before the last thousand", () => {
    const follower = new Follower();
    const log = new EventLog();
    log.addSnapshot(follower.read(), NOW);
    for (let run = 1; run <= 1_005; run += 1)
      log.addSnapshot(follower.read(history({ run: `r${run}` })), NOW + run);
    expect(log.list).toHaveLength(1_000);
    expect(log.list.at(-1)?.at).toBe(NOW + 5);
  });
});
