/** History, dead letters, backfill and calendars of the library. */
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { ConfigError, NotFoundError, type Signalbox, UsageError } from "../../../src/library/index.ts";

const { test } = TestCluster.startForFile();
const HOUR = 3_600_000;

const pollTask = (one: Signalbox) => waitUntil("a task", () => one.schedules.poll());

describe.concurrent("schedules of the library", () => {
  test("have a history with times, results and errors", async ({ namespace }) => {
    const { schedules } = await connectLibrary(namespace);
    const start = Math.floor(Date.now() / HOUR - 2) * HOUR;
    await schedules.add("a", { catchup: "all", cron: "@hourly", start, keepResult: "1h" });
    await (await waitUntil("a task", () => schedules.poll())).finish({ rows: 7 });
    await (await waitUntil("a task", () => schedules.poll())).fail(new RangeError("too many"));
    const { runs, dead } = await schedules.history("a");
    expect(runs).toMatchObject([
      { result: "failed", reason: "RangeError: too many", tail: expect.stringContaining("\n    at ") },
      { result: "ok", value: { rows: 7 }, attempt: 1, host: expect.any(String) },
    ]);
    expect(runs[1]?.scheduledTime).toEqual(new Date(start));
    expect(runs[1]?.startedAt).toBeInstanceOf(Date);
    expect(dead.map(({ scheduledTime }) => scheduledTime)).toEqual([new Date(start + HOUR)]);
    await expect(schedules.history("b")).rejects.toThrow(NotFoundError);
  });

  test("run dead letters again, and bury them", async ({ namespace }) => {
    const { schedules } = await connectLibrary(namespace);
    const start = Math.floor(Date.now() / HOUR - 3) * HOUR;
    await schedules.add("a", { catchup: "all", cron: "@hourly", start });
    for (const _ of [1, 2, 3]) await (await waitUntil("a task", () => schedules.poll())).fail("no");
    await (await waitUntil("a task", () => schedules.poll())).finish();
    const listDead = async () =>
      (await schedules.history("a")).dead.map(({ scheduledTime }) => scheduledTime.getTime()).sort();
    expect(await listDead()).toEqual([0, 1, 2].map((n) => start + n * HOUR));
    await schedules.buryDead("a", [new Date(start)]);
    expect(await listDead()).toEqual([1, 2].map((n) => start + n * HOUR));
    await schedules.retryDead("a", [start + HOUR]);
    const again = await waitUntil("a task", () => schedules.poll());
    expect(again.scheduledTime.getTime()).toBe(start + HOUR);
    await again.finish();
    await expect(schedules.retryDead("a", [start])).rejects.toThrow(NotFoundError);
    await expect(schedules.buryDead("a", ["never"])).rejects.toThrow(ConfigError);
    await schedules.retryDead("a");
    await (await waitUntil("a task", () => schedules.poll())).finish();
    expect(await listDead()).toEqual([]);
  });

  test("backfill a past time, and cancel it", async ({ namespace }) => {
    const one = await connectLibrary(namespace);
    const { schedules } = one;
    await schedules.add("a", { cron: "@hourly" });
    const to = Math.floor(Date.now() / HOUR - 5) * HOUR;
    await schedules.backfill("a", { from: to - 3 * HOUR, to });
    const first = await pollTask(one);
    expect(first.scheduledTime.getTime()).toBe(to - 3 * HOUR);
    await expect(schedules.backfill("a", { from: to, to })).rejects.toThrow(UsageError);
    await first.finish();
    const second = await pollTask(one);
    expect(second.scheduledTime.getTime()).toBe(to - 2 * HOUR);
    await schedules.cancelBackfill("a");
    await second.finish();
    expect(await schedules.poll()).toBeUndefined();
    await expect(schedules.backfill("a", { from: to, to, parallel: 2 })).rejects.toThrow("overlap");
    await expect(schedules.backfill("a", { from: to, to, parallel: 0 })).rejects.toThrow(ConfigError);
    await expect(schedules.cancelBackfill("b")).rejects.toThrow(NotFoundError);
  });
});

test("calendars move the next occurrences of schedules, with an audit record", async ({ namespace }) => {
  const { schedules, calendars } = await connectLibrary(namespace);
  await calendars.set("holidays", { days: ["2099-01-02", "12-25", "Sat"], note: "ours" });
  expect(await calendars.get("holidays")).toEqual({ days: ["sat", "12-25", "2099-01-02"], note: "ours" });
  await schedules.add("a", { cron: "0 6 2 1 *", start: "2099-01-01", except: ["holidays"] });
  expect((await schedules.get("a")).nextTime?.toISOString()).toBe("2101-01-02T06:00:00.000Z"); // 2100-01-02 is a Saturday
  await calendars.set("holidays", { days: ["12-25"] });
  const moved = (await schedules.get("a")).nextTime?.toISOString();
  expect(moved).toMatch(/-01-02T06:00:00.000Z$/);
  expect(moved).not.toBe("2101-01-02T06:00:00.000Z");
  expect(await calendars.get("holidays")).toEqual({ days: ["12-25"] });
  const { store, keys } = namespace;
  const countAudits = async () => (await store.readRange(keys.audits())).count;
  const before = await countAudits();
  await calendars.set("holidays", { days: ["12-25"] }); // nothing changes
  expect(await countAudits()).toBe(before);
  await expect(calendars.delete("holidays")).rejects.toThrow("schedule a uses it");
  await schedules.delete("a");
  expect(await calendars.list()).toEqual(["holidays"]);
  await calendars.delete("holidays");
  expect(await calendars.list()).toEqual([]);
  await expect(calendars.get("holidays")).rejects.toThrow(NotFoundError);
  await expect(calendars.delete("holidays")).rejects.toThrow(NotFoundError);
  await expect(calendars.set("x", { days: ["32nd"] })).rejects.toThrow('"32nd" is not a day');
  await expect(calendars.set("x", { days: ["sat"], notes: "" } as never)).rejects.toThrow(ConfigError);
});
