/** The view of past runs. */
import { describe, expect, it } from "vitest";
import { historyView } from "../../../src/cli/views/history.ts";
import { historyOf, NOW, pastRun } from "../../site/state/pictures.ts";
import { showView } from "./rows.ts";

const first = pastRun({ run: "r1", endedAt: NOW, exit: 137, host: "web2.example.com" });
const { rows, cells, json, column, passing } = showView(historyView, [
  historyOf("invoices", first, { run: "r2", endedAt: NOW - 9_000, exit: 1, label: "nightly" }),
  historyOf(
    "mail",
    { run: "r3", endedAt: NOW - 1_000 },
    { run: "r4", endedAt: NOW - 2_000, exit: 143, reason: "reset" },
  ),
]);

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
