/** What happened since a time, as tables of histories. */
import { describe, expect, it } from "vitest";
import { groupPastEvents, listEventsSince } from "../../../src/model/insight/since.ts";
import { type AuditRecord, serializeAuditRecord } from "../../../src/protocol/audit.ts";
import { serializeDrain } from "../../../src/protocol/drain.ts";
import { appendPastRun } from "../../../src/protocol/history.ts";
import type { KeyValue } from "../../../src/protocol/txn.ts";
import type { OccurrenceOutcome, OccurrenceResult } from "../../../src/schedule/state/outcome.ts";
import { keys } from "../../protocol/samples.ts";
import { NOW, pastRun, pictureOf, plain } from "../pictures.ts";
import { schedule, worker } from "../schedules.ts";

const HOUR = 3_600_000;
const SPAN = { from: NOW - HOUR, until: NOW };

function listSince(kvs: readonly KeyValue[], outcomes: Record<string, OccurrenceOutcome[]> = {}) {
  const histories = Object.entries(outcomes).map(([id, runs]) => [id, { runs, dead: [] }] as const);
  return listEventsSince({ snapshot: pictureOf(kvs), outcomes: new Map(histories) }, SPAN);
}

/** A history of a lock whose runs ended with these codes, one each ten minutes, the last one now. */
function lockHistory(...exits: number[]): KeyValue {
  const text = exits.reduce<string | undefined>(
    (before, exit, at) =>
      appendPastRun(before, pastRun({ exit, endedAt: NOW - (exits.length - 1 - at) * 600_000 })),
    undefined,
  );
  return plain(keys.history("x"), text ?? "");
}

/** Outcomes, newest first, one each ten minutes. */
const outcomesOf = (...results: OccurrenceResult[]): OccurrenceOutcome[] =>
  results.map((result, at) => ({ scheduled: NOW - at * 600_000, endedAt: NOW - at * 600_000, result }));

function audit(action: AuditRecord["action"], target: string, at = NOW - 60_000): KeyValue {
  const id = `${action}${target.replaceAll(" ", "")}`;
  const record = { id, at, user: "ann", host: "web1", action, target, seen: 1n, outcome: "done" };
  return plain(keys.audit(id), serializeAuditRecord(record));
}

describe("events", () => {
  const drain = (until: number) =>
    plain(keys.drain("lock", "x"), serializeDrain({ by: "ann@web1", at: NOW - 2 * HOUR, until }));
  const host = (seenAt: number) => plain(keys.host("web1.example.com"), JSON.stringify({ v: 1, seenAt }));
  it.each([
    { what: "nothing", kvs: [], kinds: [] },
    { what: "a failed run", kvs: [lockHistory(0, 3)], kinds: ["failed lock x"] },
    { what: "a run that recovered", kvs: [lockHistory(3, 0)], kinds: ["failed lock x", "recovered lock x"] },
    { what: "a success after a success", kvs: [lockHistory(0, 0)], kinds: [] },
    {
      what: "a failure before the time",
      kvs: [lockHistory(3, 3, 3, 3, 3, 3, 3, 3, 0)],
      kinds: [..."123456".split("").map(() => "failed lock x"), "recovered lock x"],
    },
    { what: "an action", kvs: [audit("group", "group web")], kinds: ["action group web"] },
    {
      what: "a drain and its end",
      kvs: [audit("drain", "all"), audit("undrain", "all")],
      kinds: ["drained all", "undrained all"],
    },
    { what: "an older action", kvs: [audit("reset", "lock x", NOW - 2 * HOUR)], kinds: [] },
    { what: "a drain that ended by itself", kvs: [drain(NOW - 1)], kinds: ["drain ended lock x"] },
    { what: "a drain that goes on", kvs: [drain(NOW + 1)], kinds: [] },
    { what: "a silent host", kvs: [host(NOW - HOUR / 2 - 1)], kinds: ["host gone host web1.example.com"] },
    { what: "a host seen lately", kvs: [host(NOW - HOUR / 2)], kinds: [] },
    { what: "a host gone for long", kvs: [host(NOW - 2 * HOUR)], kinds: [] },
    { what: "a new worker", kvs: [worker("w1", { since: NOW - 1 })], kinds: ["worker joined worker w1"] },
    { what: "an old worker", kvs: [worker("w1")], kinds: [] },
  ])("$what", ({ kvs, kinds }) => {
    expect(listSince(kvs).events.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual(kinds);
  });

  it.each([
    {
      what: "failures of all kinds",
      results: ["lost", "timeout", "failed"],
      kinds: ["failed", "failed", "failed"],
    },
    { what: "missed, and no failure", results: ["skipped", "ok"], kinds: ["missed"] },
    { what: "recovered after a retry", results: ["ok", "retry", "failed"], kinds: ["failed", "recovered"] },
    { what: "no recovery", results: ["ok", "replaced", "ok", "released"], kinds: [] },
  ] as const)("a schedule: $what", ({ results, kinds }) => {
    const { events } = listSince([], { backup: outcomesOf(...results) });
    expect(events.map(({ kind }) => kind)).toEqual(kinds);
  });

  it("dead letters come first, and events of one kind are one group", () => {
    const dead = outcomesOf("failed");
    const runs = outcomesOf("failed", "failed", "ok");
    const snapshot = pictureOf([]);
    const { events } = listEventsSince({ snapshot, outcomes: new Map([["a", { runs, dead }]]) }, SPAN);
    expect(groupPastEvents(events).map(({ kind, times, last }) => [kind, times, last.at])).toEqual([
      ["dead letter", 1, NOW],
      ["failed", 2, NOW],
    ]);
  });
});

describe("from when on history is complete", () => {
  const many = Array.from({ length: 20 }, () => "ok" as const);
  it.each([
    { what: "nothing was dropped", report: listSince([lockHistory(0, 0)]), from: SPAN.from, gaps: [] },
    {
      what: "a full history reaches back",
      report: listSince([lockHistory(...many.map(() => 0))]),
      from: SPAN.from,
      gaps: [],
    },
    {
      what: "a schedule keeps two",
      report: listSince(schedule("a", { keep: 2 }), { a: outcomesOf("ok", "ok", "failed") }),
      from: NOW - 600_000,
      gaps: ["schedule a"],
    },
    {
      what: "a schedule keeps a minute",
      report: listSince(schedule("a", { keepFor: 60_000 }), { a: outcomesOf("ok") }),
      from: NOW - 60_000,
      gaps: ["schedule a"],
    },
    {
      what: "actions were pruned",
      report: listSince([audit("prune", "audit")]),
      from: NOW - 60_000,
      gaps: ["actions of operators"],
    },
  ])("$what", ({ report, from, gaps }) => {
    expect(report.completeFrom).toBe(from);
    expect(report.gaps.map(({ subject }) => subject)).toEqual(gaps);
  });
});
