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
import { Tables } from "../../../src/console/data/console-table.ts";
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
  const tables = new Tables();
  const table = tables.getTabTable("locks");
  table.update(createPicture(locks), NOW, ALL);
  expect(table.length).toBe(locks);
  expect(tables.getTabTable("locks")).toBe(table);
  expect(table.length).toBe(locks);
  tables.getTabTable("hosts");
  expect(table.length).toBe(kept);
  tables.getTabTable("locks").update(createPicture(locks), NOW, ALL);
  expect(table.length).toBe(locks);
});

test("a small table of a large snapshot forgets its rows too: they keep the snapshot", () => {
  const tables = new Tables();
  const table = tables.getTabTable("resources");
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
  const rows = buildHostRows(snapshot, buildViewContext(snapshot, NOW));
  expect(rows).toHaveLength(4);
  expect(new TabCounter(() => toMonotonicTime(0)).countTabs(snapshot, NOW).hosts).toBe(4);
});

test("a panel has tables of its own, and forgets a large one when another panel is shown", () => {
  const tables = new Tables();
  const panel = tables.findPanelTable("problems");
  panel?.update(createPicture(5_001), NOW, ALL);
  expect(panel).not.toBe(tables.getTabTable("problems"));
  expect(panel?.isLarge).toBe(true);
  expect(tables.findPanelTable("events")).toBeUndefined();
  expect(tables.findPanelTable("problems")).toBe(panel);
});
