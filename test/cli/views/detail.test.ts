/** The details of an object in `show`. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createOutcomesKey,
  createRunningKey,
  createScheduleKeys,
  createWorkerKey,
} from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createAuditKey,
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
  toRunId,
  waiting,
} from "../../../fixtures/state/sample-snapshots.ts";
import { buildGroupDetail, findGroupState, spreadOverHosts } from "../../../src/cli/views/groups.ts";
import { buildHostDetail, findClaimsOnHosts, findHostState } from "../../../src/cli/views/hosts.ts";
import { buildQueueDetail } from "../../../src/cli/views/queues.ts";
import { buildRunDetail } from "../../../src/cli/views/runs.ts";
import { buildScheduleDetail } from "../../../src/cli/views/schedules.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import type { OccurrenceOutcome } from "../../../src/schedule/state/outcome.ts";
import { buildClaims } from "../../../src/site/state/claims.ts";
import type { SessionLivenessMap } from "../../../src/site/state/explain.ts";
import type { Snapshot } from "../../../src/site/state/snapshot.ts";
import { listFacts, readSection } from "./rows.ts";

const ALIVE: SessionLivenessMap = new Map([[7n, { left: 29, ttl: 30 }]]);
const QUIET: SessionLivenessMap = new Map([[7n, { left: 9, ttl: 30 }]]);

const host = (fqdn: string, ago: number, more = {}) =>
  createHostKey(fqdn, { cpu: 4, memMb: 7976, seenAt: NOW - ago, ...more });
const drain = (scope: "lock" | "host" | "group" | "all", name: string, until?: number) =>
  createDrainKey(scope, name, { at: 1, ...(until && { until }) });
const createAudit = (id: string, target: string) =>
  createAuditKey(id, { user: "root", sudoUser: "ann", host: "ops1", target, outcome: `drained ${id}` });

const around = { wall: NOW, sessions: ALIVE };
const shown = (kind: "lock" | "resource", name: string, ...kvs: KeyValue[]) =>
  buildQueueDetail(createSnapshot(kvs), kind, name, around);

const past = (run: string, exit: number, tail?: string) => ({
  run: toRunId(run),
  exit,
  ...(tail !== undefined && { tail }),
});

describe("what is shown of a lock", () => {
  it("is first the last output that is stored", () => {
    const runs = [past("c", 0), past("b", 3, "1\n2\n3\n4\n5\n6\nit failed"), past("a", 0, "older")];
    const history = createHistoryKey("x", ...runs);
    expect(shown("lock", "x", history).sections[0]).toEqual({
      kind: "lines",
      title: expect.stringMatching(
        /^output of the run that ended .*: exit code 3 \(the last 6 of 7 lines\)$/,
      ),
      lines: ["2", "3", "4", "5", "6", "it failed"],
    });
  });

  it("has the command that runs it again, with what is known of the last run", () => {
    const history = createHistoryKey("a b", {
      ...past("c", 0),
      command: "job.sh",
      shared: true,
      leases: { db: 5 },
    });
    expect(readSection(shown("lock", "a b", history), "run it again")).toEqual([
      "signalbox run --lock 'a b' --shared --lease db=5 -- job.sh",
    ]);
  });

  it("is who holds it, since when, whether that one is alive, and who waits", () => {
    const detail = shown(
      "lock",
      "x",
      createTicketKey("lock x", "a", 1, { ...held, label: "nightly" }),
      createTicketKey("lock x", "b", 2, waiting),
    );
    expect(detail).toMatchObject({ heading: "lock x: held", tone: "held" });
    expect(listFacts(detail)).toEqual({
      holder: "a.example.com:4711 (invoices.sh), user op",
      label: "nightly",
      run: toRunId("a"),
      token: "1",
      since: "2023-11-14 22:14:00Z, for 1m",
      waited: "40s",
      runner: "alive: its session was renewed 1s ago, 29s left",
    });
    expect(readSection(detail, "queue")).toEqual([
      ["2", "b.example.com:4711", "", "waiting", "1m40s", "alive", "invoices.sh", toRunId("b"), ""],
    ]);
    expect(readSection(detail, "holders")).toBeUndefined();
  });

  it("is that a runner is late, and what its host seems to be", () => {
    const snapshot = createSnapshot([createTicketKey("lock x", "a", 1, held)]);
    const quiet = { verdict: "quiet", text: "0 of 2 other runners there are alive; seen never" } as const;
    const detail = buildQueueDetail(snapshot, "lock", "x", { wall: NOW, sessions: QUIET, host: quiet });
    expect(listFacts(detail)).toMatchObject({
      runner: "quiet: its session was not renewed for 21s, and ends in 9s",
      host: "a.example.com seems to be down: 0 of 2 other runners there are alive; seen never",
    });
    expect(detail.facts.find(({ label }) => label === "runner")?.tone).toBe("problem");
  });

  it.each([
    ["free", undefined, {}, "lock x: free"],
    [
      "in grace",
      { ...held, state: "grace", until: NOW + 9_000 } as const,
      { grace: "its command has ended, its place is kept: for another 9s" },
      "lock x: grace",
    ],
    [
      "over its grace",
      { ...held, state: "grace", until: NOW } as const,
      { grace: "its command has ended, its place is kept: over, others may take it" },
      "lock x: grace",
    ],
    [
      "being reset",
      { ...held, reset: { by: "ann", at: NOW - 4_000, why: "hangs" } },
      { reset: "asked for by ann, 4s ago: hangs" },
      "lock x: resetting",
    ],
  ])("$0: says so", (_, ticket, fact, heading) => {
    const detail = shown(
      "lock",
      "x",
      ...(ticket === undefined ? [] : [createTicketKey("lock x", "a", 1, ticket)]),
    );
    expect(detail.heading).toBe(heading);
    expect(listFacts(detail)).toMatchObject(fact);
  });

  it("notes of waiters what is odd about them, and not what stops the whole queue", () => {
    const detail = shown(
      "lock",
      "x",
      createTicketKey("lock x", "a", 1, { ...waiting, reset: { by: "ann", at: NOW } }),
      createTicketKey("lock x", "b", 2, waiting),
      createTicketKey("lock x", "c", 3, { ...waiting, label: "nightly" }),
      createKeyValue(keys.lock("x", toRunId("d")), "{oops", 4),
      drain("lock", "x"),
      drain("host", "b.example.com"),
      drain("host", "c.example.com", NOW),
    );
    expect(detail.heading).toBe("lock x: drained");
    expect(listFacts(detail)).toEqual({ drain: "lock x is drained by ann" });
    expect(readSection(detail, "queue")?.map((row) => row.at(-1))).toEqual([
      "asked to end by ann",
      "host b.example.com is drained by ann",
      "nightly",
      `key ${keys.lock("x", toRunId("d"))}`,
    ]);
  });

  it("is what was done to it, newest first, and not to others", () => {
    const detail = shown(
      "lock",
      "x",
      createAudit("a1", "lock x"),
      createAudit("a2", "lock xy"),
      createAudit("a3", "lock x"),
    );
    expect(readSection(detail, "operators")?.map(([, who, , outcome]) => [who, outcome])).toEqual([
      ["ann as root@ops1", "drained a3"],
      ["ann as root@ops1", "drained a1"],
    ]);
  });

  it("shows the first of many, and says how to see all", () => {
    const queue = [..."abcdefghijklm"].map((letter, at) =>
      createTicketKey("lock x", letter, at + 1, waiting),
    );
    const [table] = shown("lock", "x", ...queue).sections;
    expect(table?.title).toBe("queue (the first 10 of 13; all: signalbox ls queues --filter x)");
    expect(table?.kind === "table" && table.rows).toHaveLength(10);
  });
});

describe("what is shown of a resource", () => {
  const queue = [
    createTicketKey("resource db", "a", 1, { ...held, count: 4, total: 10 }),
    createTicketKey("resource db", "b", 2, { ...held, count: 3, total: 8 }),
    createTicketKey("resource db", "c", 3, { ...waiting, count: 9, total: 10 }),
  ];

  it("is how much is held of how much, by whom, and who counts differently", () => {
    const detail = shown("resource", "db", ...queue);
    expect(detail.heading).toBe("resource db: held, 7 of 10 units held");
    expect(listFacts(detail)).toEqual({
      total: "10, as stated by its runs",
      "totals differ": "8 by b.example.com:4711; 10 by a.example.com:4711, c.example.com:4711",
    });
    expect(readSection(detail, "holders")?.map(([who, units]) => [who, units])).toEqual([
      ["a.example.com:4711", "4"],
      ["b.example.com:4711", "3"],
    ]);
  });

  it("is no word of totals where all count alike", () => {
    expect(listFacts(shown("resource", "db", ...queue.slice(0, 1)))).toEqual({
      total: "10, as stated by its runs",
    });
  });

  it("is what operators configured, and who counts with another total than that", () => {
    const config = createResourceKey("db", { total: "10", order: 2, note: "disks" });
    expect(listFacts(shown("resource", "db", ...queue, config))).toEqual({
      total: "10, configured",
      order: "2",
      note: "disks",
      "totals differ": "8 by b.example.com:4711",
    });
    expect(listFacts(shown("resource", "db", createResourceKey("db", { total: [] }))).total).toMatch(
      /^configured, but /,
    );
  });
});

describe("what is shown of a run", () => {
  const kvs = [
    createTicketKey("resource db", "a", 1, { ...held, count: 5, total: 5 }),
    createTicketKey("lock x", "b", 2, { state: "admitted" }),
    createTicketKey("resource db", "b", 3, { ...waiting, count: 2, total: 5 }),
  ];
  const of = (letter: string, snapshot: Snapshot) => {
    const claim = buildClaims(snapshot).get(toRunId(letter));
    if (claim === undefined) throw new Error(`no run ${letter}`);
    return buildRunDetail(snapshot, claim, around);
  };

  it("is all its tickets, and why it waits", () => {
    const detail = of("b", createSnapshot(kvs));
    expect(detail.heading).toBe(`run ${toRunId("b")}: waiting`);
    expect(listFacts(detail)).toMatchObject({ waiter: expect.stringContaining("b.example.com"), token: "2" });
    expect(readSection(detail, "why")?.[0]).toContain("it asks for 2, 0 of 5 are free: 2 missing");
    const tickets = readSection(detail, "tickets")?.map((row) => row.slice(0, 5));
    expect(tickets?.sort()).toEqual([
      ["lock", "x", "", "admitted", "1 of 1"],
      ["resource", "db", "2", "waiting", "2 of 2"],
    ]);
  });

  it("is no reason where it holds", () => {
    expect(of("a", createSnapshot(kvs)).sections.map(({ title }) => title)).toEqual(["tickets"]);
  });
});

describe("what is shown of a host", () => {
  const of = (name: string, pulses: SessionLivenessMap, ...kvs: KeyValue[]) => {
    const snapshot = createSnapshot(kvs);
    const host = findHostState(snapshot, name, NOW);
    return host && buildHostDetail(snapshot, host, { wall: NOW, sessions: pulses });
  };

  it("is what it has, whether it is there, what runs there, and what stops it", () => {
    const detail = of(
      "A.example.com.",
      ALIVE,
      host("a.example.com", 1_000, { macros: { RACK: "r1" } }),
      createGroupKey("web", "a.example.com"),
      createTicketKey("lock y", "b", 1, held),
      createTicketKey("lock x", "a", 2, waiting),
      createTicketKey("resource db", "a", 3, { ...held, count: 2 }),
      drain("group", "web"),
      drain("lock", "x"),
      createAudit("a1", "host A.example.com"),
    );
    expect(detail?.heading).toBe("host a.example.com: waiting, drained");
    expect(listFacts(detail)).toEqual({
      liveness: "alive: 1 of 1 runners there are alive",
      runs: "0 hold, 1 wait",
      cpu: "4",
      seen: "in the last 5m, about 2023-11-14 22:14:59Z",
      memory: "7976 MiB",
      macros: "RACK=r1",
      groups: "web",
      drain: "group web is drained by ann",
    });
    expect(readSection(detail, "runs")).toEqual([[toRunId("a"), "4711", "waiting", "alive", "x db=2"]]);
    expect(readSection(detail, "operators")).toHaveLength(1);
  });

  it.each([
    ["a drain", drain("host", "n.example.com"), "host n.example.com: idle, drained"],
    ["a group", createGroupKey("web", "N.example.com"), "host n.example.com: idle"],
    ["nothing but a drain of everything", drain("all", "all"), undefined],
  ])("that only $0 names: $2", (_, kv, heading) => {
    expect(of("n.example.com", ALIVE, kv)?.heading).toBe(heading);
  });

  it.each([
    ["without leases", [], "busy", "held"],
    [
      "that waits for leases",
      [createTicketKey("resource db", "r", 1, { ...waiting, host: "web1.example.com" })],
      "waiting",
      "free",
    ],
  ])("with a task $0 is $2", (_, kvs, heading, tone) => {
    const detail = of("web1.example.com", ALIVE, createRunningKey("report", { run: toRunId("r") }), ...kvs);
    expect(detail).toMatchObject({ heading: `host web1.example.com: ${heading}`, tone });
  });
});

describe("what is shown of a group", () => {
  const kvs = [
    createGroupKey("web", "a.example.com", "b.example.com"),
    createGroupKey("all", "web"),
    createGroupKey("world", "all", "world"),
    host("a.example.com", 1_000),
    createTicketKey("lock x", "a", 1, held),
    createTicketKey("lock x", "c", 2, waiting),
    drain("group", "all"),
  ];
  const of = (name: string, pulses = ALIVE) => {
    const snapshot = createSnapshot(kvs);
    const group = findGroupState(snapshot, name, NOW);
    return group && buildGroupDetail(snapshot, group, { wall: NOW, sessions: pulses });
  };

  it("is its hosts and those of the groups in it, whether they are there, what runs on them", () => {
    const detail = of("all");
    expect(detail?.heading).toBe("group all: 2 hosts, drained");
    expect(readSection(detail, "hosts")).toEqual([
      ["a.example.com", "in the last 5m", "alive", "1", "0"],
      ["b.example.com", "never", "unknown", "0", "0"],
    ]);
    expect(readSection(detail, "runs")?.map(([, on]) => on)).toEqual(["a.example.com"]);
  });

  it("has workers and their tasks, as the list of hosts has", () => {
    const snapshot = createSnapshot([
      createGroupKey("web", "web1.example.com"),
      createWorkerKey("w1"),
      createRunningKey("report"),
    ]);
    const group = findGroupState(snapshot, "web", NOW);
    const detail = group && buildGroupDetail(snapshot, group, { wall: NOW, sessions: ALIVE });
    expect(readSection(detail, "hosts")).toEqual([["web1.example.com", "never", "alive", "1", "0"]]);
  });

  it("is what it is part of, however deep, and what stops it from there", () => {
    const detail = of("web");
    expect(listFacts(detail)).toEqual({
      members: "a.example.com b.example.com",
      "part of": "all world",
      drain: "group all is drained by ann",
    });
    expect(of("world")?.facts.map(({ label }) => label)).toEqual(["members"]); // a drain stops downwards only
    expect(of("nobody")).toBeUndefined();
  });

  it("rests on a runner of each host before a second of any", () => {
    const snapshot = createSnapshot([
      createTicketKey("lock x", "a", 1, held),
      createTicketKey("lock y", "b", 2, { ...held, host: "a.example.com" }),
      createTicketKey("lock z", "c", 3, held),
      createTicketKey("lock x", "d", 4, { ...waiting, host: "c.example.com" }),
    ]);
    const order = spreadOverHosts(findClaimsOnHosts(snapshot, ["a.example.com", "c.example.com"])).map(
      ({ run }) => run[0],
    );
    expect([order.slice(0, 2).sort(), order.slice(2).sort()]).toEqual([
      ["a", expect.stringMatching(/[cd]/)],
      ["b", expect.stringMatching(/[cd]/)],
    ]);
  });
});

const outcome = (more: Partial<OccurrenceOutcome> = {}): OccurrenceOutcome => ({
  scheduled: NOW - 60_000,
  result: "ok",
  endedAt: NOW - 50_000,
  startedAt: NOW - 59_750,
  late: 250,
  run: "r1",
  host: "web1.example.com",
  attempt: 1,
  code: 0,
  ...more,
});

const showSchedule = (id: string, ...kvs: KeyValue[]) => buildScheduleDetail(createSnapshot(kvs), id, around);

describe("what is shown of a schedule", () => {
  it("is what it does and when, in words, and by which rules", () => {
    const more = {
      timezone: "Europe/Berlin",
      jitter: 90_000,
      note: "to all",
      env: { SECRET: "x" },
      deadline: 3_600_000,
      retries: 2,
      backoff: 60_000,
      keep: 50,
      keepFor: 604_800_000,
      leases: ["db=2:10"],
      data: { to: "ops" },
    };
    const detail = showSchedule("mail", createWorkerKey("w"), ...createScheduleKeys("mail", more));
    expect(detail).toMatchObject({ heading: "schedule mail: waiting", tone: "free" });
    expect(listFacts(detail)).toMatchObject({
      when: expect.stringMatching(/hour.*\(Europe\/Berlin\)/),
      cron: "0 * * * *",
      type: "mail",
      next: "in 1h, 2023-11-14 23:15:00Z",
      data: '{"to":"ops"}',
      environment: "SECRET",
      note: "to all",
      "catch-up": "latest, none later than 1h",
      overlap: "forbid",
      retries: "2, the first after 1m",
      jitter: "up to 1m30s",
      leases: "db=2:10",
      history: "50 outcomes of 7d",
    });
  });

  it("is what runs next, with what a change of the clock does to it", () => {
    const at = Date.UTC(2026, 2, 28, 1, 30);
    const detail = showSchedule(
      "night",
      ...createScheduleKeys(
        "night",
        { cron: "30 2 * * *", timezone: "Europe/Berlin" },
        { next: at, runAt: at },
      ),
    );
    expect(readSection(detail, "next runs")).toMatchObject([
      [expect.stringMatching(/^2026-03-28 02:30/), "2026-03-28 01:30:00Z", expect.any(String), ""],
      [
        expect.stringMatching(/^2026-03-29 03:/),
        expect.any(String),
        expect.any(String),
        expect.stringMatching(/./),
      ],
      expect.anything(),
      expect.anything(),
      expect.anything(),
    ]);
  });

  it("is no run that a pause skips", () => {
    const show = (until?: number) => {
      const pause = { by: "ann", at: 1, ...(until !== undefined && { until }) };
      const due = { next: NOW + 60_000, runAt: NOW + 60_000 };
      return showSchedule(
        "s",
        ...createScheduleKeys("s", { cron: "* * * * *", timezone: "UTC", pause }, due),
      );
    };
    expect(readSection(show(), "next runs")).toBeUndefined();
    expect(readSection(show(NOW + 3_600_000), "next runs")?.[0]?.[1]).toBe("2023-11-14 23:15:00Z");
  });

  it("is who runs it, whether that one is alive, and what else stands open", () => {
    const openOne = {
      scheduled: NOW - 5,
      runAt: NOW + 30_000,
      attempt: 2,
      failures: 1,
      kind: "due",
    } as const;
    const detail = showSchedule(
      "s",
      createWorkerKey("w"),
      ...createScheduleKeys("s", {}, { open: [openOne] }),
      createRunningKey("s"),
    );
    expect(readSection(detail, "runs now")).toEqual([
      ["web1.example.com:42", "alive", "2023-11-14 22:14:00Z", "1", "59s", "1s", "12"],
    ]);
    expect(readSection(detail, "to be started")).toEqual([
      ["2023-11-14 22:14:59Z", "due", "in 30s", "2", "1"],
    ]);
  });

  it("has the command as a shell reads it", () => {
    const command = ["sh", "-c", "echo hi; exit 3"];
    expect(listFacts(showSchedule("s", ...createScheduleKeys("s", { command })))).toMatchObject({
      command: "sh -c 'echo hi; exit 3'",
    });
  });

  it("is how the last runs came out, which were given up, and what the last one wrote", () => {
    const tail = `${Array.from({ length: 40 }, (_, line) => `line ${line}`).join("\n")}\nno \x1b[31mspace\n`;
    const bad = outcome({ result: "failed", code: 7, reason: "exit 7", tail, scheduled: NOW - 120_000 });
    const skipped: OccurrenceOutcome = {
      scheduled: 0,
      result: "skipped",
      endedAt: NOW,
      count: 3,
      until: 7_200_000,
    };
    const detail = showSchedule(
      "s",
      ...createScheduleKeys("s"),
      createOutcomesKey("s", { runs: [skipped, bad, outcome()], dead: [bad] }),
    );
    expect(readSection(detail, "history")).toEqual([
      [
        "2023-11-14 22:15:00Z",
        "skipped",
        "1970-01-01 00:00:00Z … 1970-01-01 02:00:00Z (3)",
        "",
        "",
        "",
        "",
        "",
        "",
      ],
      [
        "2023-11-14 22:14:10Z",
        "failed",
        "2023-11-14 22:13:00Z",
        "web1.example.com",
        "9s",
        "0.3s",
        "1",
        "7",
        "exit 7",
      ],
      expect.arrayContaining(["ok"]),
    ]);
    expect(detail?.sections.map(({ title }) => title)).toContain(
      `dead letters; to run it again: signalbox schedule trigger s --dead ${NOW - 120_000}`,
    );
    // The last lines stand first, more of them below.
    const title = "output of the run that ended 2023-11-14 22:14:10Z";
    const outputs = (detail?.sections ?? []).flatMap((section) =>
      section.kind === "lines" && section.title.startsWith(title) ? [section.lines] : [],
    );
    expect(outputs.map((lines) => [lines.length, lines[0], lines.at(-1)])).toEqual([
      [6, "line 35", "no \x1b[31mspace"],
      [30, "line 11", "no \x1b[31mspace"],
    ]);
    expect(detail?.sections[0]?.title).toContain(title);
  });

  it("is what is wrong with it, and what operators did", () => {
    const detail = showSchedule(
      "s",
      createKeyValue(keys.schedule("s"), "{"),
      createAuditKey("a", { action: "schedule", target: "schedule s", outcome: "added" }),
      createAuditKey("b", { action: "schedule", target: "schedules r, s and 3 more", outcome: "paused" }),
      createAuditKey("c", { action: "schedule", target: "schedules r, t", outcome: "resumed" }),
    );
    expect(detail).toMatchObject({ heading: "schedule s: malformed", tone: "problem" });
    expect(listFacts(detail).malformed).toMatch("its definition cannot be read");
    expect(readSection(detail, "operators")).toEqual([
      expect.arrayContaining(["schedule", "paused"]),
      expect.arrayContaining(["schedule", "added"]),
    ]);
    expect(showSchedule("s")).toBeUndefined();
  });
});
