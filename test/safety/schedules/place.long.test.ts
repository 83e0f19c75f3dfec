/** Schedules for the least loaded host, on workers whose hosts have different loads. */
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { MeasuredHost, obstacle } from "../../../fixtures/process/measured-host.ts";
import { putDueSchedule, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("the choice is set, shown, listed, exported and removed, and not for every host", async ({
  namespace,
}) => {
  const words = ["job", "0 3 * * *", "--place", "least-loaded", "--yes", "--", "true"];
  await namespace.expectDone("schedule add", ...words);
  expect((await namespace.execute("schedule explain job")).stdout).toContain(
    "on the host with the least load",
  );
  expect((await namespace.execute("show schedule job")).stdout).toMatch(/place +least-loaded/);
  expect((await namespace.execute("ls schedules --columns schedule,place")).stdout).toContain("least-loaded");
  const site = (await namespace.execute("export --only schedules")).stdout;
  expect(site).toContain("place: least-loaded");
  expect(await namespace.execute("diff -", { input: site })).toExit(0);
  const wrong = await namespace.execute("diff -", { input: site.replace("least-loaded", "least") });
  expect(wrong).toExit(78, { stderr: "place must be one of least-loaded; got" });
  const everywhere = await namespace.execute("schedule edit job --on every-host --yes");
  expect(everywhere).toExit(78, {
    stderr: "does not choose between hosts: leave out place: least-loaded (--place), or on: every-host",
  });
  await namespace.expectDone("schedule edit job --place '' --yes");
  expect((await namespace.execute("schedule explain job")).stdout).not.toContain("least load");
});

describe.skipIf(obstacle !== undefined)(`with workers${obstacle ? ` (${obstacle})` : ""}`, () => {
  const startWorker = async (namespace: TestNamespace, name: string, load: number) => {
    const worker = namespace.start("worker -v", {
      before: new MeasuredHost(cluster.createPath(), load).before,
      env: { SIGNALBOX_HOST: `${name}.example.com` },
    });
    await worker.waitForOutput("worker joined");
    return worker;
  };
  const PLACED = { place: "least-loaded", command: ["true"] } as const;

  const findHosts = async (namespace: TestNamespace, ids: readonly string[]) => {
    const outcomes = await Promise.all(ids.map((id) => waitForOutcomes(namespace, id)));
    expect(outcomes.flat().map(({ result }) => result)).toEqual(ids.map(() => "ok"));
    return outcomes.flat().map(({ host }) => host);
  };

  test("the idle host runs them; while it is frozen or dead, the busy one does", async ({ namespace }) => {
    await startWorker(namespace, "busy", 9);
    const idle = await startWorker(namespace, "idle", 0);
    // One after the other: what runs on the idle host does not count as load then.
    const run = async (id: string) => {
      await putDueSchedule(namespace, id, PLACED);
      return await findHosts(namespace, [id]);
    };
    let probes = 0; // a worker that does not know of another one yet does not wait for it
    await waitUntil("the idle host is known", async () =>
      (await run(`probe${probes++}`)).includes("idle.example.com"),
    );
    const hosts: unknown[] = [];
    for (let n = 0; n < 10; n += 1) hosts.push(...(await run(`job${n}`)));
    expect(hosts.filter((host) => host === "idle.example.com").length).toBeGreaterThanOrEqual(9);

    idle.kill("SIGSTOP");
    await putDueSchedule(namespace, "frozen", PLACED);
    expect(await findHosts(namespace, ["frozen"])).toEqual(["busy.example.com"]);
    idle.kill("SIGCONT");
    idle.kill("SIGKILL");
    await putDueSchedule(namespace, "dead", PLACED);
    expect(await findHosts(namespace, ["dead", "frozen"])).toEqual(["busy.example.com", "busy.example.com"]);
  });
});
