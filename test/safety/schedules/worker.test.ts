/** The worker as a process: its tasks, handlers and leases. */

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import {
  buildWaitingScript,
  putDueSchedule,
  readOutcomes,
  runShell,
  WORKER_JOINED,
  waitForFile,
  waitForOutcomes,
} from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

describe.concurrent("a worker", () => {
  test("says in which folder a relative program was looked for", async ({ namespace }) => {
    const added = await namespace.execute("schedule add rel @manual -- ./none.sh");
    expect(added).toExit(0, { stderr: /"\.\/none.sh" is a path in the working/ });
    await namespace.expectDone("schedule trigger rel");
    const worker = namespace.start("worker");
    const [last] = await waitForOutcomes(namespace, "rel");
    expect(last).toMatchObject({ result: "failed", code: 127 });
    expect(last?.reason).toMatch("working folder is /");
    expect(await worker.end()).toExit(0);
  });

  test("runs each schedule by its first handler, and leaves unknown types to others", async ({
    namespace,
  }) => {
    const one = { type: "mail", command: ["echo", "one"] };
    const two = { type: "/^mail|report/", command: runShell("cat; exit 3") };
    const module = cluster.createPath("export default (task) => { console.log(task.data.n + 1); };\n", 0o644);
    const files = [[one, two], [{ type: "count", module }]].map((handlers) =>
      cluster.createPath(JSON.stringify({ handlers })),
    );
    const [a, b] = files.map((file) => namespace.start(`worker --handlers ${file} --no-commands`));
    const types = { mail: "mail", "report.a": undefined, c: "count", nobody: undefined };
    for (const [id, type] of Object.entries(types))
      await putDueSchedule(namespace, id, { ...(type && { type }), data: { n: 41 } });
    await putDueSchedule(namespace, "own", { command: ["true"] });
    const all = await Promise.all(["mail", "report.a", "c"].map((id) => waitForOutcomes(namespace, id)));
    const [mail, report, count] = all.map(([last]) => last);
    expect(mail).toMatchObject({ result: "ok", tail: "one" });
    expect(report).toMatchObject({
      result: "failed",
      code: 3,
      tail: expect.stringContaining('"data":{"n":41}'),
    });
    expect(count).toMatchObject({ result: "ok", tail: "42" });
    await Promise.all([a?.waitForOutput("type=nobody"), b?.waitForOutput("type=nobody")]);
    for (const id of ["nobody", "own"]) expect(await readOutcomes(namespace, id)).toEqual([]);
    for (const worker of [a, b]) worker?.child.kill("SIGTERM");
    expect(await a?.ended).toExit(0);
    expect(await b?.ended).toExit(0);
  });

  test("reads its file again at HUP and USR1, and keeps the old one where the new one is wrong", async ({
    namespace,
  }) => {
    const file = cluster.createPath(JSON.stringify({ handlers: [{ type: "a", command: ["echo", "old"] }] }));
    const worker = namespace.start(`worker --handlers ${file}`);
    await worker.waitForOutput(WORKER_JOINED);
    writeFileSync(file, "handlers: [{ type: a }]");
    worker.kill("SIGHUP");
    await worker.waitForOutput(
      /error: the old handlers stay .*handlers\[0\]: it needs exactly one of command, module and http/,
    );
    await putDueSchedule(namespace, "a.1");
    expect(await waitForOutcomes(namespace, "a.1")).toMatchObject([{ tail: "old" }]);
    writeFileSync(file, "handlers: [{ type: a, command: echo new }]");
    worker.kill("SIGUSR1");
    await worker.waitForOutput("read again");
    await putDueSchedule(namespace, "a.2");
    expect(await waitForOutcomes(namespace, "a.2")).toMatchObject([{ tail: "new" }]);
    expect(worker.child.exitCode).toBeNull();
  });

  test("opens its log anew at USR2", async ({ namespace }) => {
    const [log, moved] = [cluster.createPath(), cluster.createPath()];
    const worker = namespace.start(["worker", "--log-file", log]);
    await waitUntil("a log", () => existsSync(log) && WORKER_JOINED.test(readFileSync(log, "utf8")));
    renameSync(log, moved);
    worker.kill("SIGUSR2");
    await waitForFile(log);
    expect(await worker.end()).toExitSilently(0);
    expect(readFileSync(log, "utf8")).toMatch("leaving when");
  });

  test("gives commands neither systemd's variables nor credentials", async () => {
    const namespace = cluster.createNamespace({
      env: { NOTIFY_SOCKET: "/nowhere/socket", WATCHDOG_USEC: "1000000", KEPT: "1" },
    });
    namespace.start("worker");
    await putDueSchedule(namespace, "a", { command: runShell("env | grep -E '^(NOTIFY|WATCHDOG|KEPT)'") });
    expect(await waitForOutcomes(namespace, "a")).toMatchObject([{ result: "ok", tail: "KEPT=1" }]);
  });

  test("counts what it does, and calls the hooks of its file", async ({ namespace }) => {
    const called = cluster.createPath();
    const hooks = { success: ["sh", "-c", `cat >${called}.new; mv ${called}.new ${called}`] };
    const worker = namespace.start([
      "worker",
      "--handlers",
      cluster.createPath(JSON.stringify({ hooks })),
      "--metrics",
      "0",
    ]);
    await worker.waitForOutput(/metrics are served at=\S+/);
    const at = /metrics are served at=(\S+)/.exec(worker.output.stderr)?.[1];
    await putDueSchedule(namespace, "a", { command: ["true"] });
    await waitForFile(called);
    expect(JSON.parse(readFileSync(called, "utf8"))).toMatchObject({ schedule: "a" });
    const metrics = await (await fetch(`http://${at}/metrics`)).text();
    expect(metrics).toMatch(/^signalbox_worker_fired_total\{type="a"\} 1$/m);
    expect((await fetch(`http://${at}/healthz`)).status).toBe(200);
    expect(await worker.end()).toExit(0);
  });

  test("is not affected by a handler that fails, floods, or never reads", async ({ namespace }) => {
    const worker = namespace.start("worker --concurrency 2");
    const commands = {
      flood: runShell("yes | head -c 5000000"),
      crash: runShell("kill -SEGV $$"),
      none: ["/no/such"],
    };
    for (const [id, command] of Object.entries(commands))
      await putDueSchedule(namespace, id, { command, data: "x".repeat(200_000) });
    const all = await Promise.all(Object.keys(commands).map((id) => waitForOutcomes(namespace, id)));
    expect(all.map(([last]) => `${last?.result} ${last?.code}`)).toEqual([
      "ok 0",
      "failed 139",
      "failed 127",
    ]);
    expect(worker.output.stderr.length).toBeLessThan(200_000);
    await putDueSchedule(namespace, "after", { command: ["true"] });
    expect(await waitForOutcomes(namespace, "after")).toMatchObject([{ result: "ok" }]);
  });
});

