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
import type { OccurrenceOutcome } from "../../../src/schedule/state/outcome.ts";
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

describe("a schedule, every hour", () => {
  it.each([
    { what: "it ran", runs: [ok(AT)], kinds: ["plan", "outcome", "running"] },
    {
      what: "each start of it",
      runs: [ok(AT, { startedAt: AT + MINUTE, endedAt: AT + 2 * MINUTE }), ok(AT, { result: "lost" })],
      kinds: ["plan", "outcome", "outcome", "running"],
    },
    {
      what: "skipped with others",
      runs: [
        {
          scheduled: AT - HOUR,
          until: AT + HOUR,
          count: 3,
          result: "skipped" as const,
          endedAt: AT + 2 * HOUR,
        },
      ],
      kinds: ["plan", "outcome"],
    },
    {
      what: "the run before went on",
      runs: [ok(AT - HOUR, { endedAt: AT + MINUTE })],
      kinds: ["plan", "unknown", "running"],
    },
    { what: "not claimed yet", runs: [], due: createDue({ next: AT }), kinds: ["plan", "outcome"] },
    { what: "nothing is stored", runs: [], kinds: ["plan", "unknown"] },
    { what: "no occurrence", runs: [], more: { cron: "@manual" }, kinds: ["plan"] },
    {
      what: "paused",
      runs: [],
      more: { pause: { by: "ann", at: AT - HOUR } },
      kinds: ["plan", "unknown", "pause"],
    },
    {
      what: "paused later",
      runs: [],
      more: { pause: { by: "ann", at: AT + HOUR } },
      kinds: ["plan", "unknown"],
    },
    {
      what: "an edit",
      runs: [],
      kvs: [audit("schedule", "schedule a", AT + HOUR)],
      kinds: ["plan", "unknown", "action"],
    },
    {
      what: "one of several",
      runs: [],
      kvs: [audit("schedule", "schedules a, b", AT)],
      kinds: ["plan", "unknown", "action"],
    },
    {
      what: "an edit of another",
      runs: [],
      kvs: [audit("schedule", "schedule ab", AT)],
      kinds: ["plan", "unknown"],
    },
    {
      what: "an old edit",
      runs: [],
      kvs: [audit("schedule", "schedule a", AT - 2 * HOUR)],
      kinds: ["plan", "unknown"],
    },
    {
      what: "all was drained",
      runs: [],
      kvs: [stored("all", "all", AT - 1)],
      kinds: ["plan", "unknown", "drain"],
    },
  ])("$what", ({ runs, due, more, kvs = [], kinds }) => {
    const schedule = { id: "a", definition: createDefinition(more), due, runs };
    expect(explainScheduleAt(schedule, AT, createSnapshot(kvs)).map(({ kind }) => kind)).toEqual(kinds);
  });
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
    { what: "held", kvs: [run(-2, -1, 1)], texts: [/held it from/] },
    { what: "waited for", kvs: [run(-2, 1, 2)], texts: [/waited; it got it/] },
    {
      what: "free again",
      kvs: [run(-3, -2, -1)],
      texts: [/no run of this time is stored; the run before ended \S+ \S+Z, exit code 0$/],
    },
    {
      what: "held later",
      kvs: [run(1, 2, 3)],
      texts: [/is stored; the next one began \S+ \S+Z, exit code 0$/],
    },
    {
      what: "drained",
      kvs: [stored("lock", "x", AT - 1)],
      texts: [/no run/, /a drain of ann@web1 was active/],
    },
    { what: "another is drained", kvs: [stored("lock", "y", AT - 1)], texts: [/no run/] },
    {
      what: "drained, and lifted later",
      kvs: [audit("drain", "all", AT - 2), audit("undrain", "all", AT + 2)],
      texts: [/no run/, /lifted later/],
    },
    {
      what: "lifted before",
      kvs: [audit("drain", "all", AT - 2), audit("undrain", "all", AT - 1)],
      texts: [/no run/],
    },
    {
      what: "reset",
      kvs: [audit("reset", "lock x", AT - 1)],
      texts: [/no run/, /reset of lock x by ann@web1/],
    },
  ])("$what", ({ kvs, texts }) => {
    const reasons = explainLockAt("x", AT, createSnapshot(kvs)).map(({ text }) => text);
    expect(reasons).toEqual(texts.map((text) => expect.stringMatching(text)));
  });
});

describe("drains of what a schedule uses", () => {
  const hosts = createGroupKey("racks", "web1.example.com");
  const command = ["signalbox", "run", "--lock", "x", "--", "make"];
  const ran = [ok(AT - HOUR, { host: "web1.example.com" })];
  it.each([
    {
      what: "its resource",
      kvs: [stored("resource", "db", AT - 1)],
      more: { leases: ["db=2"] },
      text: /it leases this/,
    },
    {
      what: "another resource",
      kvs: [stored("resource", "db2", AT - 1)],
      more: { leases: ["db=2"] },
      text: undefined,
    },
    { what: "its lock", kvs: [stored("lock", "x", AT - 1)], more: { command }, text: /it takes this lock/ },
    {
      what: "its group",
      kvs: [stored("group", "racks", AT - 1)],
      more: { group: "racks" },
      text: /in this group/,
    },
    {
      what: "a host of its runs",
      kvs: [stored("host", "WEB1.example.com", AT - 1)],
      text: /runs were on this host/,
    },
    {
      what: "a group of that host",
      kvs: [hosts, stored("group", "racks", AT - 1)],
      text: /web1.example.com, a member/,
    },
    { what: "another host", kvs: [stored("host", "web2.example.com", AT - 1)], text: undefined },
    {
      what: "a host, lifted since",
      kvs: [
        audit("drain", "host web1.example.com", AT - 2),
        audit("undrain", "host web1.example.com", AT + 2),
      ],
      text: /lifted later, at/,
    },
    {
      what: "a resource, without a recorded end",
      kvs: [audit("drain", "resource db", AT - 2)],
      more: { leases: ["db=2"] },
      text: /its end is not recorded/,
    },
  ])("$what", ({ kvs, more, text }) => {
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
