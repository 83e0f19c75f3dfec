/** Why something did not run at a time, as tables of histories. */
import { describe, expect, it } from "vitest";
import { createDefinition, createDue } from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createAuditKey,
  createDrainKey,
  createGroupKey,
  createHistoryKey,
  createSnapshot,
} from "../../../fixtures/state/sample-snapshots.ts";
import type { AuditRecord } from "../../../src/core/protocol/audit.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import type { Definition } from "../../../src/schedule/definition.ts";
import type { OccurrenceOutcome } from "../../../src/schedule/state/outcome.ts";
import type { RecordedSchedule } from "../../../src/site/state/forecast.ts";
import {
  explainLockAt,
  explainScheduleAt,
  findLastExpected,
  findMainReason,
} from "../../../src/site/state/why-then.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const AT = Date.UTC(2026, 0, 5, 3);

const audit = (action: AuditRecord["action"], target: string, at: number) =>
  createAuditKey(`${action}${at}`, { at, host: "web1", action, target });

const stored = (scope: "lock" | "all" | "host" | "group" | "resource", name: string, at: number) =>
  createDrainKey(scope, name, { by: "ann@web1", at });
const ok = (scheduled: number, more: Partial<OccurrenceOutcome> = {}): OccurrenceOutcome => ({
  scheduled,
  result: "ok",
  startedAt: scheduled,
  endedAt: scheduled + MINUTE,
  ...more,
});

it.each<[string, string[], (Partial<RecordedSchedule> & { more?: Partial<Definition>; kvs?: KeyValue[] })?]>([
  ["it ran", ["plan", "outcome", "running"], { runs: [ok(AT)] }],
  [
    "each start of it",
    ["plan", "outcome", "outcome", "running"],
    { runs: [ok(AT, { startedAt: AT + MINUTE, endedAt: AT + 2 * MINUTE }), ok(AT, { result: "lost" })] },
  ],
  [
    "skipped with others",
    ["plan", "outcome"],
    {
      runs: [{ scheduled: AT - HOUR, until: AT + HOUR, count: 3, result: "skipped", endedAt: AT + 2 * HOUR }],
    },
  ],
  [
    "the run before went on",
    ["plan", "unknown", "running"],
    { runs: [ok(AT - HOUR, { endedAt: AT + MINUTE })] },
  ],
  ["not claimed yet", ["plan", "outcome"], { due: createDue({ next: AT }) }],
  ["nothing is stored", ["plan", "unknown"]],
  ["no occurrence", ["plan"], { more: { cron: "@manual" } }],
  ["paused", ["plan", "unknown", "pause"], { more: { pause: { by: "ann", at: AT - HOUR } } }],
  ["paused later", ["plan", "unknown"], { more: { pause: { by: "ann", at: AT + HOUR } } }],
  ["an edit", ["plan", "unknown", "action"], { kvs: [audit("schedule", "schedule a", AT + HOUR)] }],
  ["one of several", ["plan", "unknown", "action"], { kvs: [audit("schedule", "schedules a, b", AT)] }],
  ["an edit of another", ["plan", "unknown"], { kvs: [audit("schedule", "schedule ab", AT)] }],
  ["an old edit", ["plan", "unknown"], { kvs: [audit("schedule", "schedule a", AT - 2 * HOUR)] }],
  ["all was drained", ["plan", "unknown", "drain"], { kvs: [stored("all", "all", AT - 1)] }],
])("a schedule, every hour: %s", (_, kinds, { runs = [], due, more, kvs = [] } = {}) => {
  const schedule = { id: "a", definition: createDefinition(more), due, runs };
  expect(explainScheduleAt(schedule, AT, createSnapshot(kvs)).map(({ kind }) => kind)).toEqual(kinds);
});

it("says when an occurrence may start that waits for its delay", () => {
  const due = createDue({ next: AT, runAt: AT + MINUTE });
  const explain = (at: number) =>
    explainScheduleAt({ id: "a", definition: createDefinition(), due, runs: [] }, at, createSnapshot([]))[1]
      ?.text;
  expect(explain(AT)).toMatch(/not started yet: it may start from \S+ 03:01:00Z$/);
  expect(explain(AT + 2 * MINUTE)).toMatch(/not started yet: no worker has claimed it$/);
});

it("says once how a run failed", () => {
  const failed = ok(AT, { result: "failed", code: 3, reason: "exit code 3", host: "web1" });
  const explain = (run: OccurrenceOutcome) =>
    explainScheduleAt(
      { id: "a", definition: createDefinition(), due: undefined, runs: [run] },
      AT,
      createSnapshot([]),
    )[1];
  expect(explain(failed)?.text).toMatch("; failed (exit code 3, on web1) at ");
  const { reason: _, ...bare } = failed;
  expect(explain(bare)?.text).toMatch("; failed (code 3, on web1) at ");
});

