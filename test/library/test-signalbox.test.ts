/** Locks and schedules in memory, for the tests of programs. */
import { afterEach, describe, expect, test } from "vitest";
import {
  BusyError,
  ConfigError,
  openTestSignalbox,
  type RunDueOptions,
  type TestOptions,
  type TestSignalbox,
  UsageError,
  Worker,
  type WorkerTask,
} from "../../src/library/index.ts";

const now = "2026-03-01T00:00Z";
let open: TestSignalbox[] = [];
afterEach(async () => {
  await Promise.all(open.map((one) => one.close()));
  open = [];
});

function openBox(options: TestOptions = { now }) {
  const box = openTestSignalbox(options);
  open.push(box);
  return box;
}

const ignore = { handlers: { "/./": () => {} } };

describe("runDue", () => {
  test("runs what is due, and nothing else, with the handler of its type", async () => {
    const box = openBox();
    const seen: unknown[] = [];
    await box.schedules.add("mail.a", { cron: "0 7 * * *", data: { to: "you" } });
    await box.schedules.add("other", { cron: "@hourly" });
    const options: RunDueOptions<{ mail: { to: string } }> = {
      middleware: [
        async ({ id }, next) => {
          seen.push(`before ${id}`);
          await next();
        },
      ],
      handlers: { mail: ({ data, attempt }) => seen.push([data.to, attempt]) },
    };
    expect(await box.runDue(options)).toEqual([]);
    box.setTime("2026-03-01T07:00Z");
    expect(await box.runDue(options)).toEqual([
      {
        id: "mail.a",
        scheduledTime: new Date("2026-03-01T07:00Z"),
        attempt: 1,
        result: "ok",
        error: undefined,
      },
    ]);
    expect(seen).toEqual(["before mail.a", ["you", 1]]);
    expect(await box.runDue(options)).toEqual([]);
    expect((await box.schedules.get("mail.a")).last).toMatchObject({ result: "ok" });
  });

  test("runs failures again as the schedule says, and tells the error", async () => {
    const box = openBox();
    const error = new Error("no paper");
    const options = {
      handlers: {
        a: () => {
          throw error;
        },
      },
    };
    await box.schedules.add("a", { cron: "@manual", retries: 1, backoff: "10m" });
    await box.schedules.trigger("a");
    expect(await box.runDue(options)).toMatchObject([{ id: "a", attempt: 1, result: "failed", error }]);
    expect(await box.runDue(options)).toEqual([]);
    box.advance("1h");
    expect(await box.runDue(options)).toMatchObject([{ id: "a", attempt: 2, result: "failed" }]);
    box.advance("1d");
    expect(await box.runDue(options)).toEqual([]);
  });

  test("runs a task later that its handler puts off, and leaves a task that it releases", async () => {
    const box = openBox();
    await box.schedules.add("later", { cron: "@manual" });
    await box.schedules.add("back", { cron: "@manual" });
    for (const id of ["later", "back"]) await box.schedules.trigger(id);
    const first = await box.runDue({
      handlers: { later: (task) => task.retry("5m"), back: (task) => task.release() },
    });
    expect(first.map(({ id, result }) => `${id} ${result}`).sort()).toEqual(["back released", "later retry"]);
    expect((await box.runDue(ignore)).map(({ id }) => id)).toEqual(["back"]);
    box.advance("5m");
    expect(await box.runDue(ignore)).toMatchObject([{ id: "later", attempt: 2 }]);
  });

  test("counts every start of an occurrence, whatever the ones before asked for", async () => {
    const box = openBox();
    await box.schedules.add("a", { cron: "@manual", retries: 3, backoff: "1m" });
    await box.schedules.trigger("a");
    const ends = ["retry", "fail", "retry", "release", "finish"];
    const ran = [];
    for (const end of ends) {
      const handlers = {
        a: (task: WorkerTask) => {
          if (end === "retry") task.retry("1m");
          if (end === "release") task.release();
          if (end === "fail") throw new Error("no paper");
        },
      };
      ran.push(...(await box.runDue({ handlers })));
      box.advance("1h");
    }
    expect(ran.map(({ attempt, result }) => [attempt, result])).toEqual([
      [1, "retry"],
      [2, "failed"],
      [3, "retry"],
      [4, "released"], // given back: this one does not count
      [4, "ok"],
    ]);
  });

  test("runs nothing whose conditions this host does not fulfil", async () => {
    const box = openBox();
    const cron = "0 7 * * *";
    await box.schedules.add("never", { cron, if: ["CPU < 1"], deadline: "1h" });
    await box.schedules.add("always", { cron, if: ["CPU >= 1", "MEMMB > 0"] });
    box.setTime("2026-03-01T07:00Z");
    expect((await box.runDue(ignore)).map(({ id }) => id)).toEqual(["always"]);
    expect((await box.schedules.get("never")).nextTime).toEqual(new Date("2026-03-01T07:00Z"));
    box.advance("2h");
    expect(await box.runDue(ignore)).toEqual([]);
    expect((await box.schedules.get("never")).nextTime).toEqual(new Date("2026-03-02T07:00Z"));
    const wrong = box.schedules.add("wrong", { cron, if: ["lod < 1"] });
    await expect(wrong).rejects.toThrow(ConfigError);
    await expect(wrong).rejects.toThrow('"lod < 1": there is no macro "lod", at character 1');
  });

  test("gives up if there are too many tasks", async () => {
    const box = openBox();
    await box.schedules.add("a", { catchup: "all", cron: "* * * * *" });
    box.advance("10m");
    await expect(box.runDue({ ...ignore, most: 3 })).rejects.toThrow(UsageError);
  });
});

