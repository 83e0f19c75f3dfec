/** The view of past runs. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createEndedRun,
  createHistoryKey,
  createKeyValue,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { historyView } from "../../../src/cli/views/history.ts";
import { formatOutcomes, type OccurrenceOutcome } from "../../../src/schedule/state/outcome.ts";
import { showView } from "./rows.ts";

const first = createEndedRun({ run: "r1", endedAt: NOW, exit: 137, host: "web2.example.com" });
const { rows, cells, json, column, passing } = showView(historyView, [
  createHistoryKey("invoices", first, { run: "r2", endedAt: NOW - 9_000, exit: 1, label: "nightly" }),
  createHistoryKey(
    "mail",
    { run: "r3", endedAt: NOW - 1_000 },
    { run: "r4", endedAt: NOW - 2_000, exit: 143, reason: "reset" },
  ),
]);

describe("the outcomes of schedules", () => {
  const outcome = (change: Partial<OccurrenceOutcome>): OccurrenceOutcome => ({
    scheduled: NOW - 60_000,
    startedAt: NOW - 50_000,
    endedAt: NOW,
    late: 10,
    result: "ok",
    run: "r1",
    host: "web1.example.com",
    attempt: 1,
    ...change,
  });
  const failed = outcome({
    result: "failed",
    run: "r2",
    endedAt: NOW - 1_000,
    code: 3,
    tail: "disk full\nno room\n",
  });
  const lost = { scheduled: NOW - 90_000, endedAt: NOW - 3_000, result: "lost" } as const;
  const runs = [outcome({ attempt: 2 }), failed];
  const dead = [failed, outcome({ result: "timeout", run: "r3", endedAt: NOW - 2_000 }), lost];
  const seen = showView(historyView, [
    createHistoryKey("mail", { run: "r4", endedAt: NOW - 500, exit: 1 }),
    createKeyValue(keys.outcomes("backup"), formatOutcomes({ runs, dead })),
  ]);

  it("are rows: what is kept, failures that a later run has healed, and older dead letters", () => {
    expect(seen.passing("")).toEqual([
      `backup@${NOW - 60_000}/r1`,
      "mail/r4",
      `backup@${NOW - 60_000}/r2`,
      `backup@${NOW - 60_000}/r3`,
      `backup@${NOW - 90_000}/ ${NOW - 3_000}`,
    ]);
    expect(seen.passing("state:failed")).toHaveLength(4);
    expect(seen.passing("backup state:timeout")).toEqual([`backup@${NOW - 60_000}/r3`]);
    expect(seen.column("output")).toEqual(["", "", "no room", "", ""]);
    expect(seen.json[2]).toMatchObject({
      schedule: "backup",
      state: "failed",
      exit: 3,
      attempt: 1,
      tail: "disk full\nno room\n",
    });
    expect(seen.rows.map(historyView.getSubject)[0]).toMatchObject({
      about: { kind: "schedule", name: "backup" },
    });
  });
});

describe("the view of history", () => {
  it("has the runs of all locks, those that ended last first", () => {
    expect(passing("")).toEqual(["invoices/r1", "mail/r3", "mail/r4", "invoices/r2"]);
    expect(column("state")).toEqual(["killed", "ok", "ended", "failed"]);
    expect(column("exit")).toEqual(["137", "0", "143", "1"]);
    expect(cells[0]).toMatchObject({ who: "web2.example.com:4711", waited: "1s", held: "3s" });
    expect([column("reason")[2], column("label")[3]]).toEqual(["reset", "nightly"]);
  });

  it("is filtered by how runs ended, by host, and by who ran", () => {
    expect(passing("state:ok")).toEqual(["mail/r3"]);
    expect(passing("state:failed")).toEqual(["invoices/r1", "mail/r4", "invoices/r2"]);
    expect(passing("state:killed")).toEqual(["invoices/r1"]);
    expect(passing("state:ended")).toEqual(["mail/r4"]);
    expect(passing("host:web2 invoices")).toEqual(["invoices/r1"]);
    expect(passing("holder:web1.example.com:4711 nightly")).toEqual(["invoices/r2"]);
  });

  it("is about the lock, and says everything to programs", () => {
    expect(rows.map(historyView.getSubject)[0]).toEqual({
      kind: "record",
      isEndedRun: true,
      name: "r1",
      about: { kind: "lock", name: "invoices" },
    });
    expect(json[0]).toEqual({ lock: "invoices", state: "killed", ...first });
  });
});
