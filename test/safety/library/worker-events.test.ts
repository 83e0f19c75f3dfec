/** What a worker of the library tells, what runs around its handlers, and polls that wait. */
import { describe, expect } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import {
  ProcessStopError,
  type TaskMiddleware,
  Worker,
  type WorkerEvents,
  type WorkerOptions,
} from "../../../src/library/index.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const connectTo = (namespace = cluster.createNamespace()) => connectLibrary(namespace);

/** Waits for an event for which a predicate holds. */
function waitForEvent<K extends keyof WorkerEvents>(
  worker: Worker,
  kind: K,
  isWanted: (event: WorkerEvents[K]) => boolean = () => true,
): Promise<WorkerEvents[K]> {
  return new Promise((resolve) => {
    const remove = worker.on(kind, (event) => {
      if (!isWanted(event)) return;
      remove();
      resolve(event);
    });
  });
}

async function startWorker(options: WorkerOptions) {
  const one = await connectTo();
  const worker = new Worker(one, { ttl: "1m", terminationTimeout: 100, ...options });
  const joined = waitForEvent(worker, "joined");
  const running = worker.run();
  await joined;
  return { schedules: one.schedules, worker, running };
}

describe.concurrent("the events of a worker", () => {
  test("tell of its session, and of each task from its start to its end", async () => {
    const { schedules, worker, running } = await startWorker({
      handlers: {
        good: () => {},
        bad: () => {
          throw new Error("no paper");
        },
      },
    });
    const seen: string[] = [];
    worker.on("started", ({ id, attempt, late }) => seen.push(`started ${id} ${attempt} ${late >= 0}`));
    worker.on("ended", ({ id, result, reason, isDead }) =>
      seen.push(`ended ${id} ${result} ${reason} ${isDead}`),
    );
    for (const id of ["good", "bad"]) {
      const ended = waitForEvent(worker, "ended", (event) => event.id === id);
      await schedules.add(id, { cron: "@manual" });
      await schedules.trigger(id);
      const { run, scheduledTime } = await ended;
      expect([typeof run, scheduledTime.getTime() <= Date.now()]).toEqual(["string", true]);
    }
    expect(seen).toEqual([
      "started good 1 true",
      "ended good ok undefined false",
      "started bad 1 true",
      "ended bad failed Error: no paper true",
    ]);
    const left = waitForEvent(worker, "left");
    const id = worker.id;
    await worker.stop();
    await running;
    expect(await left).toEqual({ worker: id, reason: undefined });
  });

  test("tell of a retry and its time, of a type without a handler, and of the load", async () => {
    const { schedules, worker } = await startWorker({
      handlers: { again: (task) => task.retry("1h") },
      concurrency: 3,
    });
    const unknown = waitForEvent(worker, "unknown");
    const load = waitForEvent(worker, "load", ({ running }) => running === 1);
    const ended = waitForEvent(worker, "ended");
    for (const id of ["again", "strange.one"]) {
      await schedules.add(id, { cron: "@manual" });
      await schedules.trigger(id);
    }
    expect(await unknown).toEqual({ id: "strange.one", type: "strange" });
    expect(await load).toEqual({ running: 1, concurrency: 3 });
    const { result, nextTime, isDead } = await ended;
    expect({ result, isDead, isLater: (nextTime?.getTime() ?? 0) > Date.now() }).toEqual({
      result: "retry",
      isDead: false,
      isLater: true,
    });
  });

  test("tell of occurrences that are skipped", async () => {
    const { schedules, worker } = await startWorker({ handlers: { late: () => {} } });
    const skipped = waitForEvent(worker, "skipped");
    await schedules.add("late", { cron: "@yearly", start: "2019-01-01", deadline: "1h" });
    expect(await skipped).toMatchObject({ id: "late", type: "late", scheduledTime: new Date("2019-01-01") });
  });

  test("reach all listeners if one of them throws, and no listener that was removed", async () => {
    const { schedules, worker } = await startWorker({ handlers: { a: () => {} } });
    const seen: string[] = [];
    const remove = worker.on("started", () => seen.push("removed"));
    worker.on("started", () => {
      throw new Error("a listener");
    });
    worker.on("started", () => seen.push("kept"));
    remove();
    const ended = waitForEvent(worker, "ended");
    await schedules.add("a", { cron: "@manual" });
    await schedules.trigger("a");
    expect((await ended).result).toBe("ok");
    expect(seen).toEqual(["kept"]);
  });
});

