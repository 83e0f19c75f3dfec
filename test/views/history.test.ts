/** The view of past runs. */
import { describe, expect, it } from "vitest";
import { parsePastRuns } from "../../src/protocol/history.ts";
import { buildViewContext } from "../../src/state/view-context.ts";
import { isFilterMatch, parseRowFilter } from "../../src/views/filter.ts";
import { historyView } from "../../src/views/history.ts";
import { parseSortOrder, sortViewRows } from "../../src/views/sort.ts";
import { historyOf, NOW, pastRun, pictureOf } from "../state/pictures.ts";

const snapshot = pictureOf([
  historyOf(
    "invoices",
    { run: "r1", endedAt: NOW, exit: 137, host: "web2.example.com" },
    { run: "r2", endedAt: NOW - 9_000, exit: 1, label: "nightly" },
  ),
  historyOf(
    "mail",
    { run: "r3", endedAt: NOW - 1_000 },
    { run: "r4", endedAt: NOW - 2_000, exit: 143, reason: "reset" },
  ),
]);

const rows = sortViewRows(
  historyView,
  historyView.buildRows(snapshot, buildViewContext(snapshot, NOW)),
  parseSortOrder(historyView.sort),
);
const column = (id: string) =>
  rows.map((row) => historyView.columns.find((one) => one.id === id)?.formatCell(row, NOW));
const passing = (filter: string) =>
  rows
    .filter((row) => isFilterMatch(historyView, parseRowFilter(filter, historyView), row, { wall: NOW }))
    .map((row) => historyView.getKey(row));

describe("the view of history", () => {
  it("has the runs of all locks, those that ended last first", () => {
    expect(rows.map((row) => historyView.getKey(row))).toEqual([
      "invoices/r1",
      "mail/r3",
      "mail/r4",
      "invoices/r2",
    ]);
    expect(column("state")).toEqual(["killed", "ok", "ended", "failed"]);
    expect(column("exit")).toEqual(["137", "0", "143", "1"]);
    expect(column("who")[0]).toBe("web2.example.com:4711");
    expect([column("waited")[0], column("held")[0], column("reason")[2], column("label")[3]]).toEqual([
      "1s",
      "3s",
      "reset",
      "nightly",
    ]);
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
    const [first] = rows;
    if (first === undefined) throw new Error("no row");
    expect(historyView.getSubject(first)).toEqual({
      kind: "record",
      isEndedRun: true,
      name: "r1",
      about: { kind: "lock", name: "invoices" },
    });
    const [known] = parsePastRuns(
      JSON.stringify({ runs: [pastRun({ run: "r1", exit: 137, host: "web2.example.com" })] }),
    );
    expect(historyView.json.toJson(first)).toEqual({ lock: "invoices", state: "killed", ...known });
  });
});
