/** The views of schedules and of workers. */
import { describe, expect, it } from "vitest";
import type { KeyValue } from "../../src/protocol/txn.ts";
import type { LastOccurrence, OpenOccurrence } from "../../src/schedule/state/due.ts";
import { SNAPSHOT_COLLECTIONS } from "../../src/state/snapshot.ts";
import { SnapshotBuilder } from "../../src/state/snapshot-builder.ts";
import { buildViewContext } from "../../src/state/view-context.ts";
import { isFilterMatch, parseRowFilter } from "../../src/views/filter.ts";
import { runsView } from "../../src/views/runs.ts";
import {
  buildScheduleRows,
  formatTimeUntilNext,
  SCHEDULE_LATE_AFTER,
  schedulesView,
} from "../../src/views/schedules.ts";
import { parseSortOrder, sortViewRows } from "../../src/views/sort.ts";
import type { SnapshotView } from "../../src/views/view.ts";
import { workersView } from "../../src/views/workers.ts";
import { keys } from "../protocol/samples.ts";
import { groupOf, NOW, pictureOf, plain, stand } from "../state/pictures.ts";
import { definitionOf, lastOf, running, schedule, worker } from "./schedules.ts";

const DUE: Partial<OpenOccurrence> = {
  scheduled: NOW - 60_000,
  runAt: NOW + 5_000,
  attempt: 1,
  failures: 1,
  kind: "due",
};
const open = (more: Partial<OpenOccurrence> = {}) => [{ ...DUE, ...more } as OpenOccurrence];
const last = (
  result: LastOccurrence["result"],
  more: Partial<LastOccurrence> = {},
): { last: LastOccurrence } => ({
  last: lastOf({ result, ...more }),
});

function statesAt(wall: number, ...kvs: KeyValue[]): readonly string[] | undefined {
  const snapshot = pictureOf([worker("w1"), ...kvs]);
  return buildScheduleRows(snapshot, buildViewContext(snapshot, wall))[0]?.states;
}

