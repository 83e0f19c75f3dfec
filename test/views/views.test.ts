/** All views of one snapshot: states, notes, order. */
import { describe, expect, it } from "vitest";
import { buildViewContext } from "../../src/state/view-context.ts";
import { shortenOwner } from "../../src/views/columns.ts";
import { VIEWS, type ViewId } from "../../src/views/index.ts";
import { parseSortOrder, sortViewRows } from "../../src/views/sort.ts";
import { drainOf, groupOf, hostOf, NOW, pictureOf, resourceOf, stand } from "../state/pictures.ts";
import { LOCKS } from "./locks.ts";

const units = (count: number, state: "held" | "waiting") => ({ count, total: 10, state });

const KVS = [
  ...LOCKS,
  drainOf("lock", "quiet", { by: "bob" }),
  drainOf("host", "a.example.com", { by: "bob", until: NOW - 1 }),
  stand("resource db", "a", 9, units(2, "held")),
  stand("resource db", "i", 10, units(9, "waiting")),
  groupOf("web", "a.example.com", "gone.example.com"),
  hostOf("a.example.com", { cpu: 4, memMb: 8000, seenAt: NOW - 60_000 }),
];

function rowsOf(
  id: ViewId,
  kvs: typeof KVS = KVS,
): { key: string; cells: Record<string, string>; json: object }[] {
  const snapshot = pictureOf(kvs);
  const viewContext = buildViewContext(snapshot, NOW);
  const view = VIEWS[id];
  const rows =
    view.of === "snapshot"
      ? view.buildRows(snapshot, viewContext)
      : [...snapshot.queues.values()].flatMap((queue) => view.buildRows(queue, viewContext));
  return sortViewRows(view, rows, parseSortOrder(view.sort)).map((row) => ({
    key: view.getKey(row),
    cells: Object.fromEntries(view.columns.map(({ id, formatCell }) => [id, formatCell(row, NOW)])),
    json: view.json.toJson(row),
  }));
}

const cell = (id: ViewId, column: string) => rowsOf(id).map(({ cells }) => cells[column]);

describe("the view of locks", () => {
  it("tells how each stands", () => {
    const states = rowsOf("locks").map(({ cells: { name, state } }) => [name, state]);
    expect(Object.fromEntries(states)).toEqual({
      held: "held",
      asked: "resetting",
      kept: "grace",
      turn: "admitted",
      next: "waiting",
      stopped: "drained",
      bad: "malformed",
    });
  });

  it("says who, since when, and what there is to know", () => {
    const rows = Object.fromEntries(rowsOf("locks").map(({ cells }) => [cells.name, cells]));
    expect(rows.held).toMatchObject({
      holder: "a.example.com:4711",
      since: "1m",
      waiting: "1",
      label: "nightly",
    });
    expect(rows.asked?.note).toBe("reset by ann@ops: stuck");
    expect(rows.stopped?.note).toBe("drained by bob: upgrade");
    expect(rows.bad?.note).toBe("1 malformed");
  });
});