describe.concurrent("the middleware of a worker", () => {
  test("runs around each handler, the first one outermost, and sees its errors", async () => {
    const seen: string[] = [];
    const trace =
      (name: string): TaskMiddleware =>
      async (task, next) => {
        seen.push(`${name} before ${task.id}`);
        try {
          await next();
        } catch (error) {
          seen.push(`${name} saw ${(error as Error).message}`);
          throw error;
        }
      };
    const { schedules, worker } = await startWorker({
      middleware: [trace("outer"), trace("inner")],
      handlers: {
        a: () => {
          throw new Error("broken");
        },
      },
    });
    const ended = waitForEvent(worker, "ended");
    await schedules.add("a", { cron: "@manual" });
    await schedules.trigger("a");
    expect(await ended).toMatchObject({ result: "failed", reason: "Error: broken" });
    expect(seen).toEqual(["outer before a", "inner before a", "inner saw broken", "outer saw broken"]);
  });

  test("may leave the handler out, and calls it once", async () => {
    const seen: string[] = [];
    const { schedules, worker } = await startWorker({
      middleware: [
        async (task, next) => {
          if (task.id === "no") return;
          await next();
          await next();
        },
      ],
      handlers: { "/./": ({ id }) => seen.push(id) },
    });
    const results: string[] = [];
    for (const id of ["no", "yes"]) {
      const ended = waitForEvent(worker, "ended", (event) => event.id === id);
      await schedules.add(id, { cron: "@manual" });
      await schedules.trigger(id);
      results.push((await ended).result);
    }
    expect({ seen, results }).toEqual({ seen: ["yes"], results: ["ok", "failed"] });
  });

  test("is refused if it is not a list of functions", async () => {
    const one = await connectTo();
    const options = { handlers: {}, middleware: [1] } as unknown as WorkerOptions;
    expect(() => new Worker(one, options)).toThrow("middleware: 1 is not a list of functions");
  });
});

test("a handler that throws a ProcessStopError gives its task back and stops the worker, after the other tasks", async () => {
  const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const starts: string[] = [];
  const { schedules, worker, running } = await startWorker({
    handlers: {
      long: async () => {
        started.resolve();
        await gate.promise;
      },
      stop: ({ id }) => {
        starts.push(id);
        throw new ProcessStopError("no more memory");
      },
    },
  });
  for (const id of ["long", "stop"]) await schedules.add(id, { cron: "@manual" });
  await schedules.trigger("long");
  await started.promise;
  const ended = waitForEvent(worker, "ended");
  await schedules.trigger("stop");
  expect(await ended).toMatchObject({
    id: "stop",
    result: "released",
    reason: "ProcessStopError: no more memory",
  });
  expect(worker.id).toBeDefined(); // its session lives for the other task
  gate.resolve();
  await running;
  expect(starts).toEqual(["stop"]);
  expect((await schedules.get("long")).last).toMatchObject({ result: "ok" });
  expect((await schedules.poll())?.id).toBe("stop");
});

test("disposal closes a worker, and gives its tasks back", async () => {
  const started = Promise.withResolvers<void>();
  const { schedules, worker, running } = await startWorker({
    handlers: {
      a: ({ signal }) => {
        started.resolve();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    },
  });
  await schedules.add("a", { cron: "@manual" });
  await schedules.trigger("a");
  await started.promise;
  await worker[Symbol.asyncDispose]();
  await running;
  expect((await schedules.get("a")).last).toMatchObject({ result: "released" });
});

describe.concurrent("a poll that waits", () => {
  test("returns a task as soon as another connection triggers it", async ({ namespace }) => {
    const [one, other] = [await connectTo(namespace), await connectTo(namespace)];
    await other.schedules.add("a", { cron: "@manual", data: { to: "you" } });
    expect(await one.schedules.poll()).toBeUndefined(); // the source is open
    const polling = one.schedules.poll<{ to: string }>({ wait: true });
    await other.schedules.trigger("a");
    const task = await polling;
    expect(task?.data.to).toBe("you");
    await task?.finish();
  });

  test("returns a task when its time comes", async () => {
    const { schedules } = await connectTo();
    await schedules.add("a", { cron: "@manual" });
    const at = Date.now() + 3_000;
    await schedules.add("b", { cron: `@at ${new Date(at).toISOString()}` });
    const task = await schedules.poll({ wait: "1m" });
    expect([task?.id, task?.scheduledTime]).toEqual(["b", new Date(at)]);
  });

  test("several at once get a task each", async () => {
    const { schedules } = await connectTo();
    const polls = [1, 2, 3].map(() => schedules.poll({ wait: true }));
    for (const id of ["a", "b", "c"]) {
      await schedules.add(id, { cron: "@manual" });
      await schedules.trigger(id);
    }
    expect((await Promise.all(polls)).map((task) => task?.id).sort()).toEqual(["a", "b", "c"]);
  });

  test("returns undefined when its time is over", async () => {
    const { schedules } = await connectTo();
    expect(await schedules.poll({ wait: 50 })).toBeUndefined();
    expect(await schedules.poll({ wait: false })).toBeUndefined();
  });

  test("rejects when its signal is aborted, and when the connection closes", async () => {
    const one = await connectTo();
    const source = await one.schedules.open();
    const reason = new Error("enough");
    const over = new AbortController();
    const first = source.poll({ wait: true, signal: over.signal });
    over.abort(reason);
    await expect(first).rejects.toBe(reason);
    const second = source.poll({ wait: true });
    const ended = second.catch((error: unknown) => error);
    await one.close();
    expect(await ended).toMatchObject({ code: "CLOSED" });
  });

  test("refuses wrong options", async () => {
    const { schedules } = await connectTo();
    await expect(schedules.poll({ wait: "soon" })).rejects.toThrow('wait: "soon" is not a duration');
    await expect(schedules.poll({ waits: 1 } as object)).rejects.toThrow('did you mean "wait"');
  });
});
