import { expect, test } from "vitest";
import { createWorkerKey } from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createGroupKey,
  createHostKey,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { buildHostRows } from "../../../src/cli/views/hosts.ts";
import { ShownTable } from "../../../src/console/data/console-table.ts";
import { TabCounter } from "../../../src/console/data/tab-counter.ts";
import { toMonotonicTime } from "../../../src/core/base/clock.ts";
import { buildViewContext } from "../../../src/site/state/view-context.ts";

const ALL = { filter: "", order: undefined };
const createPicture = (locks: number) =>
  createSnapshot(Array.from({ length: locks }, (_, at) => createTicketKey(`lock x${at} held`, "a", at + 1)));

test.each([
  ["a small table keeps", 10, 10],
  ["a large table forgets", 5_001, 0],
])("%s its rows while another tab is shown", (_, locks, kept) => {
  const tables = new ShownTable();
  const table = tables.show("locks");
  table.update(createPicture(locks), NOW, ALL);
  expect(table.length).toBe(locks);
  expect(tables.show("locks")).toBe(table);
  expect(table.length).toBe(locks);
  tables.show("hosts");
  expect(table.length).toBe(kept);
  tables.show("locks").update(createPicture(locks), NOW, ALL);
  expect(table.length).toBe(locks);
});

test("a small table of a large snapshot forgets its rows too: they keep the snapshot", () => {
  const tables = new ShownTable();
  const table = tables.show("resources");
  table.update(createSnapshot([createTicketKey("resource db held", "a", 1)]), NOW, ALL);
  expect(table.isLarge).toBe(false);
  table.update(createPicture(5_001), NOW, ALL);
  expect([table.length, table.isLarge]).toEqual([0, true]);
});

test("the tab of hosts counts its rows", () => {
  const snapshot = createSnapshot([
    createHostKey("web1.example.com", {}),
    createGroupKey("web", "web1.example.com", "WEB2.example.com", "others"),
    createGroupKey("others", "web3.example.com"),
    createWorkerKey("w1", { host: "web4.example.com" }),
    createWorkerKey("w2", { host: "web1.example.com" }),
  ]);
  expect(buildHostRows(snapshot, buildViewContext(snapshot, NOW))).toHaveLength(4);
  expect(new TabCounter(() => toMonotonicTime(0)).countTabs(snapshot, NOW).hosts).toBe(4);
});

test("a panel has tables of its own, and forgets a large one when another panel is shown", () => {
  const [tab, panel] = [new ShownTable(), new ShownTable()];
  const table = panel.show("problems");
  table.update(createPicture(5_001), NOW, ALL);
  expect(tab.show("problems")).not.toBe(table);
  expect(table.isLarge).toBe(true);
  panel.hide();
  expect(table.length).toBe(0);
  expect(panel.show("problems")).toBe(table);
});