describe("a lock", () => {
  const run = (enqueued: number, granted: number, ended: number) =>
    createHistoryKey("x", { enqueuedAt: AT + enqueued, grantedAt: AT + granted, endedAt: AT + ended });
  it.each([
    ["held", [run(-2, -1, 1)], [/held it from/]],
    ["waited for", [run(-2, 1, 2)], [/waited; it got it/]],
    [
      "free again",
      [run(-3, -2, -1)],
      [/no run of this time is stored; the run before ended \S+ \S+Z, exit code 0$/],
    ],
    ["held later", [run(1, 2, 3)], [/is stored; the next one began \S+ \S+Z, exit code 0$/]],
    ["drained", [stored("lock", "x", AT - 1)], [/no run/, /a drain of ann@web1 was active/]],
    ["another is drained", [stored("lock", "y", AT - 1)], [/no run/]],
    [
      "drained, and lifted later",
      [audit("drain", "all", AT - 2), audit("undrain", "all", AT + 2)],
      [/no run/, /lifted later/],
    ],
    ["lifted before", [audit("drain", "all", AT - 2), audit("undrain", "all", AT - 1)], [/no run/]],
    ["reset", [audit("reset", "lock x", AT - 1)], [/no run/, /reset of lock x by ann@web1/]],
  ])("%s", (_, kvs, texts) => {
    const reasons = explainLockAt("x", AT, createSnapshot(kvs)).map(({ text }) => text);
    expect(reasons).toEqual(texts.map((text) => expect.stringMatching(text)));
  });
});

describe("drains of what a schedule uses", () => {
  const hosts = createGroupKey("racks", "web1.example.com");
  const command = ["signalbox", "run", "--lock", "x", "--", "make"];
  const ran = [ok(AT - HOUR, { host: "web1.example.com" })];
  it.each<[string, KeyValue[], RegExp | undefined, Partial<Definition>?]>([
    ["its resource", [stored("resource", "db", AT - 1)], /it leases this/, { leases: ["db=2"] }],
    ["another resource", [stored("resource", "db2", AT - 1)], undefined, { leases: ["db=2"] }],
    ["its lock", [stored("lock", "x", AT - 1)], /it takes this lock/, { command }],
    ["its group", [stored("group", "racks", AT - 1)], /in this group/, { group: "racks" }],
    ["a host of its runs", [stored("host", "WEB1.example.com", AT - 1)], /runs were on this host/],
    ["a group of that host", [hosts, stored("group", "racks", AT - 1)], /web1.example.com, a member/],
    ["another host", [stored("host", "web2.example.com", AT - 1)], undefined],
    [
      "a host, lifted since",
      [audit("drain", "host web1.example.com", AT - 2), audit("undrain", "host web1.example.com", AT + 2)],
      /lifted later, at/,
    ],
    [
      "a resource, without a recorded end",
      [audit("drain", "resource db", AT - 2)],
      /its end is not recorded/,
      { leases: ["db=2"] },
    ],
  ])("%s", (_, kvs, text, more) => {
    const reasons = explainScheduleAt(
      { id: "a", definition: createDefinition(more), runs: ran },
      AT,
      createSnapshot(kvs),
    );
    const drains = reasons.filter(({ kind }) => kind === "drain").map((one) => one.text);
    expect(drains).toEqual(text === undefined ? [] : [expect.stringMatching(text)]);
  });

  it("and of a lock: the hosts of its runs", () => {
    const past = createHistoryKey("x", { enqueuedAt: AT - 9, grantedAt: AT - 9, endedAt: AT - 8 });
    const kvs = [past, stored("host", "web1.example.com", AT - 1)];
    expect(explainLockAt("x", AT, createSnapshot(kvs)).at(-1)?.text).toMatch(
      /host web1.example.com; runs were on this host/,
    );
  });
});

describe("the answer in one sentence", () => {
  it("is the reason that decides", () => {
    const of = (...kinds: ("plan" | "outcome" | "drain" | "pause" | "unknown")[]) =>
      findMainReason(kinds.map((kind) => ({ kind, at: AT, text: kind })))?.text;
    expect(of("plan", "outcome", "drain")).toBe("outcome");
    expect(of("plan", "unknown", "drain", "pause")).toBe("pause");
    expect(of("plan", "unknown", "drain")).toBe("drain");
    expect(of("plan", "unknown")).toBe("unknown");
    expect(of()).toBeUndefined();
  });

  it("begins with the last expected occurrence", () => {
    expect(findLastExpected({ id: "a", definition: createDefinition() }, AT + 5 * MINUTE)).toBe(AT);
    expect(
      findLastExpected({ id: "a", definition: createDefinition({ cron: "@manual" }) }, AT),
    ).toBeUndefined();
  });
});
