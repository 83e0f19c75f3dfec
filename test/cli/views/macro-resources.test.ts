/** Resources with host macros in their names, such as FQDN_mem: their rows, their details, and the columns of hosts. */
import { describe, expect, it } from "vitest";
import {
  createHostKey,
  createResourceKey,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { createHostMacroView } from "../../../src/cli/views/hosts.ts";
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
const SITE: KeyValue[] = [
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

it("hosts have a column for each name with host macros, in the configured order", () => {
  const cpu = createResourceKey("FQDN_cpu", { total: "CPU", order: 1 });
  const snapshot = createSnapshot([...SITE, cpu, createResourceKey("db", { total: "3" })]);
  const view = createHostMacroView(snapshot);
  const macros = view.columns.filter(({ id }) => id.startsWith("FQDN"));
  expect(macros.map(({ id }) => id)).toEqual(["FQDN_cpu", "FQDN_mem"]);
  const rows = view.buildRows(snapshot, buildViewContext(snapshot, NOW));
  const cells = rows.map((row) => [row.fqdn, ...macros.map(({ formatCell }) => formatCell(row, NOW))]);
  expect(cells).toEqual([
    [WEB, "0/2", "4/23"],
    [DB, "0/2", "0/4"],
  ]);
  expect(macros[1]?.getShare?.(rows[0] as never)).toMatchObject({ used: 4, total: 23 });
});

it("values replace macros in a formula, and nothing else", () => {
  const lookup = (name: string) => ({ CPU: 4, MEMMB: 8_000 })[name];
  expect(substituteMacros("max(1, CPU) + int(MEMMB/1024) + CPU_X", lookup)).toBe(
    "max(1, 4) + int(8000/1024) + CPU_X",
  );
  expect(findHostResource(createSnapshot(SITE), "db")).toBeUndefined();
});