test("runUntil leaves nothing behind that each further run would wake", async () => {
  const box = openBox();
  await box.schedules.add("a", { cron: "* * * * *" });
  const countTimers = () => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
  await box.runUntil("2026-03-01T00:10Z", ignore);
  const before = countTimers();
  await box.runUntil("2026-03-01T02:10Z", ignore);
  expect(countTimers()).toBeLessThan(before + 10);
});

test("runUntil runs each occurrence at its time", async () => {
  const box = openBox();
  const times: string[] = [];
  const handlers = { "/./": ({ id }: { id: string }) => times.push(`${id} ${box.now.toISOString()}`) };
  await box.schedules.add("a", { cron: "0 0,12 * * *", start: "2026-03-01T01:00Z" });
  await box.schedules.add("b", { cron: "@at 2026-03-01T18:00Z", delay: "5m" });
  await box.schedules.add("paused", { cron: "@hourly" });
  await box.schedules.pause("paused");
  const ran = await box.runUntil("2026-03-02T06:00Z", { handlers });
  expect(ran.map(({ id }) => id)).toEqual(["a", "b", "a"]);
  expect(times).toEqual([
    "a 2026-03-01T12:00:00.000Z",
    "b 2026-03-01T18:05:00.000Z",
    "a 2026-03-02T00:00:00.000Z",
  ]);
  expect(box.now).toEqual(new Date("2026-03-02T06:00Z"));
});

test("locks and leases exclude each other as in etcd", async () => {
  const box = openBox();
  await box.withLock("a", async ({ token }) => {
    expect(BigInt(token)).toBeGreaterThan(0n);
    await expect(box.withLock("a", () => {})).rejects.toBeInstanceOf(BusyError);
  });
  const value = await box.withLeases(["db=2:2"], async () => {
    await expect(box.withLeases(["db=1:2"], { wait: false }, () => {})).rejects.toBeInstanceOf(BusyError);
    return 5;
  });
  expect(value).toBe(5);
  expect(await box.withLock("a", { wait: true }, ({ lock }) => lock)).toBe("a");
});

test("a worker runs tasks when the clock is set", async () => {
  const box = openBox();
  const worker = new Worker(box, { handlers: { a: () => {} } });
  const joined = new Promise((resolve) => worker.on("joined", resolve));
  const ended = new Promise((resolve) => worker.on("ended", resolve));
  const running = worker.run();
  await joined;
  await box.schedules.add("a", { cron: "0 7 * * *" });
  box.advance("7h");
  expect(await ended).toMatchObject({ id: "a", result: "ok", scheduledTime: new Date("2026-03-01T07:00Z") });
  await worker.stop();
  await running;
});

test("each object is alone, and says what is wrong with its options", async () => {
  const [one, other] = [openBox(), openBox({ now: new Date(5), macros: { CPUS: 2 } })];
  await one.schedules.add("a", { cron: "@daily" });
  expect(await other.schedules.list()).toEqual([]);
  expect(other.now).toEqual(new Date(5));
  expect(() => openTestSignalbox({ now: "soon" })).toThrow(ConfigError);
  expect(() => openTestSignalbox({ noww: 1 } as TestOptions)).toThrow("noww");
  expect(() => one.setTime(5)).toThrow("the clock cannot go back; got 1970-01-01");
  await expect(one.runDue({ handlers: { a: 1 } } as never)).rejects.toThrow('"a" is not a function');
});