describe.concurrent("leases of a schedule", () => {
  test("are held while it runs, seen by everybody, and freed then", async ({ namespace }) => {
    const [there, gate] = [cluster.createPath(), cluster.createPath()];
    namespace.start("worker");
    await putDueSchedule(namespace, "a", {
      command: runShell(buildWaitingScript(there, gate)),
      leases: ["db=2:3"],
    });
    await waitForFile(there);
    await putDueSchedule(namespace, "b", { command: ["true"], leases: ["db=2:3"] });
    const queue = await waitUntil("a waiter", async () => {
      const all = await namespace.readQueue("db", "resource");
      return all.length === 2 && all;
    });
    expect(queue.map(({ ticket }) => [ticket?.label, ticket?.state, ticket?.count])).toEqual([
      ["schedule a", "held", 2],
      ["schedule b", "waiting", 2],
    ]);
    writeFileSync(gate, "");
    expect(await waitForOutcomes(namespace, "a")).toMatchObject([{ result: "ok" }]);
    expect(await waitForOutcomes(namespace, "b")).toMatchObject([{ result: "ok" }]);
    await namespace.waitForQueue("db", 0, "resource");
  });

  test("that are taken away end it", async ({ namespace }) => {
    const [there, gate] = [cluster.createPath(), cluster.createPath()];
    const worker = namespace.start("worker");
    await putDueSchedule(namespace, "a", {
      command: runShell(buildWaitingScript(there, gate)),
      leases: ["db=1:1"],
    });
    await waitForFile(there);
    const [held] = await namespace.readQueue("db", "resource");
    await namespace.delete(held?.key ?? "");
    expect(await waitForOutcomes(namespace, "a")).toMatchObject([
      { result: "lost", reason: expect.stringContaining("claim was lost") },
    ]);
    expect(worker.child.exitCode).toBeNull();
  });

  test("that cannot be read make it fail", async ({ namespace }) => {
    namespace.start("worker");
    await putDueSchedule(namespace, "a", { command: ["true"], leases: ["db=x"] });
    expect(await waitForOutcomes(namespace, "a")).toMatchObject([
      { result: "failed", reason: expect.stringContaining("db=x") },
    ]);
  });
});

describe.concurrent("a worker that cannot start", () => {
  test.each([
    ["a file that is wrong", "handlers: 5", 78, 'line 1, column 1: handlers: "5" is not a list'],
    ["a key that is not known", "handler: []", 78, "did you mean handlers?"],
  ])("says what is wrong: %s", async (_, text, code, message) => {
    const ended = await cluster.createNamespace().execute(["worker", "--handlers", cluster.createPath(text)]);
    expect(ended).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) });
  });

  test("a missing file, an invalid port, no etcd", async () => {
    const namespace = cluster.createNamespace({ env: { SIGNALBOX_CONNECT_TIMEOUT: "200ms" } });
    expect(await namespace.execute("worker --handlers /no/file")).toExit(78);
    expect(await namespace.execute("worker --metrics x")).toExit(64);
    expect(await namespace.execute("worker --concurrency 0")).toExit(64);
    const away = await namespace.execute("worker", { endpoints: ["http://127.0.0.1:1"] });
    expect(away).toExit(69, { stderr: "cannot reach etcd" });
  });
});
