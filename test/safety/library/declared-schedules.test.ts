/** Schedules that a program declares: `set`, `addMany` and `sync`. */
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { ScheduleFields, SyncOptions } from "../../../src/library/index.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const openSchedules = async (namespace = cluster.createNamespace()) =>
  (await connectLibrary(namespace)).schedules;

describe.concurrent("set", () => {
  test("adds a schedule, then replaces its fields and keeps its state, pause and next occurrence", async () => {
    const schedules = await openSchedules();
    const start = "2030-01-01T00:00Z";
    const added = await schedules.set("a", { cron: "@daily", note: "one", retries: 2, start });
    expect(added).toMatchObject({ nextTime: new Date(start), definition: { note: "one", retries: 2 } });
    await schedules.pause("a", { reason: "moving" });
    const changed = await schedules.set("a", { cron: "@daily", note: "two", start: "2040-01-01" });
    expect(changed).toMatchObject({ nextTime: new Date(start), isPaused: true });
    expect(changed.definition).toEqual({
      cron: "@daily",
      timezone: "UTC",
      note: "two",
      pause: expect.objectContaining({ why: "moving" }),
    });
    const moved = await schedules.set("a", { cron: "30 5 * * *" });
    expect(moved.nextTime?.toISOString()).toMatch(/T05:30:00\.000Z$/);
  });

  test("writes nothing if nothing changes", async ({ namespace }) => {
    const schedules = await openSchedules(namespace);
    const fields = { cron: "@daily", data: { to: ["a"] } };
    await schedules.set("a", fields);
    const before = await namespace.listKeys();
    await schedules.set("a", structuredClone(fields));
    expect(await namespace.listKeys()).toEqual(before);
  });

  test("of many processes at once adds one schedule", async ({ namespace }) => {
    const all = await Promise.all(Array.from({ length: 5 }, () => openSchedules(namespace)));
    await Promise.all(all.map((schedules) => schedules.set("a", { cron: "@daily" })));
    expect((await all[0]?.list())?.map(({ id }) => id)).toEqual(["a"]);
  });

  test("refuses what add refuses", async () => {
    const schedules = await openSchedules();
    await expect(schedules.set("a", { cron: "61 * * * *" })).rejects.toMatchObject({ code: "CRON" });
    await expect(schedules.set("", { cron: "@daily" })).rejects.toMatchObject({ code: "USAGE" });
    const past = { cron: "@at 2020-01-01T00:00Z" };
    const message = 'schedule "a" would never fire: 2020-01-01T00:00:00.000Z has passed';
    await expect(schedules.add("a", past)).rejects.toThrow(message);
    await expect(schedules.set("a", past)).rejects.toThrow(message);
    await schedules.set("b", { cron: "@daily" });
    await expect(schedules.set("b", past)).rejects.toThrow("would never fire");
    await schedules.set("b", { cron: "@daily", end: 1 }); // ends it
    const typo = schedules.set("a", { cron: "@daily", notes: "x" } as ScheduleFields);
    await expect(typo).rejects.toThrow('unknown option "notes" of set; did you mean "note"?');
  });
});

