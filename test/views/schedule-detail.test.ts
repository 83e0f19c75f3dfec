/** Schedules: details in `show schedule`, problems, and events. */
import { describe, expect, it } from "vitest";
import type { KeyValue } from "../../src/protocol/txn.ts";
import type { OccurrenceOutcome } from "../../src/schedule/state/outcome.ts";
import { SNAPSHOT_COLLECTIONS } from "../../src/state/snapshot.ts";
import { SnapshotBuilder } from "../../src/state/snapshot-builder.ts";
import type { Detail } from "../../src/views/detail.ts";
import { formatEventText } from "../../src/views/event.ts";
import { listEventsBetween } from "../../src/views/event-log.ts";
import { findProblems } from "../../src/views/problems.ts";
import { buildScheduleDetail } from "../../src/views/schedules.ts";
import { keys } from "../protocol/samples.ts";
import { auditOf, drainOf, NOW, pictureOf, plain } from "../state/pictures.ts";
import { lastOf, memory, running, runningOf, schedule, worker } from "./schedules.ts";

const around = { wall: NOW, sessions: new Map([[7n, { left: 29, ttl: 30 }]]) };

function detailOf(id: string, ...kvs: KeyValue[]): Detail {
  const detail = buildScheduleDetail(pictureOf(kvs), id, around);
  if (detail === undefined) throw new Error(`nothing is shown of ${id}`);
  return detail;
}
const facts = (detail: Detail) => Object.fromEntries(detail.facts.map(({ label, value }) => [label, value]));
function section({ sections }: Detail, title: string): unknown {
  const found = sections.find((one) => one.title.startsWith(title));
  return found?.kind === "table" ? found.rows.map((row) => row.map(({ text }) => text)) : found?.lines;
}
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

