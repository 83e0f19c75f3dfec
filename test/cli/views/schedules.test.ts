/** The views of schedules and of workers. */
import { describe, expect, it } from "vitest";
import { runsView } from "../../../src/cli/views/runs.ts";
import {
  buildScheduleRows,
  formatTimeUntilNext,
  SCHEDULE_LATE_AFTER,
  schedulesView,
} from "../../../src/cli/views/schedules.ts";
import { workersView } from "../../../src/cli/views/workers.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import type { LastOccurrence, OpenOccurrence } from "../../../src/schedule/state/due.ts";
import { buildViewContext } from "../../../src/site/state/view-context.ts";
import { keys } from "../../core/protocol/samples.ts";
import { groupOf, NOW, pictureOf, plain, stand } from "../../site/state/pictures.ts";
import { SnapshotFollower } from "../../site/state/snapshot-follower.ts";
import { showView } from "./rows.ts";
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

const NOTHING_DUE = plain(keys.due("s"), '{"v":1,"runAt":0}');

describe("a schedule", () => {
  const atBoot = (end?: number): KeyValue[] => [
    schedule("s", { cron: "@reboot", on: "every-host", ...(end !== undefined && { end }) })[0],
    NOTHING_DUE,
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
    ["has ended", [schedule("s")[0], NOTHING_DUE], ["ended"]],
    ["waits for the next boot", atBoot(), ["waiting"]],
    ["waits for a boot until its end", atBoot(NOW), ["waiting"]],
    ["runs at no boot any more", atBoot(NOW - 1), ["ended"]],
    ["lacks its state", schedule("s").slice(0, 1), ["malformed"]],
    ["has a state that cannot be read", [schedule("s")[0], plain(keys.due("s"), "{")], ["malformed"]],
    ["cannot be read", [plain(keys.schedule("s"), "{"), schedule("s")[1]], ["malformed"]],
    [
      "is in the way of a key that cannot be read",
      [...schedule("s"), plain(keys.running("s"), "{")],
      ["running", "waiting"],
    ],
  ] as const)("%s", (_, kvs, states) => {
    expect(statesAt(NOW, ...kvs)).toEqual(states);
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

describe("the view of schedules", () => {
  const { rows, cells, json, passing } = showView(schedulesView, many);

  it("has what runs next first, with who runs it and how it went", () => {
    expect(cells).toMatchObject([
      { schedule: "old", state: "late", next: "1h over", on: "", since: "", task: "mail" },
      {
        schedule: "backup",
        state: "running",
        next: "in 1m",
        at: "2023-11-14 22:16:00Z",
        on: "db1.example.com",
        since: "59s",
        task: "db-dump --all",
        zone: "Europe/Berlin",
      },
      {
        schedule: "mail.daily",
        state: "waiting",
        next: "in 2h",
        on: "",
        last: "ok",
        late: "0.3s",
        ended: "50s ago",
        note: "to all",
      },
    ]);
  });

  it("says whether no worker has a handler, or none in its group", () => {
    const alone = [...schedule("a", { type: "bill" }), ...schedule("b", { group: "db" })];
    expect(showView(schedulesView, [worker("w1"), ...alone]).column("note")).toEqual([
      "no worker is running that has a handler for it",
      "no worker is running in the group db that has a handler for it",
    ]);
  });

  it("says what a late schedule needs, and names it in a column", () => {
    const definition = { if: ["load < 2", "RACK == 1"], note: "nightly" };
    const [late, waiting] = [NOW - SCHEDULE_LATE_AFTER, NOW + 1].map((runAt, n) =>
      schedule(`s${n}`, definition, { runAt }),
    );
    const { column } = showView(schedulesView, [worker("w1"), ...(late ?? []), ...(waiting ?? [])]);
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
    expect(rows.map(schedulesView.getSubject)[1]).toEqual({ kind: "schedule", name: "backup" });
    expect(json[1]).toMatchObject({
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
  const build = ({ snapshot }: SnapshotFollower, wall = NOW) =>
    buildScheduleRows(snapshot, buildViewContext(snapshot, wall));

  it("are the same array as long as none is another, and otherwise the same rows of those that are not", () => {
    const follower = new SnapshotFollower(...many);
    const before = build(follower);
    expect(build(follower, NOW + 30_000)).toBe(before); // nothing is due by then
    follower.put(schedule("mail.daily")[1]);
    const after = build(follower, NOW + 30_000);
    const changed = after.filter((row, at) => row !== before[at]).map(({ id }) => id);
    expect(changed).toEqual(["mail.daily"]);
    expect(build(follower, NOW + 61_000).find(({ id }) => id === "backup")?.states).toEqual(["running"]);
  });

  it("change as time passes: one is due, and then late", () => {
    const follower = new SnapshotFollower(worker("w1"), ...schedule("s", {}, { runAt: NOW + 1_000 }));
    const statesAfter = (ms: number) => build(follower, NOW + ms)[0]?.states;
    expect(statesAfter(0)).toEqual(["waiting"]);
    expect(statesAfter(1_000)).toEqual(["due"]);
    expect(statesAfter(1_000 + SCHEDULE_LATE_AFTER)).toEqual(["late", "due"]);
  });

  it("stay the same when a worker only says that it is there", () => {
    const follower = new SnapshotFollower(...many);
    const before = build(follower);
    follower.put(worker("w1", { running: 3, wall: NOW + 5_000, beat: 4 }));
    expect(build(follower)).toBe(before);
    follower.delete(keys.worker("w1"));
    expect(build(follower).map(({ states }) => states.includes("no-worker"))).toEqual([true, true, true]);
  });

  it("lose what runs no more, and keep what runs beside it", () => {
    const both = [60_000, 120_000].map((scheduled) => ({
      ...running("s", { scheduled }, scheduled),
      createRevision: BigInt(scheduled),
    }));
    const follower = new SnapshotFollower(...schedule("s", { overlap: "allow" }), ...both);
    const told = () =>
      build(follower).map(({ executions }) => executions.map(({ value }) => value?.scheduled));
    expect(told()).toEqual([[60_000, 120_000]]);
    follower.delete(keys.running("s", 60_000));
    expect(told()).toEqual([[120_000]]);
  });
});

describe("the view of workers", () => {
  const { cells, passing, rows } = showView(workersView, [
    worker("w1", { clock: "warns" }),
    ...[1, 2].map((at) => running("s", { worker: "w1", run: `r${at}` }, at)),
    running("t", { worker: "w2" }),
    worker("w2", { host: "web2.example.com", concurrency: 1, types: ["/^a/"], isLeaving: true }),
    plain(keys.worker("w3"), "{"),
  ]);

  it("has who they are, what they run and may run, and whether their clocks are right", () => {
    expect(cells).toMatchObject([
      { who: "malformed w3", state: "malformed", running: "0/?", types: "", clock: "" },
      {
        who: "web1.example.com:42",
        state: "warns",
        running: "2/4",
        types: "mail (commands)",
        clock: "warns",
        since: "1d",
      },
      { who: "web2.example.com:42", state: "leaving", running: "1/1", types: "/^a/", clock: "ok" },
    ]);
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
    const { rows, cells, json, passing } = showView(runsView, [
      stand("lock x held", "b", 1),
      ...schedule("backup", { command: ["sh", "-c", "exit 3"] }),
      running("backup"),
      ...schedule("mail"),
      running("mail", { run, host: "web2.example.com" }),
      stand("resource db held", "a", 13, { count: 2, host: "web2.example.com" }),
    ]);
    expect(cells).toMatchObject([
      { schedule: "", state: "held", leases: "", token: "1" },
      {
        schedule: "backup",
        state: "held",
        leases: "",
        token: "12",
        who: "web1.example.com:42",
        command: "sh -c 'exit 3'",
      },
      { schedule: "mail", state: "held", leases: "db=2", token: "13" },
    ]);
    expect(passing("holder:web1.example.com:42")).toEqual(["r".repeat(16)]);
    expect(rows.map((row) => runsView.getSubject(row).kind)).toEqual(["run", "schedule", "run"]);
    expect(json).toMatchObject([
      { run: "b".repeat(16) },
      { schedule: "backup", scheduled: NOW - 60_000, token: 12n, tickets: [], host: "web1.example.com" },
      { schedule: "mail", run, tickets: [{ kind: "resource", name: "db" }] },
    ]);
  });
});