describe("a schedule", () => {
  const atBoot = (end?: number): KeyValue[] => [
    schedule("s", { cron: "@reboot", on: "every-host", ...(end !== undefined && { end }) })[0] as KeyValue,
    plain(keys.due("s"), '{"v":1,"runAt":0}'),
  ];
  const paused = (until?: number) => ({ pause: { by: "ann", at: 1, ...(until !== undefined && { until }) } });
  it.each([
    ["waits for its time", schedule("s"), ["waiting"]],
    ["is due", schedule("s", {}, { runAt: NOW }), ["due"]],
    ["is late", schedule("s", {}, { runAt: NOW - SCHEDULE_LATE_AFTER }), ["late", "due"]],
    [
      "runs",
      [...schedule("s", {}, { runAt: NOW - SCHEDULE_LATE_AFTER, open: open() }), running("s")],
      ["running", "retrying"],
    ],
    ["runs though paused", [...schedule("s", paused()), running("s")], ["running", "paused"]],
    ["is paused for good", schedule("s", paused(), { runAt: NOW - 1 }), ["paused"]],
    ["is paused until an instant", schedule("s", paused(NOW + 1), { runAt: NOW - 1 }), ["paused", "waiting"]],
    ["is no longer paused", schedule("s", paused(NOW), { runAt: NOW + 1 }), ["waiting"]],
    [
      "was triggered while paused",
      schedule("s", paused(), { open: open({ kind: "trigger", runAt: NOW }) }),
      ["paused", "due", "retrying"],
    ],
    [
      "tries again what failed",
      schedule("s", {}, { open: open(), ...last("failed") }),
      ["retrying", "waiting"],
    ],
    ["has given up", schedule("s", {}, last("timeout")), ["failed", "waiting"]],
    ["went well", schedule("s", {}, last("ok")), ["waiting"]],
    ["has no worker for its type", schedule("s", { type: "bill" }), ["no-worker", "waiting"]],
    ["has no worker in its group", schedule("s", { group: "db" }), ["no-worker", "waiting"]],
    ["runs a command", schedule("s", { type: "bill", command: ["true"] }), ["waiting"]],
    ["has ended", [schedule("s")[0] as KeyValue, plain(keys.due("s"), '{"v":1,"runAt":0}')], ["ended"]],
    ["waits for the next boot", atBoot(), ["waiting"]],
    ["waits for a boot until its end", atBoot(NOW), ["waiting"]],
    ["runs at no boot any more", atBoot(NOW - 1), ["ended"]],
    ["lacks its state", schedule("s").slice(0, 1), ["malformed"]],
    [
      "has a state that cannot be read",
      [schedule("s")[0] as KeyValue, plain(keys.due("s"), "{")],
      ["malformed"],
    ],
    ["cannot be read", [plain(keys.schedule("s"), "{"), schedule("s")[1] as KeyValue], ["malformed"]],
    [
      "is in the way of a key that cannot be read",
      [...schedule("s"), plain(keys.running("s"), "{")],
      ["running", "waiting"],
    ],
  ] as const)("%s", (_, kvs, states) => {
    const found = statesAt(NOW, ...kvs);
    expect(found).toEqual(states);
  });

  it("is for a worker whose host is in its group, and not for one that leaves or whose clock is off", () => {
    const kvs = schedule("s", { group: "web" });
    const group = groupOf("web", "web1.example.com");
    const states = (...own: KeyValue[]) => {
      const snapshot = pictureOf([...kvs, group, ...own]);
      return buildScheduleRows(snapshot, buildViewContext(snapshot, NOW))[0]?.state;
    };
    expect(states(worker("w"))).toBe("waiting");
    expect(states(worker("w", { types: ["/^ma/"] }))).toBe("waiting");
    expect(states(worker("w", { types: ["/["] }))).toBe("no-worker");
    expect(states(worker("w", { host: "db1.example.com" }))).toBe("no-worker");
    expect(states(worker("w", { isLeaving: true }))).toBe("no-worker");
    expect(states(worker("w", { clock: "refuses" }))).toBe("no-worker");
    expect(states(worker("w", { clock: "warns" }))).toBe("waiting");
  });

  it("changes by itself as time passes", () => {
    const kvs = schedule("s", {}, { runAt: NOW + 1_000 });
    expect(statesAt(NOW, ...kvs)).toEqual(["waiting"]);
    expect(statesAt(NOW + 1_000, ...kvs)).toEqual(["due"]);
    expect(statesAt(NOW + 1_000 + SCHEDULE_LATE_AFTER, ...kvs)).toEqual(["late", "due"]);
  });
});

const many = [
  worker("w1"),
  ...schedule("mail.daily", { note: "to all" }, { runAt: NOW + 7_200_000, ...last("ok") }),
  ...schedule(
    "backup",
    { command: ["db-dump", "--all"], timezone: "Europe/Berlin" },
    { runAt: NOW + 60_000 },
  ),
  running("backup", { host: "db1.example.com", pid: 9 }),
  ...schedule("old", {}, { runAt: NOW - 3_600_000 }),
];

function shown<R>(view: SnapshotView<R>, kvs: readonly KeyValue[]) {
  const snapshot = pictureOf(kvs);
  const rows = sortViewRows(
    view,
    view.buildRows(snapshot, buildViewContext(snapshot, NOW)),
    parseSortOrder(view.sort),
  );
  return {
    rows,
    column: (id: string) =>
      rows.map((row) => view.columns.find((one) => one.id === id)?.formatCell(row, NOW)),
    passing: (filter: string) =>
      rows
        .filter((row) => isFilterMatch(view, parseRowFilter(filter, view), row, { wall: NOW }))
        .map((row) => view.getKey(row)),
  };
}