describe("the other views", () => {
  it("show units, positions, and all runs that wait, the longest wait first", () => {
    expect(rowsOf("resources")[0]?.cells).toMatchObject({ units: "2/10", waiting: "1" });
    const waits = rowsOf("queues").map(({ cells: { kind, name, position } }) =>
      [kind, name, position].join(" "),
    );
    expect(waits).toContain("resource db 2");
    expect(waits).toContain("lock held 2");
    expect(cell("queues", "who")).not.toContain("a.example.com:4711");
  });

  it("show each run once, as its ticket that is furthest from being held", () => {
    const runs = Object.fromEntries(rowsOf("runs").map(({ cells }) => [cells.who, cells]));
    expect(runs["a.example.com:4711"]).toMatchObject({
      state: "held",
      lock: "held",
      leases: "db=2",
      token: "1",
    });
    expect(runs["e.example.com:4711"]?.state).toBe("admitted");
  });

  it("show hosts that were seen, that hold, and that a group names", () => {
    const hosts = Object.fromEntries(rowsOf("hosts").map(({ cells }) => [cells.host, cells]));
    expect(hosts["a.example.com"]).toMatchObject({
      state: "busy",
      seen: "now",
      held: "1",
      cpu: "4",
      groups: "web",
      note: "",
    });
    expect(hosts["gone.example.com"]).toMatchObject({ seen: "never", held: "0" });
    expect(rowsOf("groups")[0]?.cells).toMatchObject({ group: "web", hosts: "2", live: "1" });
  });

  it("say what stops those that wait, and nothing of it at those that hold", () => {
    const drained = [
      ...KVS,
      drainOf("host", "B.example.com", { why: "kernel" }),
      drainOf("group", "web"),
      stand("lock next", "w", 20, { state: "waiting", host: "gone.example.com" }),
    ];
    const waiters = Object.fromEntries(rowsOf("queues", drained).map(({ cells }) => [cells.who, cells.note]));
    expect(waiters["b.example.com:4711"]).toBe("host B.example.com is drained by ann: kernel");
    expect(waiters["g.example.com:4711"]).toBe("drained by bob: upgrade");
    expect(waiters["gone.example.com:4711"]).toBe("group web is drained by ann");
    const notes = Object.fromEntries(rowsOf("runs", drained).map(({ cells }) => [cells.who, cells.note]));
    expect(notes["b.example.com:4711"]).toBe("host B.example.com is drained by ann: kernel");
    expect(notes["a.example.com:4711"]).toBe("");
    const hosts = Object.fromEntries(rowsOf("hosts", drained).map(({ cells }) => [cells.host, cells.note]));
    expect(hosts["b.example.com"]).toBe("drained by ann: kernel");
  });

  it("keep a lock that is held in its state, and say that it is drained too", () => {
    const row = rowsOf("locks", [...KVS, drainOf("lock", "held")]).find(({ key }) => key === "lock/held");
    expect(row?.cells.state).toBe("held, drained");
    expect(row?.json).toMatchObject({ state: "held", drains: [{ scope: "lock", name: "held", by: "ann" }] });
  });

  it("name hosts and runs in short, unless the name is no name of the DNS", () => {
    expect(
      [
        "web1.example.com:31",
        "web1:31",
        "10.0.0.1:31",
        "fe80::1:31",
        "web1.example.com",
        "malformed ticket x",
      ].map(shortenOwner),
    ).toEqual(["web1:31", "web1:31", "10.0.0.1:31", "fe80::1:31", "web1", "malformed ticket x"]);
  });

  it("list resources in the order that operators gave them, with their notes", () => {
    const kvs = [
      resourceOf("b", { total: "5", order: 1, note: "two for reports" }),
      stand("resource a", "a", 1, units(1, "held")),
      stand("resource b", "b", 2, units(5, "held")),
    ];
    expect(rowsOf("resources", kvs).map(({ cells }) => [cells.name, cells.units, cells.about])).toEqual([
      ["b", "5/5", "two for reports"],
      ["a", "1/10", ""],
    ]);
  });

  it("remark drains that stand at no lock and no resource", () => {
    const remarks = (...kvs: typeof KVS) =>
      VIEWS.overview.listRemarks?.(buildViewContext(pictureOf(kvs), NOW)) ?? [];
    const drain = (scope: "all" | "host" | "lock", name: string, until?: number) =>
      drainOf(scope, name, { ...(until && { until }) });
    expect(remarks(drain("lock", "x"))).toEqual([]);
    expect(remarks(drain("all", "all"))).toEqual(["everything is drained by ann (signalbox ls drains)"]);
    expect(remarks(drain("host", "a"), drain("host", "b"), drain("host", "c", NOW - 1))).toEqual([
      "2 hosts or groups are drained (signalbox ls drains)",
    ]);
  });

  it("show drains, also those that have ended and stand", () => {
    expect(cell("drains", "ends").filter((text) => text?.endsWith("ago"))).toHaveLength(1);
  });
});
