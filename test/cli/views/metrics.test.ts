import prom from "prom-client";
import { describe, expect, test } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createLastOccurrence,
  createRunningKey,
  createScheduleKeys,
  createWorkerKey,
} from "../../../fixtures/schedule/schedule-keys.ts";
import {
  createDrainKey,
  createHistoryKey,
  createKeyValue,
  createSnapshot,
  createTicketKey,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { type MetricFamily, measureSnapshot, renderFamilies } from "../../../src/cli/views/metrics.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";

/** Measures a cluster. @returns the lines without the common beginning of the names */
const measureLines = async (kvs: readonly KeyValue[]) =>
  (await renderFamilies(prom, measureSnapshot(createSnapshot(kvs), NOW)))
    .replace(/^signalbox_/gm, "")
    .split("\n");
const expectLines = (lines: string[], ...expected: string[]) =>
  expect(lines).toEqual(expect.arrayContaining(expected));

test("holders, waiters and how long they have, of locks and of resources", async () => {
  const lines = await measureLines([
    createTicketKey("lock x held", "a", 1, { grantedAt: NOW - 90_000 }),
    createTicketKey("lock x", "b", 2, { enqueuedAt: NOW - 60_000 }),
    createTicketKey("lock x", "c", 3, { enqueuedAt: NOW - 5_000 }),
    createTicketKey("lock y held", "d", 4, { grantedAt: NOW + 9_000 }),
    createTicketKey("resource db held", "e", 5, { count: 2, total: 3, grantedAt: NOW - 1_500 }),
    createTicketKey("resource db", "f", 6, { count: 2, total: 3, enqueuedAt: NOW - 1_000 }),
    createDrainKey("lock", "x"),
    createDrainKey("host", "old", { until: NOW - 1 }),
    createKeyValue(keys.lock("x", "bad"), "no ticket", 9),
  ]);
  expectLines(
    lines,
    "etcd_revision 100",
    'queues{kind="lock"} 2',
    'queues{kind="resource"} 1',
    'waited_queues{kind="lock"} 1',
    'holders{kind="resource"} 1',
    'oldest_wait_seconds{kind="lock"} 60',
    'oldest_hold_seconds{kind="lock"} 90',
    'oldest_hold_seconds{kind="resource"} 1.5',
    'lock_oldest_wait_seconds{lock="x"} 60',
    "locks_left_out 0",
    'resource_units{resource="db"} 3',
    'resource_used_units{resource="db"} 2',
    'resource_waiters{resource="db"} 1',
    'drains{scope="lock"} 1',
    'drains{scope="host"} 0',
  );
  expect(lines.filter((line) => line.startsWith('problems{level="failure",kind="malformed"}'))).toHaveLength(
    1,
  );
  expect(lines.some((line) => line.includes('lock_waiters{lock="y"}'))).toBe(false);
});

test("an empty cluster has zeros, and no metric is missing", async () => {
  const lines = await measureLines([]);
  expectLines(
    lines,
    'holders{kind="lock"} 0',
    'oldest_wait_seconds{kind="lock"} 0',
    'schedules{state="late"} 0',
  );
  expect(lines.some((line) => line.startsWith("problems"))).toBe(false);
});

test("schedules by state, the latest of them, and workers", async () => {
  const lines = await measureLines([
    ...createScheduleKeys("waits", {}, {}),
    ...createScheduleKeys("late", {}, { next: NOW - 90_000, runAt: NOW - 90_000 }),
    ...createScheduleKeys("later", {}, { next: NOW - 120_500, runAt: NOW - 120_500 }),
    ...createScheduleKeys(
      "paused",
      { pause: { by: "op", at: 1 } },
      { next: NOW - 900_000, runAt: NOW - 900_000 },
    ),
    ...createScheduleKeys("runs", {}, {}),
    createRunningKey("runs"),
    createKeyValue(keys.schedule("bad"), "{"),
    createWorkerKey("w1"),
    createWorkerKey("w2", { clock: "refuses", isLeaving: true }),
    createKeyValue(keys.worker("w3"), "?"),
  ]);
  expectLines(
    lines,
    'schedules{state="waiting"} 1',
    'schedules{state="late"} 2',
    'schedules{state="paused"} 1',
    'schedules{state="running"} 1',
    'schedules{state="malformed"} 1',
    "schedule_lateness_seconds 120.5",
    "tasks_running 1",
    'workers{clock="ok"} 1',
    'workers{clock="refuses"} 1',
    'workers{clock="malformed"} 1',
    "workers_leaving 1",
    "worker_slots 4",
  );
});

test("when schedules last succeeded and ended, of those that ended last", async () => {
  const many = Array.from({ length: 1_001 }, (_, at) =>
    createScheduleKeys(
      `s${at}`,
      {},
      { last: createLastOccurrence({ endedAt: NOW - at * 1_000, result: "ok" }) },
    ),
  );
  const lines = await measureLines([
    ...many.flat(),
    ...createScheduleKeys(
      "bad",
      {},
      { last: createLastOccurrence({ endedAt: NOW + 1 }), succeededAt: 5_000 },
    ),
    ...createScheduleKeys("never", {}, { last: createLastOccurrence({ endedAt: NOW + 2 }) }),
    ...createScheduleKeys("new", {}, {}),
  ]);
  const find = (text: string) => lines.filter((line) => line.startsWith(`schedule${text}`));
  expect(find("_last_success_timestamp_seconds{")).toHaveLength(999);
  expect(find("_last_end_timestamp_seconds{")).toHaveLength(1_000);
  expect(find('_last_success_timestamp_seconds{schedule="bad"}')[0]).toMatch(/ 5$/);
  expect(find('_last_success_timestamp_seconds{schedule="never"}')).toEqual([]);
  expect(find("s_left_out")).toEqual(["schedules_left_out 3"]);
});

test("of many locks with waiters those have series that are waited for longest, and the rest is counted", async () => {
  const kvs = Array.from({ length: 130 }, (_, at) =>
    createTicketKey(`lock ${at}`, "a", at + 1, { enqueuedAt: NOW - at * 1_000 }),
  );
  const lines = await measureLines(kvs);
  expect(lines).toContain("locks_left_out 30");
  expect(lines.filter((line) => line.startsWith("lock_waiters{"))).toHaveLength(100);
  expect(lines).toContain('lock_oldest_wait_seconds{lock="129"} 129');
  expect(lines.some((line) => line.includes('{lock="29"}'))).toBe(false);
});

test("names are labels, however they are written, and no two series are the same", async () => {
  const families: MetricFamily[] = [
    {
      name: "x",
      help: "Something.",
      samples: [
        [{ lock: 'a"b\\c\n\x1b[31md' }, 1],
        [{ lock: 'a"b\\c d' }, 2],
        [{ lock: "ü", kind: "" }, Number.POSITIVE_INFINITY],
      ],
    },
    { name: "none", help: "Nothing.", samples: [] },
  ];
  expect(await renderFamilies(prom, families)).toBe(
    [
      "# HELP signalbox_x Something.",
      "# TYPE signalbox_x gauge",
      'signalbox_x{lock="a\\"b\\\\c d"} 2',
      'signalbox_x{lock="ü",kind=""} +Inf',
      "",
    ].join("\n"),
  );
});

describe("histories", () => {
  test("the last end, its code and duration, and the last success of each lock", async () => {
    const lines = await measureLines([
      createHistoryKey("good", { endedAt: NOW - 2_000, held: 1_500 }),
      createHistoryKey("worse", { endedAt: NOW - 1_000, exit: 3 }, { endedAt: NOW - 9_000 }),
      createHistoryKey("bad", { endedAt: NOW - 500, exit: 4 }),
    ]);
    expectLines(
      lines,
      `lock_last_success_timestamp_seconds{lock="good"} ${(NOW - 2_000) / 1_000}`,
      `lock_last_success_timestamp_seconds{lock="worse"} ${(NOW - 9_000) / 1_000}`,
      `lock_last_end_timestamp_seconds{lock="worse"} ${(NOW - 1_000) / 1_000}`,
      'lock_last_exit_code{lock="worse"} 3',
      'lock_last_exit_code{lock="good"} 0',
      'lock_last_duration_seconds{lock="good"} 1.5',
      "lock_histories_left_out 0",
    );
    expect(lines.some((line) => line.includes('last_success_timestamp_seconds{lock="bad"}'))).toBe(false);
  });

  test("of many locks those have series that ran last", async () => {
    const kvs = Array.from({ length: 1_010 }, (_, at) => createHistoryKey(`l${at}`, { endedAt: NOW - at }));
    const lines = await measureLines(kvs);
    expect(lines).toContain("lock_histories_left_out 10");
    expect(lines).toContain('lock_last_exit_code{lock="l999"} 0');
    expect(lines).not.toContain('lock_last_exit_code{lock="l1000"} 0');
  });
});
