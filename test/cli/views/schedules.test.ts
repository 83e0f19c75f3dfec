/** The views of schedules and of workers. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createDefinition,
  createLastOccurrence,
  createRunningKey,
  createScheduleKeys,
  createWorkerKey,
} from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createGroupKey,
  createKeyValue,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { SnapshotFollower } from "../../../fixtures/state/snapshot-follower.ts";
import { runsView } from "../../../src/cli/views/runs.ts";
import {
  buildScheduleRows,
  formatTimeUntilNext,
  SCHEDULE_LATE_AFTER,
  schedulesView,
} from "../../../src/cli/views/schedules.ts";
import { workersView } from "../../../src/cli/views/workers.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { formatDue, type LastOccurrence, type OpenOccurrence } from "../../../src/schedule/state/due.ts";
import { buildViewContext } from "../../../src/site/state/view-context.ts";
import { showView } from "./rows.ts";

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
  last: createLastOccurrence({ result, ...more }),
});

function statesAt(wall: number, ...kvs: KeyValue[]): readonly string[] | undefined {
  const snapshot = createSnapshot([createWorkerKey("w1"), ...kvs]);
  return buildScheduleRows(snapshot, buildViewContext(snapshot, wall))[0]?.states;
}

const skippedFor = (minutes: number) => ({
  since: NOW - minutes * 60_000,
  count: 7,
  reason: "the load is high",
});

const NOTHING_DUE = createKeyValue(keys.due("s"), '{"v":1,"runAt":0}');

describe("a schedule", () => {
  const atBoot = (end?: number) => [
    createScheduleKeys("s", { cron: "@reboot", on: "every-host", ...(end !== undefined && { end }) })[0],
    NOTHING_DUE,
  ];
  const paused = (until?: number) => ({ pause: { by: "ann", at: 1, ...(until !== undefined && { until }) } });
  it.each([
    ["waits for its time", createScheduleKeys("s"), ["waiting"]],
    ["is due", createScheduleKeys("s", {}, { runAt: NOW }), ["due"]],
    ["is late", createScheduleKeys("s", {}, { runAt: NOW - SCHEDULE_LATE_AFTER }), ["late", "due"]],
    [
      "runs",
      [
        ...createScheduleKeys("s", {}, { runAt: NOW - SCHEDULE_LATE_AFTER, open: open() }),
        createRunningKey("s"),
      ],
      ["running", "retrying"],
    ],
    [
      "runs though paused",
      [...createScheduleKeys("s", paused()), createRunningKey("s")],
      ["running", "paused"],
    ],
    ["is paused for good", createScheduleKeys("s", paused(), { runAt: NOW - 1 }), ["paused"]],
    [
      "is paused until an instant",
      createScheduleKeys("s", paused(NOW + 1), { runAt: NOW - 1 }),
      ["paused", "waiting"],
    ],
    ["is no longer paused", createScheduleKeys("s", paused(NOW), { runAt: NOW + 1 }), ["waiting"]],
    [
      "was triggered while paused",
      createScheduleKeys("s", paused(), { open: open({ kind: "trigger", runAt: NOW }) }),
      ["paused", "due", "retrying"],
    ],
    [
      "tries again what failed",
      createScheduleKeys("s", {}, { open: open(), ...last("failed") }),
      ["retrying", "waiting"],
    ],
    ["has given up", createScheduleKeys("s", {}, last("timeout")), ["failed", "waiting"]],
    ["went well", createScheduleKeys("s", {}, last("ok")), ["waiting"]],
    ["has no worker for its type", createScheduleKeys("s", { type: "bill" }), ["no-worker", "waiting"]],
    ["has no worker in its group", createScheduleKeys("s", { group: "db" }), ["no-worker", "waiting"]],
    [
      "has skipped all for minutes",
      createScheduleKeys("s", {}, { skipped: skippedFor(5) }),
      ["missed", "waiting"],
    ],
    [
      "has skipped what was due just now",
      createScheduleKeys("s", {}, { skipped: skippedFor(4) }),
      ["waiting"],
    ],
    ["has skipped, and is paused", createScheduleKeys("s", paused(), { skipped: skippedFor(5) }), ["paused"]],
    [
      "has skipped the only time that it had",
      [
        createScheduleKeys("s")[0],
        createKeyValue(keys.due("s"), formatDue({ runAt: 0, open: [], skipped: skippedFor(0) })),
      ],
      ["missed", "ended"],
    ],
    [
      "gets no leases",
      createScheduleKeys("s", {}, { open: open({ failures: 0, refusedSince: NOW - 300_000 }) }),
      ["missed", "waiting"],
    ],
    [
      "may be waiting for its leases now",
      [
        ...createScheduleKeys("s", {}, { open: open({ failures: 0, refusedSince: NOW - 300_000 }) }),
        createRunningKey("s", { since: NOW - 119_000 }),
      ],
      ["running", "missed"],
    ],
    [
      "has got its leases in the end",
      [
        ...createScheduleKeys("s", {}, { open: open({ failures: 0, refusedSince: NOW - 300_000 }) }),
        createRunningKey("s", { since: NOW - 120_000 }),
      ],
      ["running"],
    ],
    ["runs a command", createScheduleKeys("s", { type: "bill", command: ["true"] }), ["waiting"]],
    ["has ended", [createScheduleKeys("s")[0], NOTHING_DUE], ["ended"]],
    ["waits for the next boot", atBoot(), ["waiting"]],
    ["waits for a boot until its end", atBoot(NOW), ["waiting"]],
    ["runs at no boot any more", atBoot(NOW - 1), ["ended"]],
    ["lacks its state", createScheduleKeys("s").slice(0, 1), ["malformed"]],
    [
      "has a state that cannot be read",
      [createScheduleKeys("s")[0], createKeyValue(keys.due("s"), "{")],
      ["malformed"],
    ],
    ["cannot be read", [createKeyValue(keys.schedule("s"), "{"), createScheduleKeys("s")[1]], ["malformed"]],
    [
      "is in the way of a key that cannot be read",
      [...createScheduleKeys("s"), createKeyValue(keys.running("s"), "{")],
      ["running", "waiting"],
    ],
  ] as const)("%s", (_, kvs, states) => {
    expect(statesAt(NOW, ...kvs)).toEqual(states);
  });

  it("is for a worker whose host is in its group, and not for one that leaves or whose clock is off", () => {
    const kvs = createScheduleKeys("s", { group: "web" });
    const group = createGroupKey("web", "web1.example.com");
    const states = (...own: KeyValue[]) => {
      const snapshot = createSnapshot([...kvs, group, ...own]);
      return buildScheduleRows(snapshot, buildViewContext(snapshot, NOW))[0]?.state;
    };
    expect(states(createWorkerKey("w"))).toBe("waiting");
    expect(states(createWorkerKey("w", { types: ["/^ma/"] }))).toBe("waiting");
    expect(states(createWorkerKey("w", { types: ["/["] }))).toBe("no-worker");
    expect(states(createWorkerKey("w", { host: "db1.example.com" }))).toBe("no-worker");
    expect(states(createWorkerKey("w", { isLeaving: true }))).toBe("no-worker");
    expect(states(createWorkerKey("w", { clock: "refuses" }))).toBe("no-worker");
    expect(states(createWorkerKey("w", { clock: "warns" }))).toBe("waiting");
  });
});

const many = [
  createWorkerKey("w1"),
  ...createScheduleKeys("mail.daily", { note: "to all" }, { runAt: NOW + 7_200_000, ...last("ok") }),
  ...createScheduleKeys(
    "backup",
    { command: ["db-dump", "--all"], timezone: "Europe/Berlin" },
    { runAt: NOW + 60_000 },
  ),
  createRunningKey("backup", { host: "db1.example.com", pid: 9 }),
  ...createScheduleKeys("old", {}, { runAt: NOW - 3_600_000 }),
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
    const alone = [...createScheduleKeys("a", { type: "bill" }), ...createScheduleKeys("b", { group: "db" })];
    expect(showView(schedulesView, [createWorkerKey("w1"), ...alone]).column("note")).toEqual([
      "no worker is running that has a handler for it",
      "no worker is running in the group db that has a handler for it",
    ]);
  });

  it("says what a late schedule needs, and names it in a column", () => {
    const definition = { if: ["load < 2", "RACK == 1"], note: "nightly" };
    const [late, waiting] = [NOW - SCHEDULE_LATE_AFTER, NOW + 1].map((runAt, n) =>
      createScheduleKeys(`s${n}`, definition, { runAt }),
    );
    const { column } = showView(schedulesView, [createWorkerKey("w1"), ...(late ?? []), ...(waiting ?? [])]);
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
      definition: createDefinition({ command: ["db-dump", "--all"], timezone: "Europe/Berlin" }),
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
    follower.put(createScheduleKeys("mail.daily")[1]);
    const after = build(follower, NOW + 30_000);
    const changed = after.filter((row, at) => row !== before[at]).map(({ id }) => id);
    expect(changed).toEqual(["mail.daily"]);
    expect(build(follower, NOW + 61_000).find(({ id }) => id === "backup")?.states).toEqual(["running"]);
  });

  it("change as time passes: one is due, and then late", () => {
    const follower = new SnapshotFollower(
      createWorkerKey("w1"),
      ...createScheduleKeys("s", {}, { runAt: NOW + 1_000 }),
    );
    const statesAfter = (ms: number) => build(follower, NOW + ms)[0]?.states;
    expect(statesAfter(0)).toEqual(["waiting"]);
    expect(statesAfter(1_000)).toEqual(["due"]);
    expect(statesAfter(1_000 + SCHEDULE_LATE_AFTER)).toEqual(["late", "due"]);
  });

  it("stay the same when a worker only says that it is there", () => {
    const follower = new SnapshotFollower(...many);
    const before = build(follower);
    follower.put(createWorkerKey("w1", { running: 3, wall: NOW + 5_000, beat: 4 }));
    expect(build(follower)).toBe(before);
    follower.delete(keys.worker("w1"));
    expect(build(follower).map(({ states }) => states.includes("no-worker"))).toEqual([true, true, true]);
  });

  it("lose what runs no more, and keep what runs beside it", () => {
    const both = [60_000, 120_000].map((scheduled) => ({
      ...createRunningKey("s", { scheduled }, scheduled),
      createRevision: BigInt(scheduled),
    }));
    const follower = new SnapshotFollower(...createScheduleKeys("s", { overlap: "allow" }), ...both);
    const told = () =>
      build(follower).map(({ executions }) => executions.map(({ value }) => value?.scheduled));
    expect(told()).toEqual([[60_000, 120_000]]);
    follower.delete(keys.running("s", 60_000));
    expect(told()).toEqual([[120_000]]);
  });
});

describe("the view of workers", () => {
  const { cells, passing, rows } = showView(workersView, [
    createWorkerKey("w1", { clock: "warns" }),
    ...[1, 2].map((at) => createRunningKey("s", { worker: "w1", run: `r${at}` }, at)),
    createRunningKey("t", { worker: "w2" }),
    createWorkerKey("w2", { host: "web2.example.com", concurrency: 1, types: ["/^a/"], isLeaving: true }),
    createKeyValue(keys.worker("w3"), "{"),
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

it("the view of runs has what workers run of schedules among those who hold, with the leases of the same run", () => {
  const run = "a".repeat(16);
  const { rows, cells, json, passing } = showView(runsView, [
    createTicketKey("lock x held", "b", 1),
    ...createScheduleKeys("backup", { command: ["sh", "-c", "exit 3"] }),
    createRunningKey("backup"),
    ...createScheduleKeys("mail"),
    createRunningKey("mail", { run, host: "web2.example.com" }),
    createTicketKey("resource db held", "a", 13, { count: 2, host: "web2.example.com" }),
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
