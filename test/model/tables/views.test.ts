/** Every view over one picture: states, notes, order, filters. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFilter, passes } from "../../../src/model/filter.ts";
import { problems } from "../../../src/model/problems/index.ts";
import { VIEWS, type ViewId } from "../../../src/model/tables/index.ts";
import { sceneOf } from "../../../src/model/tables/scene.ts";
import { parseOrder, sorted } from "../../../src/model/tables/sort.ts";
import { drainText } from "../../../src/protocol/drain.ts";
import { keys } from "../../protocol/samples.ts";
import { NOW, pictureOf, plain, stand } from "../pictures.ts";

const held = { state: "held", grantedAt: NOW - 60_000 } as const;
const waiting = { state: "waiting", enqueuedAt: NOW - 5_000 } as const;
const units = (count: number, state: "held" | "waiting") => ({ count, total: 10, state });

const KVS = [
  stand("lock held", "a", 1, { ...held, label: "nightly" }),
  stand("lock held", "b", 2, waiting),
  stand("lock asked", "c", 3, { ...held, reset: { by: "ann@ops", at: NOW, why: "stuck" } }),
  stand("lock kept", "d", 4, { state: "grace", until: NOW + 9 }),
  stand("lock turn", "e", 5, { state: "admitted" }),
  stand("lock next", "f", 6, waiting),
  stand("lock stopped", "g", 7, waiting),
  plain(keys.lock("bad", "h".repeat(16)), "{", 8),
  plain(keys.drain("lock", "stopped"), drainText({ by: "bob", at: NOW - 1, why: "upgrade" })),
  plain(keys.drain("lock", "quiet"), drainText({ by: "bob", at: NOW - 1 })),
  plain(keys.drain("host", "a.example.com"), drainText({ by: "bob", at: NOW - 1, until: NOW - 1 })),
  stand("resource db", "a", 9, units(2, "held")),
  stand("resource db", "i", 10, units(9, "waiting")),
  plain(keys.group("web"), '["a.example.com","gone.example.com"]'),
  plain(keys.host("a.example.com"), JSON.stringify({ v: 1, cpu: 4, memMb: 8000, seenAt: NOW - 60_000 })),
];

function rowsOf(id: ViewId, kvs = KVS): { key: string; cells: Record<string, string>; json: object }[] {
  const picture = pictureOf(kvs);
  const scene = sceneOf(picture, NOW);
  return VIEWS[id]((view) => {
    const rows =
      view.of === "picture"
        ? view.rows(picture, scene)
        : [...picture.queues.values()].flatMap((queue) => view.rows(queue, scene));
    return sorted(view, rows, parseOrder(view.sort)).map((row) => ({
      key: view.key(row),
      cells: Object.fromEntries(view.columns.map(({ id, text }) => [id, text(row)])),
      json: view.json(row),
    }));
  });
}

const cell = (id: ViewId, column: string) => rowsOf(id).map(({ cells }) => cells[column]);

describe("the view of locks", () => {
  it("tells how each stands", () => {
    const states = rowsOf("locks").map(({ cells: { name, state } }) => [name, state]);
    expect(Object.fromEntries(states)).toEqual({
      ...{ held: "held", asked: "resetting", kept: "grace", turn: "admitted", next: "waiting" },
      ...{ stopped: "drained", bad: "malformed" },
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
  it("show units, positions, and everybody who waits, the longest first", () => {
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
      seen: "1m ago",
      held: "1",
      cpu: "4",
      groups: "web",
      note: "",
    });
    expect(hosts["gone.example.com"]).toMatchObject({ seen: "never", held: "0" });
    expect(rowsOf("groups")[0]?.cells).toMatchObject({ group: "web", hosts: "2", live: "1" });
  });

  it("show drains, also those that have ended and stand", () => {
    expect(cell("drains", "ends").filter((text) => text?.endsWith("ago"))).toHaveLength(1);
  });
});

describe("problems", () => {
  const kinds = (...kvs: Parameters<typeof pictureOf>[0]) =>
    problems(pictureOf(kvs), NOW).map(({ kind }) => kind);
  it.each([
    ["a ticket that cannot be read", [plain(keys.lock("x", "h".repeat(16)), "{")], ["malformed"]],
    ["a key that is none of ours", [plain(`${keys.prefix}drains/nothing/x`, "")], ["malformed"]],
    ["a ticket on no session", [{ ...stand("lock x", "a", 1, held), session: 0n }], ["orphan"]],
    ["grace past its time", [stand("lock x", "a", 1, { state: "grace", until: NOW - 1 })], ["overdue"]],
    [
      "a reset that nobody answers",
      [stand("lock x", "a", 1, { ...held, reset: { by: "x", at: NOW - 600_000 } })],
      ["reset-unanswered"],
    ],
    ["a clock ahead of ours", [stand("lock x", "a", 1, { ...held, enqueuedAt: NOW + 60_000 })], ["clock"]],
    [
      "a long wait",
      [stand("lock x", "a", 1, { state: "waiting", enqueuedAt: NOW - 7_200_000 })],
      ["long-wait"],
    ],
    ["a hold of days", [stand("lock x", "a", 1, { ...held, grantedAt: NOW - 2e8 })], ["long-hold"]],
    [
      "totals that disagree",
      [
        stand("resource db", "a", 1, { total: 3, enqueuedAt: NOW }),
        stand("resource db", "b", 2, { total: 4, enqueuedAt: NOW }),
      ],
      ["totals"],
    ],
    [
      "a claim over the configured total",
      [
        plain(keys.resourceConfig("db"), "2"),
        stand("resource db", "a", 1, { count: 3, total: 2, enqueuedAt: NOW }),
      ],
      ["too-large"],
    ],
    [
      "a drain that has ended",
      [plain(keys.drain("all", "all"), drainText({ by: "x", at: 1, until: 2 }))],
      ["drain-ended"],
    ],
    ["a group that cannot be read", [plain(keys.group("web"), "{")], ["malformed", "group"]],
    ["a group's host that was never seen", [plain(keys.group("web"), '["w.example.com"]')], ["host"]],
    ["nothing", [stand("lock x", "a", 1, { ...held, enqueuedAt: NOW })], []],
  ] as const)("are found: %s", (_, kvs, expected) => {
    expect(kinds(...kvs)).toEqual(expected);
  });

  it("judge a hold by what is usual for the lock", () => {
    const past = {
      run: "r",
      host: "h",
      pid: 1,
      command: "c",
      token: "1",
      enqueuedAt: 0,
      grantedAt: 0,
      endedAt: 0,
    };
    const history = JSON.stringify({ v: 1, runs: [{ ...past, waited: 0, held: 60_000, exit: 0 }] });
    const holder = (since: number) =>
      stand("lock x", "a", 1, { ...held, enqueuedAt: NOW, grantedAt: NOW - since });
    expect(kinds(plain(keys.history("x"), history), holder(170_000))).toEqual([]);
    expect(kinds(plain(keys.history("x"), history), holder(190_000))).toEqual(["long-hold"]);
  });
});

describe("a filter", () => {
  const names = (text: string) =>
    VIEWS.locks((view) => {
      const picture = pictureOf(KVS);
      const scene = sceneOf(picture, NOW);
      const rows =
        view.of === "queue" ? [...picture.queues.values()].flatMap((queue) => view.rows(queue, scene)) : [];
      return rows.filter((row) => passes(view, parseFilter(text), row)).map((row) => view.key(row).slice(5));
    });
  it.each([
    { text: "", finds: 7 },
    { text: "HELD", finds: ["held"] },
    { text: "state:h", finds: ["held"] },
    { text: "state:held nobody", finds: [] },
    { text: "host:b.example", finds: ["held"] },
    { text: "holder:b.example", finds: [] },
    { text: "holder:c.example state:reset", finds: ["asked"] },
    { text: "nightly", finds: ["held"] },
    { text: "host:", finds: 7 },
    { text: "http://x", finds: [] },
  ])("$text finds $finds", ({ text, finds }) => {
    if (typeof finds === "number") expect(names(text)).toHaveLength(finds);
    else expect(names(text)).toEqual(finds);
  });

  it("never throws, whatever is typed", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(names(text).length).toBeLessThanOrEqual(7);
      }),
    );
  });
});

describe("an order", () => {
  it("is by the column's weight, with equal rows in the order of their keys", () => {
    const view = {
      columns: [{ id: "n", title: "", priority: 1, text: String, order: (row: number) => row % 10 }],
      key: (row: number) => String(row),
    };
    expect(sorted(view, [31, 12, 21, 11], parseOrder("n"))).toEqual([11, 21, 31, 12]);
    expect(sorted(view, [31, 12, 21, 11], parseOrder("-n"))).toEqual([12, 11, 21, 31]);
  });
});
