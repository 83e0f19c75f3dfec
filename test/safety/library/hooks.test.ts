/** Whoever runs a task calls the hooks of its schedule: a worker of a program, a source of tasks, and `signalbox worker`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { type ConnectOptions, openTestSignalbox, Worker } from "../../../src/library/index.ts";
import { HOOK_NAMES } from "../../../src/schedule/definition-values.ts";

const { test } = TestCluster.startForFile();

/** A call of a hook. */
interface HookCall {
  event: string;
  schedule: string;
  result?: string;
  host: string;
}

/** Starts a web server that hooks call. @param onEnd  of the test @returns their addresses, and the calls so far */
async function startReceiver(onEnd: (close: () => void) => void) {
  const calls: HookCall[] = [];
  const server = http.createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      calls.push(JSON.parse(text));
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const hooks = Object.fromEntries(HOOK_NAMES.map((name) => [name, url]));
  const listEvents = (id: string) =>
    calls.filter(({ schedule }) => schedule === id).map(({ event }) => event);
  const waitForEvents = async (id: string, ...events: string[]) => {
    await waitUntil(`${id} has ${events}`, () => listEvents(id).length >= events.length);
    expect(listEvents(id)).toEqual(events);
  };
  return { url, hooks, calls, waitForEvents };
}

async function startWorker(namespace: TestNamespace, options: ConnectOptions = {}) {
  const signalbox = await connectLibrary(namespace, options);
  let failures = 1;
  const worker = new Worker(signalbox, {
    handlers: {
      good: () => {},
      flaky: () => {
        failures -= 1;
        if (failures >= 0) throw new Error("no paper");
      },
      slow: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    },
  });
  const joined = new Promise<void>((resolve) => worker.on("joined", () => resolve()));
  void worker.run().catch(() => {});
  await joined;
  return { ...signalbox, schedules: signalbox.schedules, jobs: signalbox.jobs, worker };
}

describe.concurrent("a worker of a program calls the hooks", () => {
  test("of starts, failures, the first one, dead letters, recoveries and successes, before it ends", async ({
    namespace,
  }) => {
    const { hooks, waitForEvents, calls } = await startReceiver((close) => namespace.onClose(close));
    const { schedules, worker } = await startWorker(namespace);
    await schedules.add("flaky", { cron: "@manual", hooks });
    await schedules.trigger("flaky");
    await waitForEvents("flaky", "start", "failure", "failed-first", "dead");
    await schedules.trigger("flaky");
    await waitUntil(
      "the second run has ended",
      async () => (await schedules.get("flaky")).last?.result === "ok",
    );
    await worker.stop();
    const first = ["start", "failure", "failed-first", "dead"];
    expect(
      calls.map(({ event }) => event),
      "an ended worker has called all",
    ).toEqual([...first, "start", "success", "recovered"]);
    expect(calls[1]).toMatchObject({
      schedule: "flaky",
      type: "flaky",
      result: "failed",
      reason: "Error: no paper",
      isDead: true,
    });
  });

  test("of late starts, missed occurrences, and runs that are too long or too short", async ({
    namespace,
  }) => {
    const { hooks, waitForEvents } = await startReceiver((close) => namespace.onClose(close));
    const { schedules } = await startWorker(namespace);
    await schedules.add("good.late", { cron: "@yearly", start: "2019-01-01", catchup: "latest", hooks });
    await waitForEvents("good.late", "missed", "start", "late", "success");
    await schedules.add("good.skipped", { cron: "@yearly", start: "2019-01-01", deadline: "1m", hooks });
    await waitForEvents("good.skipped", "missed");
    await schedules.add("good.short", { cron: "@manual", expect: "1h..", hooks });
    await schedules.trigger("good.short");
    await waitForEvents("good.short", "start", "success", "too-short");
    await schedules.add("slow", { cron: "@manual", expect: "..1s", hooks });
    await schedules.trigger("slow");
    await waitForEvents("slow", "start", "overrun");
  });

  test("of a job", async ({ namespace }) => {
    const { url, waitForEvents } = await startReceiver((close) => namespace.onClose(close));
    const { jobs } = await startWorker(namespace);
    const { id } = await jobs.add("flaky", undefined, {
      key: "1",
      retries: 0,
      hooks: { dead: url, success: url },
    });
    await waitForEvents(id, "dead");
  });

  test("that are commands only with `hookCommands`; else `ls problems` names them", async ({ namespace }) => {
    const folder = createTestFolder((remove) => namespace.onClose(remove));
    const hooks = (name: string) => ({
      success: [
        "sh",
        "-c",
        `cat >${join(folder, name)}.new; mv ${join(folder, name)}.new ${join(folder, name)}`,
      ],
    });
    const { schedules, worker } = await startWorker(namespace);
    await schedules.add("good", { cron: "@manual", hooks: hooks("refused") });
    const { rows } = await namespace.executeJson("ls problems state:hooks");
    expect(rows).toMatchObject([
      {
        kind: "hooks",
        level: "warning",
        subject: "schedule good",
        detail: expect.stringContaining("success"),
        remedy: expect.stringContaining("hookCommands"),
      },
    ]);
    await schedules.trigger("good");
    await waitUntil("it has run", async () => (await schedules.get("good")).last?.result === "ok");
    await worker.stop();
    expect(existsSync(join(folder, "refused"))).toBe(false);
    await startWorker(namespace, { hookCommands: true });
    await schedules.modify("good", { hooks: hooks("called") });
    await schedules.trigger("good");
    await waitUntil("the hook has run", () => existsSync(join(folder, "called")));
    expect(JSON.parse(readFileSync(join(folder, "called"), "utf8"))).toMatchObject({
      event: "success",
      schedule: "good",
    });
    expect((await namespace.executeJson("ls problems")).rows).toEqual([]);
  });
});