describe("the view of schedules", () => {
  const { rows, column, passing } = shown(schedulesView, many);

  it("has what runs next first, with who runs it and how it went", () => {
    expect(column("schedule")).toEqual(["old", "backup", "mail.daily"]);
    expect(column("state")).toEqual(["late", "running", "waiting"]);
    expect(column("next")).toEqual(["1h over", "in 1m", "in 2h"]);
    expect(column("at")[1]).toBe("2023-11-14 22:16:00Z");
    expect(column("on")).toEqual(["", "db1.example.com", ""]);
    expect(column("since")).toEqual(["", "59s", ""]);
    expect([column("last")[2], column("late")[2], column("ended")[2]]).toEqual(["ok", "0.3s", "50s ago"]);
    expect(column("task")).toEqual(["mail", "db-dump --all", "mail"]);
    expect([column("zone")[1], column("note")[2]]).toEqual(["Europe/Berlin", "to all"]);
  });

  it("says whether no worker has a handler, or none in its group", () => {
    const alone = [...schedule("a", { type: "bill" }), ...schedule("b", { group: "db" })];
    expect(shown(schedulesView, [worker("w1"), ...alone]).column("note")).toEqual([
      "no worker is running that has a handler for it",
      "no worker is running in the group db that has a handler for it",
    ]);
  });

  it("says what a late schedule needs, and names it in a column", () => {
    const definition = { if: ["load < 2", "RACK == 1"], note: "nightly" };
    const [late, waiting] = [NOW - SCHEDULE_LATE_AFTER, NOW + 1].map((runAt, n) =>
      schedule(`s${n}`, definition, { runAt }),
    );
    const { column } = shown(schedulesView, [worker("w1"), ...(late ?? []), ...(waiting ?? [])]);
    expect(column("note")).toEqual(["it needs a host with load < 2 and RACK == 1", "nightly"]);
    expect(column("if")).toEqual(["load < 2 and RACK == 1", "load < 2 and RACK == 1"]);
  });

  it("is filtered by state, host, who runs it, and words", () => {
    expect(passing("state:late")).toEqual(["old"]);
    expect(passing("state:running")).toEqual(["backup"]);
    expect(passing("host:db1")).toEqual(["backup"]);
    expect(passing("holder:db1.example.com:9")).toEqual(["backup"]);
    expect(passing("dump")).toEqual(["backup"]);
  });

  it("leads to the schedule, and tells programs all of it", () => {
    const [, row] = rows;
    expect(row && schedulesView.getSubject(row)).toEqual({ kind: "schedule", name: "backup" });
    expect(row && schedulesView.json.toJson(row)).toMatchObject({
      schedule: "backup",
      state: "running",
      states: ["running", "waiting"],
      task: "db-dump --all",
      next: NOW + 60_000,
      definition: definitionOf({ command: ["db-dump", "--all"], timezone: "Europe/Berlin" }),
      runs: [{ host: "db1.example.com", pid: 9, attempt: 1, token: 12n }],
    });
  });
});

it("says when a run is due in words that never say `in 0s`", () => {
  expect([1, 999, 1_000, 0, -1].map((ms) => formatTimeUntilNext(NOW + ms, NOW))).toEqual([
    "in 1s",
    "in 1s",
    "in 1s",
    "0s over",
    "0s over",
  ]);
});

describe("rows of schedules", () => {
  it("are the same array as long as none is another, and otherwise the same rows of those that are not", () => {
    const fold = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
    for (const kv of many) fold.add(kv);
    const at = (wall: number) =>
      buildScheduleRows(fold.getSnapshot(), buildViewContext(fold.getSnapshot(), wall));
    const before = at(NOW);
    expect(at(NOW + 30_000)).toBe(before); // nothing is due by then
    const [due] = schedule("mail.daily").slice(1);
    fold.add({ ...(due as KeyValue), modRevision: 9n });
    const after = at(NOW + 30_000);
    expect(after).not.toBe(before);
    const changed = after.filter((row, at) => row !== before[at]).map(({ id }) => id);
    expect(changed).toEqual(["mail.daily"]);
    expect(at(NOW + 61_000).find(({ id }) => id === "backup")?.states).toEqual(["running"]);
  });

  it("stay the same when a worker only says that it is there", () => {
    const fold = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
    for (const kv of many) fold.add(kv);
    const at = () => buildScheduleRows(fold.getSnapshot(), buildViewContext(fold.getSnapshot(), NOW));
    const before = at();
    fold.add({ ...worker("w1", { running: 3, wall: NOW + 5_000, beat: 4 }), modRevision: 9n });
    expect(at()).toBe(before);
    fold.apply({ revision: 10n, events: [{ type: "delete", key: keys.worker("w1"), revision: 10n }] });
    expect(at().map(({ states }) => states.includes("no-worker"))).toEqual([true, true, true]);
  });

  it("lose what runs no more, and keep what runs beside it", () => {
    const fold = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
    const both = [60_000, 120_000].map((scheduled) => ({
      ...running("s", { scheduled }, scheduled),
      createRevision: BigInt(scheduled),
    }));
    for (const kv of [...schedule("s", { overlap: "allow" }), ...both]) fold.add(kv);
    const told = () =>
      buildScheduleRows(fold.getSnapshot(), buildViewContext(fold.getSnapshot(), NOW)).map(({ executions }) =>
        executions.map(({ value }) => value?.scheduled),
      );
    expect(told()).toEqual([[60_000, 120_000]]);
    fold.apply({
      revision: 200_000n,
      events: [{ type: "delete", key: keys.running("s", 60_000), revision: 200_000n }],
    });
    expect(told()).toEqual([[120_000]]);
  });
});

