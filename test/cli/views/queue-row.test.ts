/** Rows of locks and resources, which several tables share, and durations drawn as bars. */
import { expect, test } from "vitest";
import {
  createDrainKey,
  createEndedRun,
  createHistoryKey,
  createResourceKey,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import {
  buildEmptyQueueRow,
  buildQueueRow,
  describeTrend,
  renderSparkline,
  renderTrendCell,
} from "../../../src/cli/views/queues.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { findNamedQueue, type NamedQueue } from "../../../src/site/state/snapshot.ts";
import { buildViewContext } from "../../../src/site/state/view-context.ts";

const tickets = [
  createTicketKey("lock x held", "a", 1, { grantedAt: NOW - 1_000 }),
  createTicketKey("lock x", "b", 2),
  createTicketKey("resource db held", "a", 3, { grantedAt: NOW - 1_000, count: 2, total: 10 }),
];
const snapshot = createSnapshot(tickets);
const findQueue = (kind: "lock" | "resource", name: string) =>
  findNamedQueue(snapshot, kind, name) as NamedQueue;
const buildRow = (queue: NamedQueue, more: readonly KeyValue[] = []) =>
  buildQueueRow(queue, buildViewContext(createSnapshot([...tickets, ...more]), NOW));

test("the row of a queue is built once, while nothing has changed that it depends on", () => {
  const [lock, resource] = [findQueue("lock", "x"), findQueue("resource", "db")];
  const rows = [buildRow(lock), buildRow(resource)];
  const others = [createDrainKey("lock", "other"), createResourceKey("other", { total: "3" })];
  expect(rows).toMatchObject([
    { state: "held", used: 1, total: 1, holders: [{}], waiters: [{}] },
    { state: "held", used: 2, total: 10, holders: [{}], waiters: [] },
  ]);
  expect(buildRow(lock, others)).toBe(rows[0]);
  expect(buildRow(resource, others)).toBe(rows[1]);
});

test.each([
  ["its drain", "lock", createDrainKey("lock", "x"), { drains: [{ name: "x" }] }],
  ["a drain of everything", "resource", createDrainKey("all", "all"), { drains: [{ scope: "all" }] }],
  ["the configured total", "resource", createResourceKey("db", { total: "4" }), { total: 4 }],
  ["its history", "lock", createHistoryKey("x", {}), { past: [{ exit: 0 }] }],
] as const)("the row of a queue follows %s", (_, kind, kv, expected) => {
  const queue = findQueue(kind, kind === "lock" ? "x" : "db");
  const before = buildRow(queue);
  expect(buildRow(queue, [kv])).toMatchObject(expected);
  expect(buildRow(queue)).toEqual(before);
});

test("the row of an empty queue has the last run of its history", () => {
  const context = buildViewContext(createSnapshot([createHistoryKey("y", {})]), NOW);
  expect(buildEmptyQueueRow("lock", "y", context)).toMatchObject({ state: "free", last: { exit: 0 } });
  expect(buildEmptyQueueRow("lock", "z", context)).toMatchObject({ state: "free", holders: [] });
});

const runs = (...held: number[]) => held.map((ms) => createEndedRun({ held: ms, waited: 0 }));

test.each([
  [[], "", ""],
  [[0, 0], "▁▁", "__"],
  [[5], "▇", "#"],
  [[0, 25, 50, 75, 100], "▁▂▃▅▇", "_.-=#"],
  [[-5, 10], "▁▇", "_#"],
])("%j is %s or %s", (durations, text, ascii) => {
  expect(renderSparkline(durations)).toBe(text);
  expect(renderSparkline(durations, true)).toBe(ascii);
});

test("a cell has the last twelve runs, the newest at the right", () => {
  expect(renderTrendCell(runs(100, 1), "held")).toBe("▁▇");
  expect(renderTrendCell(runs(...Array<number>(20).fill(7)), "held", true)).toBe("#".repeat(12));
  expect(renderTrendCell(undefined, "held")).toBe("");
});

test("a description has shortest, median and longest", () => {
  expect(describeTrend(runs(4_000, 2_000, 60_000), "held")).toBe("▇▁▁ min 2s, median 4s, max 1m of 3 runs");
  expect(describeTrend(runs(4_000, 2_000), "waited", true)).toBe("__ min 0s, median 0s, max 0s of 2 runs");
  expect(describeTrend(runs(1), "held")).toBeUndefined();
});