describe("what is shown of a schedule", () => {
  it("is what it does and when, in words, and by which rules", () => {
    const rules = {
      deadline: 3_600_000,
      retries: 2,
      backoff: 60_000,
      keep: 50,
      keepFor: 604_800_000,
      leases: ["db=2:10"],
      data: { to: "ops" },
    };
    const more = {
      timezone: "Europe/Berlin",
      jitter: 90_000,
      note: "to all",
      env: { SECRET: "x" },
      ...rules,
    };
    const detail = detailOf("mail", worker("w"), ...schedule("mail", more));
    expect(detail).toMatchObject({ heading: "schedule mail: waiting", tone: "free" });
    expect(facts(detail)).toMatchObject({
      when: expect.stringMatching(/hour.*\(Europe\/Berlin\)/),
      cron: "0 * * * *",
      type: "mail",
      next: "in 1h, 2023-11-14 23:15:00Z",
      data: '{"to":"ops"}',
      environment: "SECRET",
      note: "to all",
      "catch-up": "all, none later than 1h",
      overlap: "forbid",
      retries: "2, the first after 1m",
      jitter: "up to 1m30s",
      leases: "db=2:10",
      history: "50 outcomes of 7d",
    });
  });

  it("is what runs next, with what a change of the clock does to it", () => {
    const at = Date.UTC(2026, 2, 28, 1, 30);
    const detail = detailOf(
      "night",
      ...schedule("night", { cron: "30 2 * * *", timezone: "Europe/Berlin" }, { next: at, runAt: at }),
    );
    expect(section(detail, "next runs")).toMatchObject([
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

  it("is who runs it, whether that one is alive, and what else stands open", () => {
    const openOne = {
      scheduled: NOW - 5,
      runAt: NOW + 30_000,
      attempt: 2,
      failures: 1,
      kind: "due",
    } as const;
    const detail = detailOf("s", worker("w"), ...schedule("s", {}, { open: [openOne] }), running("s"));
    expect(section(detail, "runs now")).toEqual([
      ["web1.example.com:42", "alive", "2023-11-14 22:14:00Z", "1", "59s", "1s", "12"],
    ]);
    expect(section(detail, "to be started")).toEqual([["2023-11-14 22:14:59Z", "due", "in 30s", "2", "1"]]);
  });

  it("has the command as a shell reads it", () => {
    const command = ["sh", "-c", "echo hi; exit 3"];
    expect(facts(detailOf("s", ...schedule("s", { command })))).toMatchObject({
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
    const detail = detailOf(
      "s",
      ...schedule("s"),
      memory("s", { runs: [skipped, bad, outcome()], dead: [bad] }),
    );
    expect(section(detail, "history")).toEqual([
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
    expect(detail.sections.map(({ title }) => title)).toContain(
      `dead letters; to run it again: signalbox schedule trigger s --dead ${NOW - 120_000}`,
    );
    const lines = section(detail, "output of the run that ended 2023-11-14 22:14:10Z") as string[];
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([30, "line 11", "no \x1b[31mspace"]);
  });

  it("is what is wrong with it, and what operators did", () => {
    const detail = detailOf(
      "s",
      plain(keys.schedule("s"), "{"),
      auditOf("a", { action: "schedule", target: "schedule s", outcome: "added" }),
      auditOf("b", { action: "schedule", target: "schedules r, s and 3 more", outcome: "paused" }),
      auditOf("c", { action: "schedule", target: "schedules r, t", outcome: "resumed" }),
    );
    expect(detail).toMatchObject({ heading: "schedule s: malformed", tone: "problem" });
    expect(facts(detail).malformed).toMatch("its definition cannot be read");
    expect(section(detail, "operators")).toEqual([
      expect.arrayContaining(["schedule", "paused"]),
      expect.arrayContaining(["schedule", "added"]),
    ]);
    expect(buildScheduleDetail(pictureOf([]), "s", around)).toBeUndefined();
  });
});

describe("problems with schedules", () => {
  const found = (...kvs: KeyValue[]) =>
    findProblems(pictureOf(kvs), NOW).map(({ kind, level, subject }) => `${level} ${kind} ${subject}`);
  const LONG = { runAt: NOW - 301_000 };
  const AGAIN = { attempt: 0, failures: 0, kind: "due" } as const;
  it.each([
    ["nothing", [worker("w"), ...schedule("s", {}, { last: lastOf({ result: "ok" }) })], []],
    ["a definition that cannot be read", [plain(keys.schedule("s"), "{")], ["failure malformed schedule s"]],
    ["one that should have run", [worker("w"), ...schedule("s", {}, LONG)], ["failure late schedule s"]],
    ["one that is late by a little", [worker("w"), ...schedule("s", {}, { runAt: NOW - 299_000 })], []],
    [
      "one that a drain of everything stops",
      [worker("w"), ...schedule("s", {}, LONG), drainOf("all", "all")],
      [],
    ],
    [
      "one that is due, and waits for a run that is tried again soon",
      [
        worker("w"),
        ...schedule("s", {}, { ...LONG, open: [{ ...AGAIN, scheduled: NOW - 400_000, runAt: NOW + 5_000 }] }),
      ],
      [],
    ],
    [
      "a run that is put off again and again",
      [
        worker("w"),
        ...schedule("s", {}, { open: [{ ...AGAIN, scheduled: NOW, runAt: NOW + 5_000, postponed: 10 }] }),
        ...schedule("t", {}, { open: [{ ...AGAIN, scheduled: NOW, runAt: NOW + 5_000, postponed: 9 }] }),
      ],
      ["warning postponed schedule s"],
    ],
    ["one that runs, and long", [worker("w"), ...schedule("s", {}, LONG), running("s")], []],
    ["one that was paused", [worker("w"), ...schedule("s", { pause: { by: "a", at: 1 } }, LONG)], []],
    [
      "a dead letter",
      [worker("w"), ...schedule("s", {}, { last: lastOf({ result: "ok" }), dead: 2 })],
      ["warning dead-letter schedule s"],
    ],
    [
      "types without a worker, a line each",
      [...schedule("s"), ...schedule("t"), ...schedule("u", { type: "b" })],
      ["warning no-worker schedule s", "warning no-worker schedule u"],
    ],
    [
      "a running key that cannot be read",
      [worker("w"), ...schedule("s"), plain(keys.running("s"), "{")],
      ["failure malformed schedule s"],
    ],
    [
      "a running key on no session",
      [worker("w"), ...schedule("s"), { ...running("s"), session: 0n }],
      ["failure orphan schedule s"],
    ],
    [
      "a clock that is off",
      [worker("w", { clock: "refuses" }), worker("v", { clock: "warns", pid: 1 })],
      ["failure clock worker web1.example.com:42", "warning clock worker web1.example.com:1"],
    ],
    ["a worker's word that cannot be read", [plain(keys.worker("w"), "{")], ["warning malformed worker w"]],
  ] as const)("%s", (_, kvs, expected) => {
    expect(found(...kvs)).toEqual(expected);
  });

  it("many that are late have one line, of the one that is the latest", () => {
    const late = Array.from({ length: 50 }, (_, at) => schedule(`s${at}`, {}, { runAt: NOW - 400_000 - at }));
    const all = findProblems(pictureOf([worker("w"), ...late.flat()]), NOW);
    expect(all).toMatchObject([{ subject: "schedule s49", detail: expect.stringContaining("49 more") }]);
  });
});

describe("what happens to schedules", () => {
  /** As a follower sees them: what did not change is the same in both. */
  const told = (...reads: KeyValue[][]) => {
    const fold = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
    const pictures = reads.map((kvs, at) => {
      fold.begin();
      for (const kv of kvs) fold.add(kv);
      fold.finish(BigInt(100 + at));
      return fold.getSnapshot();
    });
    const [before, after] = pictures;
    if (before === undefined || after === undefined) throw new Error("there are not two pictures");
    return listEventsBetween(before, after, { from: NOW - 60_000, to: NOW }).map(formatEventText);
  };
  const newer = (kv: KeyValue): KeyValue => ({ ...kv, modRevision: 99n });

  it("is told: what starts, and how it ends", () => {
    const idle = schedule("s");
    const busy = [...idle, running("s", { run: "r1", attempt: 2 })];
    expect(told(idle, busy)).toEqual(["started  schedule s  web1:42  attempt 2, 1.0s late"]);
    const [definition, due] = schedule("s", {}, { last: lastOf() });
    if (definition === undefined || due === undefined) throw new Error("no such keys");
    expect(told(busy, [definition, newer(due)])).toEqual(["ended  schedule s  web1:42  failed after 9s"]);
    expect(told(busy, busy)).toEqual([]);
  });

  it("is told when a schedule pauses itself, and when it is resumed", () => {
    const pause = { by: "signalbox", at: NOW, why: "after 3 failures" };
    const idle = schedule("s");
    const [definition, due] = schedule("s", {}, { failed: 3, pause });
    const [byAnn] = schedule("s", { pause: { by: "ann", at: 1 } });
    if (definition === undefined || due === undefined || byAnn === undefined) throw new Error("no such keys");
    const paused = [definition, newer(due)];
    expect(told(idle, paused)).toEqual(["configured  schedule s  paused by signalbox: after 3 failures"]);
    expect(told(paused, idle)).toEqual(["configured  schedule s  resumed"]);
    expect(told(paused, [newer(byAnn), ...idle.slice(1)])).toEqual(["configured  schedule s  paused by ann"]);
    expect(told(paused, [])).toEqual(["configured  schedule s  deleted"]);
  });

  it("is told once: the audit of what shows by itself is left out", () => {
    const [definition] = schedule("s");
    const paused = schedule("s", { pause: { by: "ann", at: 1 } })[0];
    if (definition === undefined || paused === undefined) throw new Error("no such keys");
    const audit = auditOf("a", { action: "schedule", target: "schedule s", outcome: "paused" });
    expect(told([], [definition])).toEqual(["configured  schedule s  added: 0 * * * *"]);
    expect(told([definition], [newer(paused), audit])).toEqual(["configured  schedule s  paused by ann"]);
    expect(told([newer(paused)], [definition])).toEqual(["configured  schedule s  resumed"]);
    expect(told([definition], [])).toEqual(["configured  schedule s  deleted"]);
  });

  it("is of one of several beside each other", () => {
    const one = running("s", runningOf({ run: "r1" }), 60_000);
    const two = { ...running("s", runningOf({ run: "r2", pid: 43 }), 120_000), createRevision: 13n };
    expect(told([...schedule("s"), one], [...schedule("s"), one, two])).toEqual([
      "started  schedule s  web1:43  1.0s late",
    ]);
  });
});