describe.concurrent("addMany", () => {
  test("adds all in one transaction, with their first times, and returns them in order", async ({
    namespace,
  }) => {
    const schedules = await openSchedules(namespace);
    const start = "2030-01-01T00:00Z";
    const ids = Array.from({ length: 1_000 }, (_, at) => `s${999 - at}`);
    const added = await schedules.addMany(
      Object.fromEntries(ids.map((id) => [id, { cron: "@daily", start }])),
    );
    expect(added.map(({ id }) => id)).toEqual(ids);
    expect(added.every(({ nextTime }) => nextTime?.getTime() === Date.parse(start))).toBe(true);
    expect(await schedules.list()).toEqual(added.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    expect((await namespace.listKeys()).filter(({ key }) => key.includes("audit/"))).toHaveLength(1);
  });

  test("adds none if some exist or are wrong, and names these", async () => {
    const schedules = await openSchedules();
    await schedules.add("b", { cron: "@daily" });
    const fields = { cron: "@daily" };
    const taken = schedules.addMany({ a: fields, b: fields, "a/b": fields });
    await expect(taken).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    const wrong = schedules.addMany({
      a: fields,
      c: { cron: "61 * * * *" },
      d: { cron: "@daily", notes: "x" } as ScheduleFields,
    });
    await expect(wrong).rejects.toMatchObject({ code: "CRON" });
    await expect(wrong).rejects.toThrow(/^schedule "c": cron text .*; schedule "d": unknown option "notes"/);
    await expect(schedules.addMany({ a: fields, e: { cron: "@daily", end: 1 } })).rejects.toThrow(
      /^schedule "e" would never fire/,
    );
    await expect(schedules.addMany([] as never)).rejects.toThrow("addMany: the schedules must be an object");
    expect((await schedules.list()).map(({ id }) => id)).toEqual(["b"]);
    expect(await schedules.addMany({})).toEqual([]);
  });

  test("of two programs at once adds each schedule once", async ({ namespace }) => {
    const all = await Promise.all([openSchedules(namespace), openSchedules(namespace)]);
    const ids = Array.from({ length: 200 }, (_, at) => `s${at}`);
    const fields = Object.fromEntries(ids.map((id) => [id, { cron: "@daily" }]));
    const calls = await Promise.allSettled(all.map((schedules) => schedules.addMany(fields)));
    expect(calls.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await all[0]?.list()).toHaveLength(200);
  });

  test("a poll of the same connection sees the schedules", async () => {
    const schedules = await openSchedules();
    expect(await schedules.poll()).toBeUndefined();
    const { id } = (await schedules.addMany({ late: { cron: "@at 2020-01-01T00:00Z", start: 0 } }))[0] ?? {};
    expect((await schedules.poll())?.id).toBe(id);
  });
});

describe.concurrent("sync", () => {
  test("adds, changes and deletes the schedules of its source, and no others", async () => {
    const schedules = await openSchedules();
    await schedules.add("other", { cron: "@daily" });
    await schedules.sync({ theirs: { cron: "@daily" } }, { source: "mail" });
    const source = "web";
    const first = await schedules.sync({ a: { cron: "@daily" }, b: { cron: "@daily" } }, { source });
    expect(first).toEqual({ added: ["a", "b"], changed: [], deleted: [] });
    await schedules.pause("b");
    const second = await schedules.sync({ b: { cron: "@hourly" }, c: { cron: "@daily" } }, { source });
    expect(second).toEqual({ added: ["c"], changed: ["b"], deleted: ["a"] });
    expect((await schedules.list()).map(({ id }) => id)).toEqual(["b", "c", "other", "theirs"]);
    expect(await schedules.get("b")).toMatchObject({ cron: "@hourly", isPaused: true });
    const same = await schedules.sync({ b: { cron: "@hourly" }, c: { cron: "@daily" } }, { source });
    expect(same).toEqual({ added: [], changed: [], deleted: [] });
  });

  test("deletes nothing without prune", async () => {
    const schedules = await openSchedules();
    await schedules.sync({ a: { cron: "@daily" } }, { source: "web" });
    const result = await schedules.sync({ b: { cron: "@daily" } }, { source: "web", prune: false });
    expect(result).toEqual({ added: ["b"], changed: [], deleted: [] });
    expect(await schedules.list()).toHaveLength(2);
  });

  test("changes nothing if an id belongs to somebody else, or a field is wrong", async () => {
    const schedules = await openSchedules();
    await schedules.add("b", { cron: "@daily" });
    const taken = schedules.sync({ a: { cron: "@daily" }, b: { cron: "@daily" } }, { source: "web" });
    await expect(taken).rejects.toThrow(/schedule "b" exists already.*nothing was changed\. Use another id/);
    const wrong = schedules.sync({ a: { cron: "@daily" }, c: { cron: "x" } }, { source: "web" });
    await expect(wrong).rejects.toMatchObject({ code: "CRON" });
    expect((await schedules.list()).map(({ id }) => id)).toEqual(["b"]);
  });

  test("start and at decide the first run of what is added", async () => {
    const schedules = await openSchedules();
    const [at, start] = ["2035-01-01T00:00Z", "2030-01-01T00:00Z"];
    const past = { cron: "@at 2020-01-01T00:00Z", removeAfter: "success" } as const;
    const declare = (start: string) =>
      schedules.sync({ a: { cron: "@daily", start, at }, gone: past }, { source: "web" });
    expect(await declare(start)).toMatchObject({ added: ["a"] });
    expect(await declare("2040-01-01")).toEqual({ added: [], changed: [], deleted: [] });
    expect(await schedules.get("a")).toMatchObject({
      nextTime: new Date(start),
      nextRunTime: new Date(at),
    });
    await schedules.sync({ late: { ...past, start: 0 } }, { source: "late" });
    expect((await schedules.poll())?.id).toBe("late");
  });

  test("a poll of the same connection sees the schedules", async () => {
    const schedules = await openSchedules();
    expect(await schedules.poll()).toBeUndefined();
    await schedules.sync({ a: { cron: "@at 2090-01-01T00:00Z" }, b: { cron: "@manual" } }, { source: "web" });
    await schedules.trigger("b");
    expect((await schedules.poll())?.id).toBe("b");
  });

  test.each([
    ["a list", [], { source: "a" }, "sync: the schedules must be an object"],
    ["no source", {}, {}, 'sync needs the option "source"'],
    ["an empty source", {}, { source: "" }, 'source: "" is empty'],
    [
      "a wrong start",
      { a: { cron: "@daily", start: "soon" } },
      { source: "a" },
      'start: "soon" is not an instant',
    ],
    [
      "what would never fire",
      { a: { cron: "@at 2020-01-01T00:00Z" } },
      { source: "a" },
      /schedule "a" would never fire: 2020-01-01T00:00:00.000Z has passed/,
    ],
  ])("refuses %s", async (_, declared, options, message) => {
    const schedules = await openSchedules();
    const call = schedules.sync(declared as Record<string, ScheduleFields>, options as SyncOptions);
    await expect(call).rejects.toThrow(message);
  });
});