describe.concurrent("a source of tasks calls the hooks", () => {
  test("of what it takes, gives back, fails, finishes and skips", async ({ namespace }) => {
    const { hooks, waitForEvents, calls } = await startReceiver((close) => namespace.onClose(close));
    const { schedules } = await connectLibrary(namespace);
    const source = await schedules.open();
    await schedules.add("a", { cron: "@manual", retries: 1, backoff: 0, hooks });
    await schedules.trigger("a");
    const take = async () => {
      const task = await source.poll({ wait: true });
      if (task === undefined) throw new Error("there is no task");
      return task;
    };
    await (await take()).release();
    await (await take()).fail("no paper");
    await (await take()).fail("no ink");
    await waitForEvents("a", "start", "start", "failure", "failed-first", "start", "failure", "dead");
    await schedules.trigger("a");
    await (await take()).finish();
    await schedules.add("b", { cron: "@yearly", start: "2019-01-01", deadline: "1m", hooks });
    expect(await source.poll()).toBeUndefined();
    await schedules.add("c", { cron: "@manual", expect: "..1s", hooks });
    await schedules.trigger("c");
    const slow = await take();
    await waitForEvents("c", "start", "overrun");
    await slow.finish();
    await source.close();
    expect(calls.slice(7).map(({ schedule, event }) => `${schedule} ${event}`)).toEqual([
      "a start",
      "a success",
      "a recovered",
      "b missed",
      "c start",
      "c overrun",
      "c success",
    ]);
  });

  test("of a task that it loses with its session", async ({ namespace }) => {
    const { hooks, waitForEvents, calls } = await startReceiver((close) => namespace.onClose(close));
    const { schedules } = await connectLibrary(namespace);
    await schedules.add("a", { cron: "@manual", hooks });
    await schedules.trigger("a");
    const task = await schedules.poll({ wait: true });
    const { kvs } = await namespace.store.readRange({ key: namespace.keys.running("a") });
    await namespace.store.revoke(kvs[0]?.session ?? 0n);
    await waitUntil("the task is lost", () => task?.signal.aborted === true);
    await waitForEvents("a", "start", "failure", "failed-first");
    expect(calls[1]).toMatchObject({ result: "lost" });
    await expect(task?.finish()).rejects.toMatchObject({ code: "PREEMPTED" });
  });
});

test("openTestSignalbox calls no hooks: it is a test", async () => {
  const { hooks, calls } = await startReceiver(onTestFinished);
  const box = openTestSignalbox({ now: "2026-03-01T00:00Z" });
  await box.schedules.add("a", { cron: "@hourly", hooks });
  expect(await box.runUntil("2026-03-01T03:00Z", { handlers: { a: () => {} } })).toHaveLength(4);
  await box.close();
  expect(calls).toEqual([]);
});

test("`signalbox worker` runs no commands of hooks where it runs no commands of schedules", async ({
  namespace,
}) => {
  const folder = createTestFolder((remove) => namespace.onClose(remove));
  const touch = (name: string) => ["touch", join(folder, name)];
  const file = join(folder, "worker.yaml");
  writeFileSync(
    file,
    `commands: false\nhandlers: [{ type: a, command: "true" }]\nhooks: { success: "touch ${join(folder, "own")}" }\n`,
    { mode: 0o600 },
  );
  const { schedules } = await connectLibrary(namespace);
  await schedules.add("a", {
    cron: "@manual",
    hooks: { success: touch("refused"), start: touch("refused") },
  });
  await schedules.trigger("a");
  const worker = namespace.start(["worker", "--handlers", file]);
  await waitUntil("the worker's own hook has run", () => existsSync(join(folder, "own")));
  const { rows } = await namespace.executeJson("ls problems state:hooks");
  expect(rows).toMatchObject([{ subject: "schedule a", detail: expect.stringContaining("success, start") }]);
  expect(await worker.end()).toExit(0, { stderr: "a hook was not called" });
  expect(existsSync(join(folder, "refused"))).toBe(false);
});
