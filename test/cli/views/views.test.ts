/** All views of one snapshot: states, notes, order. */
import { describe, expect, it } from "vitest";
import {
  createDrainKey,
  createGroupKey,
  createHostKey,
  createResourceKey,
  createSnapshot,
  createTicketKey,
  held,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { shortenOwner } from "../../../src/cli/views/columns.ts";
import { VIEWS, type ViewId } from "../../../src/cli/views/index.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { buildViewContext } from "../../../src/site/state/view-context.ts";
import { LOCKS } from "./locks.ts";
import { showView } from "./rows.ts";

const units = (count: number, state: "held" | "waiting") => ({ count, total: 10, state });

const KVS = [
  ...LOCKS,
  createDrainKey("lock", "quiet", { by: "bob" }),
  createDrainKey("host", "a.example.com", { by: "bob", until: NOW - 1 }),
  createTicketKey("resource db", "a", 9, units(2, "held")),
  createTicketKey("resource db", "i", 10, units(9, "waiting")),
  createGroupKey("web", "a.example.com", "gone.example.com"),
  createHostKey("a.example.com", { cpu: 4, memMb: 8000, seenAt: NOW - 60_000 }),
];

const show = (id: ViewId, kvs: readonly KeyValue[] = KVS) => showView(VIEWS[id], kvs);
/** The cells of the rows of a view, by the text of one column. */
const cellsBy = (column: string, id: ViewId, kvs?: readonly KeyValue[]) =>
  Object.fromEntries(show(id, kvs).cells.map((cells) => [cells[column], cells]));

it("the view of locks tells how each stands, who holds it, since when, and what there is to know", () => {
  expect(cellsBy("name", "locks")).toMatchObject({
    held: { state: "held", holder: "a.example.com:4711", since: "1m", waiting: "1", label: "nightly" },
    asked: { state: "resetting", note: "reset by ann@ops: stuck" },
    kept: { state: "grace" },
    turn: { state: "admitted" },
    next: { state: "waiting" },
    stopped: { state: "drained", note: "drained by bob: upgrade" },
    bad: { state: "malformed", note: "1 malformed" },
  });
});

describe("the other views", () => {
  it("show units, positions, and all runs that wait, the longest wait first", () => {
    expect(show("resources").cells).toMatchObject([{ units: "2/10", waiting: "1" }]);
    const { cells, column } = show("queues");
    const waits = cells.map(({ kind, name, position }) => [kind, name, position].join(" "));
    expect(waits).toEqual(expect.arrayContaining(["resource db 2", "lock held 2"]));
    expect(column("who")).not.toContain("a.example.com:4711");
  });

  it("show each run once, as its ticket that is furthest from being held", () => {
    expect(cellsBy("who", "runs")).toMatchObject({
      "a.example.com:4711": { state: "held", lock: "held", leases: "db=2", token: "1" },
      "e.example.com:4711": { state: "admitted" },
    });
  });

  it("show hosts that were seen, that hold, that a group names, and that are drained before their first run", () => {
    const drain = createDrainKey("host", "New.example.com");
    expect(cellsBy("host", "hosts", [...KVS, drain])).toMatchObject({
      "a.example.com": { state: "busy", seen: "now", held: "1", cpu: "4", groups: "web", note: "" },
      "gone.example.com": { seen: "never", held: "0" },
      "new.example.com": { state: "unknown, drained", seen: "never", note: "drained by ann" },
    });
    expect(show("groups").cells).toMatchObject([{ group: "web", hosts: "2", live: "1" }]);
  });

  it("say what stops those that wait, and nothing of it at those that hold", () => {
    const drained = [
      ...KVS,
      createDrainKey("host", "B.example.com", { why: "kernel" }),
      createDrainKey("group", "web"),
      createTicketKey("lock next", "w", 20, { host: "gone.example.com" }),
    ];
    const byHost = "host B.example.com is drained by ann: kernel";
    expect(cellsBy("who", "queues", drained)).toMatchObject({
      "b.example.com:4711": { note: byHost },
      "g.example.com:4711": { note: "drained by bob: upgrade" },
      "gone.example.com:4711": { note: "group web is drained by ann" },
    });
    expect(cellsBy("who", "runs", drained)).toMatchObject({
      "b.example.com:4711": { note: byHost },
      "a.example.com:4711": { note: "" },
    });
    expect(cellsBy("host", "hosts", drained)).toMatchObject({
      "b.example.com": { note: "drained by ann: kernel" },
    });
  });

  it("keep a lock that is held in its state, and say that it is drained too", () => {
    const { cells, json } = show("locks", [
      createTicketKey("lock x", "a", 1, held),
      createDrainKey("lock", "x"),
    ]);
    expect(cells).toMatchObject([{ state: "held, drained" }]);
    expect(json).toMatchObject([{ state: "held", drains: [{ scope: "lock", name: "x", by: "ann" }] }]);
  });

  it("name hosts and runs in short, unless the name is no name of the DNS", () => {
    expect(["web1.example.com:31", "web1.example.com"].map(shortenOwner)).toEqual(["web1:31", "web1"]);
    for (const owner of ["web1:31", "10.0.0.1:31", "fe80::1:31", "malformed ticket x"])
      expect(shortenOwner(owner)).toBe(owner);
  });

  it("list resources in the order that operators gave them, with their notes", () => {
    const kvs = [
      createResourceKey("b", { total: "5", order: 1, note: "two for reports" }),
      createTicketKey("resource a", "a", 1, units(1, "held")),
      createTicketKey("resource b", "b", 2, units(5, "held")),
    ];
    expect(show("resources", kvs).cells).toMatchObject([
      { name: "b", units: "5/5", about: "two for reports" },
      { name: "a", units: "1/10", about: "" },
    ]);
  });

  it("remark drains that stand at no lock and no resource", () => {
    const remarks = (...kvs: KeyValue[]) =>
      VIEWS.overview.listRemarks?.(buildViewContext(createSnapshot(kvs), NOW)) ?? [];
    expect(remarks(createDrainKey("lock", "x"))).toEqual([]);
    expect(remarks(createDrainKey("all", "all"))).toEqual([
      "everything is drained by ann (signalbox ls drains)",
    ]);
    const ended = createDrainKey("host", "c", { until: NOW - 1 });
    expect(remarks(createDrainKey("host", "a"), createDrainKey("host", "b"), ended)).toEqual([
      "2 hosts or groups are drained (signalbox ls drains)",
    ]);
  });

  it("show drains, also those that have ended and stand", () => {
    expect(
      show("drains")
        .column("ends")
        .filter((text) => text?.endsWith("ago")),
    ).toHaveLength(1);
  });
});
