/** Schedules that start only on hosts that fulfil conditions, on workers whose hosts have different loads. */
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { MeasuredHost, obstacle } from "../../../fixtures/process/measured-host.ts";
import { putDueSchedule, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";
import { formatDefinition } from "../../../src/schedule/definition.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const BUSY = ["load < 2", "pressure.memory < 60"];

test("a condition is set, shown, exported and removed", async ({ namespace }) => {
  const words = ["job", "0 3 * * *", "--if", "load < CPU", "--if", "pressure.io <= 5", "--deadline", "1h"];
  await namespace.expectDone("schedule add", ...words, "--yes", "--", "true");
  const explained = await namespace.execute("schedule explain job");
  expect(explained.stdout).toContain("only on a host with load < CPU and pressure.io <= 5");
  expect((await namespace.execute("show schedule job")).stdout).toMatch(
    /only if +load < CPU and pressure.io <= 5/,
  );
  const site = await namespace.execute("export --only schedules");
  expect(site.stdout).toMatch(/if:\n +- load < CPU\n +- pressure.io <= 5/);
  expect(await namespace.execute("diff -", { input: site.stdout })).toExit(0);
  const wrong = await namespace.execute("diff -", { input: site.stdout.replace("load <", "lod <") });
  expect(wrong).toExit(78);
  expect(wrong.stderr).toContain('"lod < CPU": there is no macro "lod", at character 1');
  await namespace.expectDone("schedule edit job --if '' --yes");
  expect((await namespace.execute("schedule explain job")).stdout).not.toContain("only on a host");
});

describe.skipIf(obstacle !== undefined)(`with workers${obstacle ? ` (${obstacle})` : ""}`, () => {
  const startWorker = (namespace: TestNamespace, name: string, host: MeasuredHost) =>
    namespace.start("worker -v", {
      before: host.before,
      env: { SIGNALBOX_HOST: `${name}.example.com` },
    });

  test("a schedule runs on the idle one of two hosts, and on the other one when its load falls", async ({
    namespace,
  }) => {
    const [busy, idle] = [9, 1].map((load) => new MeasuredHost(cluster.createPath(), load, 50)) as [
      MeasuredHost,
      MeasuredHost,
    ];
    const first = startWorker(namespace, "busy", busy);
    await first.waitForOutput("worker joined");
    for (const id of ["a", "b", "c"]) await putDueSchedule(namespace, id, { if: BUSY, command: ["true"] });
    await first.waitForOutput("does not hold: load is 9");
    const second = startWorker(namespace, "idle", idle);
    for (const id of ["a", "b", "c"])
      expect(await waitForOutcomes(namespace, id)).toMatchObject([
        { result: "ok", host: "idle.example.com" },
      ]);
    await second.end("SIGKILL");
    await putDueSchedule(namespace, "d", { if: BUSY, command: ["true"] });
    busy.setLoad(1);
    expect(await waitForOutcomes(namespace, "d")).toMatchObject([{ result: "ok", host: "busy.example.com" }]);
  });

  test("if no host fulfils them, the occurrence is skipped at its deadline, and the outcome says why", async ({
    namespace,
  }) => {
    await putDueSchedule(namespace, "job", { if: ["load < 2"], deadline: 1_000, command: ["true"] });
    const worker = startWorker(namespace, "busy", new MeasuredHost(cluster.createPath(), 9));
    const reason = 'on busy.example.com, condition "load < 2" does not hold: load is 9';
    expect(await waitForOutcomes(namespace, "job")).toMatchObject([{ result: "skipped", reason }]);
    await worker.waitForOutput(/skipped.*load is 9/);
    expect((await namespace.execute("show schedule job")).stdout).toContain("load is 9");

    const definition = { cron: "* * * * *", timezone: "UTC", if: ["pressure.memory < 1"], command: ["true"] };
    const next = Math.floor(Date.now() / 60_000) * 60_000;
    await namespace.put(namespace.keys.due("bare"), formatDue({ next, runAt: next, open: [] }));
    await namespace.put(namespace.keys.schedule("bare"), formatDefinition(definition));
    await worker.waitForOutput("does not measure pressure.memory");
    const why = await namespace.execute(["why", "bare", "--at", new Date(next).toISOString()]);
    expect(why.stdout).toContain("it needs a host with pressure.memory < 1");
  });
});