describe("the view of workers", () => {
  const { column, passing, rows } = shown(workersView, [
    worker("w1", { clock: "warns" }),
    ...[1, 2].map((at) => running("s", { worker: "w1", run: `r${at}` }, at)),
    running("t", { worker: "w2" }),
    worker("w2", { host: "web2.example.com", concurrency: 1, types: ["/^a/"], isLeaving: true }),
    plain(keys.worker("w3"), "{"),
  ]);

  it("has who they are, what they run and may run, and whether their clocks are right", () => {
    expect(column("who")).toEqual(["malformed w3", "web1.example.com:42", "web2.example.com:42"]);
    expect(column("state")).toEqual(["malformed", "warns", "leaving"]);
    expect(column("running")).toEqual(["0/?", "2/4", "1/1"]);
    expect(column("types")).toEqual(["", "mail (commands)", "/^a/"]);
    expect(column("clock")).toEqual(["", "warns", "ok"]);
    expect(column("since")[1]).toBe("1d");
  });

  it("is filtered by state and host", () => {
    expect(passing("state:full")).toEqual(["w2"]);
    expect(passing("state:busy host:web1")).toEqual(["w1"]);
    expect(passing("state:malformed")).toEqual(["w3"]);
  });

  it("tells no news where a worker only says that it is there", () => {
    const [, row] = rows;
    if (row?.record === undefined) throw new Error("there is no such row");
    const later = { ...row, record: { ...row.record, wall: NOW + 5_000, beat: 4 } };
    expect(workersView.getChangeKey?.(later)).toBe(workersView.getChangeKey?.(row));
    expect(workersView.getChangeKey?.({ ...row, running: 3 })).not.toBe(workersView.getChangeKey?.(row));
  });
});

describe("the view of runs", () => {
  it("has what workers run of schedules among those who hold, with the leases of the same run", () => {
    const run = "a".repeat(16);
    const { rows, column, passing } = shown(runsView, [
      stand("lock x", "b", 1, { state: "held" }),
      ...schedule("backup", { command: ["sh", "-c", "exit 3"] }),
      running("backup"),
      ...schedule("mail"),
      running("mail", { run, host: "web2.example.com" }),
      stand("resource db", "a", 13, { state: "held", count: 2, host: "web2.example.com" }),
    ]);
    expect(column("schedule")).toEqual(["", "backup", "mail"]);
    expect(column("state")).toEqual(["held", "held", "held"]);
    expect(column("leases")).toEqual(["", "", "db=2"]);
    expect(column("who")[1]).toBe("web1.example.com:42");
    expect(column("command")[1], "it can be copied").toBe("sh -c 'exit 3'");
    expect(column("token")).toEqual(["1", "12", "13"]);
    expect(passing("holder:web1.example.com:42")).toEqual(["r".repeat(16)]);
    expect(rows.map((row) => runsView.getSubject(row).kind)).toEqual(["run", "schedule", "run"]);
    expect(rows.map((row) => runsView.json.toJson(row))).toMatchObject([
      { run: "b".repeat(16) },
      { schedule: "backup", scheduled: NOW - 60_000, token: 12n, tickets: [], host: "web1.example.com" },
      { schedule: "mail", run, tickets: [{ kind: "resource", name: "db" }] },
    ]);
  });
});
