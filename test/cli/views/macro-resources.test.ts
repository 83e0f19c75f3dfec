/** Resources with host macros in their names, such as FQDN_mem: their rows, their details, and the columns of hosts. */
import { describe, expect, it } from "vitest";
import {
  createHostKey,
  createResourceKey,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { createMacrosView } from "../../../src/cli/views/macros.ts";
import {
  buildEmptyQueueRow,
  buildQueueDetail,
  createTallyFinder,
  resourcesView,
} from "../../../src/cli/views/queues.ts";
import { buildEditAction } from "../../../src/console/parts/row-actions.ts";
import { substituteMacros } from "../../../src/core/fleet/arithmetic.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { findHostResource } from "../../../src/site/state/shares.ts";
import { buildViewContext } from "../../../src/site/state/view-context.ts";
import { listFacts, readSection } from "./rows.ts";

const [WEB, DB] = ["web1.example.com", "db1.example.com"];
const host = (fqdn: string, more: object) =>
  createHostKey(fqdn, { cpu: 2, macros: {}, seenAt: NOW, ...more });
const HOSTS = [host(WEB, { memMb: 24_105, macros: { DISKS: 3 } }), host(DB, { memMb: 4_096 })];
const MEM = createResourceKey("FQDN_mem", { total: "int(MEMMB/1024)", note: "GiB" });
const SITE = [
  ...HOSTS,
  MEM,
  createTicketKey(`resource ${WEB}_mem held`, "a", 1, { host: WEB, count: 4, total: 23 }),
  createTicketKey(`resource ${WEB}_mem`, "b", 2, {
    host: WEB,
    count: 20,
    total: 23,
    enqueuedAt: NOW - 90_000,
  }),
];

function buildRow(name: string, kvs: readonly KeyValue[] = SITE) {
  const snapshot = createSnapshot(kvs);
  return buildEmptyQueueRow("resource", name, buildViewContext(snapshot, NOW), createTallyFinder(snapshot));
}

describe("the row of a name with host macros", () => {
  it("sums its hosts", () => {
    expect(buildRow("FQDN_mem")).toMatchObject({
      state: "held",
      used: 4,
      total: 27,
      sum: { hosts: 2, waiting: 1, since: NOW - 90_000 },
    });
    const row = buildRow("FQDN_mem");
    expect(
      Object.fromEntries(resourcesView.columns.map(({ id, formatCell }) => [id, formatCell(row, NOW)])),
    ).toMatchObject({ units: "4/27", holder: "2 hosts", waiting: "1", longest: "1m30s" });
    expect(resourcesView.json.toJson(row)).toMatchObject({
      used: 4,
      total: 27,
      sum: { hosts: 2, waiting: 1 },
      holders: [],
    });
  });

  it("says nothing of totals that no host has, and is free while nobody holds or waits", () => {
    expect(buildRow("FQDN_mem", [host(WEB, {}), MEM])).toMatchObject({
      state: "free",
      used: 0,
      total: undefined,
    });
    expect(buildRow("FQDN_mem", [MEM]).sum).toBeUndefined();
  });

  it("waits where somebody waits and nobody holds", () => {
    const waiter = createTicketKey(`resource ${WEB}_mem`, "a", 1, { host: WEB, count: 4, total: 23 });
    expect(buildRow("FQDN_mem", [...HOSTS, MEM, waiter])).toMatchObject({ state: "waiting", used: 0 });
  });
});

const buildDetail = (name: string, kvs: readonly KeyValue[] = SITE) =>
  buildQueueDetail(createSnapshot(kvs), "resource", name, { wall: NOW, sessions: new Map() });

describe("the detail of a name with host macros", () => {
  it("has a table of its hosts, with the formula as it is computed there", () => {
    const detail = buildDetail("FQDN_mem");
    expect(detail.heading).toBe("resource FQDN_mem: held, 4 of 27 units held");
    expect(readSection(detail, "hosts")).toEqual([
      [DB, "2", "4096", "", "4 = int(4096/1024)", "0/4", "░░░░░░░░", "0", `${DB}_mem`],
      [WEB, "2", "24105", "DISKS=3", "23 = int(24105/1024)", "4/23", "█░░░░░░░", "1", `${WEB}_mem`],
    ]);
    expect(detail.sections).toContainEqual(
      expect.objectContaining({
        title: "hosts",
        targets: [
          expect.anything(),
          expect.objectContaining({ subject: { kind: "resource", name: `${WEB}_mem` } }),
        ],
      }),
    );
  });

  it("says which total is a host's own, and why one cannot be computed", () => {
    const own = createResourceKey(`${WEB}_mem`, { total: "30" });
    const disks = createResourceKey("FQDN_mem", { total: "DISKS*2" });
    const list = (kvs: readonly KeyValue[]) =>
      readSection(buildDetail("FQDN_mem", kvs), "hosts")?.map((row) => row[4]);
    expect(list([...SITE, own])).toEqual(["4 = int(4096/1024)", "30, of its own"]);
    expect(list([...HOSTS, disks])).toEqual([
      expect.stringContaining('there is no macro "DISKS"'),
      "6 = 3*2",
    ]);
  });
});

describe("the total of a resource of a host", () => {
  const getTotal = (...kvs: KeyValue[]) => listFacts(buildDetail(`${WEB}_mem`, kvs)).total;

  it("comes from the name with macros", () => {
    expect(getTotal(...SITE)).toBe("23 = int(24105/1024), from FQDN_mem");
    expect(getTotal(...HOSTS, createResourceKey("FQDN_mem", { total: "MEMMB" }))).toBe(
      "24105 = MEMMB, from FQDN_mem",
    );
    expect(getTotal(...HOSTS, createResourceKey("FQDN_mem", { total: "7" }))).toBe("7, from FQDN_mem");
    expect(buildDetail(`${DB}_mem`).heading).toBe(`resource ${DB}_mem: free, 0 of 4 units held`);
  });

  it("is its own where it has one", () => {
    expect(getTotal(...SITE, createResourceKey(`${WEB}_mem`, { total: "30" }))).toBe("30, configured");
  });

  it("is offered when it is edited", () => {
    const edit = (...kvs: KeyValue[]) =>
      buildEditAction({ kind: "resource", name: `${WEB}_mem` }, createSnapshot(kvs));
    expect(edit(...SITE)).toMatchObject({ args: [`${WEB}_mem`, "int(MEMMB/1024)"], flags: {}, fixed: 1 });
    expect(edit(...SITE, createResourceKey(`${WEB}_mem`, { total: "30" }))).toMatchObject({
      args: [`${WEB}_mem`, "30"],
    });
  });
});

describe("the view of macros", () => {
  const listCells = (kvs: readonly KeyValue[]) => {
    const snapshot = createSnapshot(kvs);
    const view = createMacrosView(snapshot);
    const rows = view.buildRows(snapshot, buildViewContext(snapshot, NOW));
    const columns = view.columns.filter(({ id }) => !["cpu", "memory"].includes(id));
    return [
      columns.map(({ title }) => title),
      ...rows.map((row) => columns.map(({ formatCell }) => formatCell(row, NOW))),
    ];
  };

  it("has a column for each name with host macros in the configured order, then for other resources of hosts", () => {
    const cpu = createResourceKey("FQDN_cpu", { total: "CPU", order: 1 });
    const disk = createTicketKey(`resource ${DB}_disk held`, "c", 3, { host: DB, count: 1, total: 2 });
    expect(listCells([...SITE, cpu, disk, createResourceKey("db", { total: "3" })])).toEqual([
      ["HOST", "FQDN_cpu", "FQDN_mem", "disk", "MACROS", "NOTE"],
      [WEB, "0/2", "4/23", "", "DISKS=3", ""],
      [DB, "0/2", "0/4", "1/2", "", ""],
    ]);
  });

  it("uses what a ticket states where the record of the host gives no total, as the rows of resources do", () => {
    const cores = createResourceKey("FQDN_cpu", { total: "CORES" });
    const held = createTicketKey(`resource ${WEB}_cpu held`, "a", 9, { host: WEB, count: 3, total: 4 });
    const row = listCells([...HOSTS, cores, held])[1];
    expect(row).toEqual([WEB, "! 3/4", "DISKS=3", expect.stringContaining('there is no macro "CORES"')]);
    expect(row?.[3]).toMatch(/^two processes of this host have different macros: the last ticket states 4, /);
    expect(buildDetail(`${WEB}_cpu`, [...HOSTS, cores, held]).heading).toContain("3 of 4 units held");
    expect(buildRow("FQDN_cpu", [...HOSTS, cores, held])).toMatchObject({ used: 3, total: 4 });
    const earlier = createTicketKey(`resource ${WEB}_mem held`, "a", 0, { host: WEB, count: 3, total: 4 });
    expect(listCells([...HOSTS, MEM, earlier])[1]).toEqual([WEB, "3/23", "DISKS=3", ""]); // of an earlier configuration
  });
});

it("values replace macros in a formula, and nothing else", () => {
  const lookup = (name: string) => ({ CPU: 4, MEMMB: 8_000 })[name];
  expect(substituteMacros("max(1, CPU) + int(MEMMB/1024) + CPU_X", lookup)).toBe(
    "max(1, 4) + int(8000/1024) + CPU_X",
  );
  expect(findHostResource(createSnapshot(SITE), "db")).toBeUndefined();
});
