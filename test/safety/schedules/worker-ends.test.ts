/** A worker that leaves, is killed, or freezes: the state of its tasks, and which worker runs them next. */

import { writeFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, SHORT_TTL_MS } from "../../../fixtures/cluster/test-namespace.ts";
import { listRemains } from "../../../fixtures/process/guarded-processes.ts";
import { waitForDeath } from "../../../fixtures/process/wait-for-death.ts";
import {
  buildWaitingScript,
  putDueSchedule,
  readOutcomes,
  runShell,
  waitForFile,
  waitForOutcomes,
} from "../../../fixtures/schedule/due-schedules.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

describe.concurrent("a worker", () => {
  test.each(["SIGTERM", "SIGINT", "SIGQUIT"] as const)(
    "lets what runs end at %s, and takes nothing more",
    async (name) => {
      const namespace = cluster.createNamespace();
      const [there, gate] = [cluster.createPath(), cluster.createPath()];
      const worker = namespace.start("worker");
      await putDueSchedule(namespace, "a", { command: runShell(buildWaitingScript(there, gate)) });
      await waitForFile(there);
      worker.kill(name);
      await worker.waitForOutput("leaving when the running tasks have ended");
      await putDueSchedule(namespace, "b", { command: ["true"] });
      writeFileSync(gate, "");
      expect(await worker.ended).toExit(0);
      expect(await readOutcomes(namespace, "a")).toMatchObject([{ result: "ok", tail: "let go" }]);
      expect(await readOutcomes(namespace, "b")).toEqual([]);
      expect((await namespace.store.readRange(namespace.keys.workers())).kvs).toEqual([]);
    },
  );

  test("ends what runs at the second signal; another worker takes it at once", async ({ namespace }) => {
    const [there, gate] = [cluster.createPath(), cluster.createPath()];
    const worker = namespace.start("worker");
    await putDueSchedule(namespace, "a", { command: runShell(buildWaitingScript(there, gate)) });
    await waitForFile(there);
    worker.kill("SIGTERM");
    await worker.waitForOutput("leaving when the running tasks have ended");
    expect(await worker.end()).toExit(143);
    expect(listRemains(worker.mark)).toEqual([]);
    writeFileSync(gate, "");
    namespace.start("worker");
    const [second, first] = await waitForOutcomes(namespace, "a", 2);
    expect([first, second]).toMatchObject([{ result: "released" }, { result: "ok" }]);
    expect(second?.scheduled).toBe(first?.scheduled);
  });

  test("killed, its commands die with it", async () => {
    const namespace = cluster.createNamespace(); // no horizon is near
    const there = cluster.createPath();
    const worker = namespace.start("worker");
    await putDueSchedule(namespace, "a", {
      command: runShell(`trap '' TERM; setsid sleep 60 & touch ${there}; sleep 60`),
    });
    await waitForFile(there);
    worker.kill("SIGKILL");
    await waitForDeath(worker.mark, 8_000);
    const [keys] = [await namespace.store.readRange(namespace.keys.runnings())];
    expect(keys.kvs.length, "the claim stood for longer than its command").toBe(1);
  });

  test("frozen, its command has ended before another worker takes the occurrence", async () => {
    const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
    const there = cluster.createPath();
    const frozen = namespace.start("worker");
    const script = `[ -e ${there} ] && exit 0; trap '' TERM; touch ${there}; while :; do sleep 0.05; done`;
    await putDueSchedule(namespace, "a", { command: runShell(script) });
    await waitForFile(there);
    frozen.kill("SIGSTOP");
    await waitForDeath(frozen.mark, SHORT_TTL_MS, frozen.pid);
    expect(await readOutcomes(namespace, "a"), "nobody else has had it yet").toEqual([]);
    namespace.start("worker");
    expect(await waitForOutcomes(namespace, "a")).toMatchObject([{ result: "ok" }]);
    frozen.kill("SIGCONT");
    await frozen.waitForOutput(/the worker has no session|another worker took over a task|did not succeed/);
    expect(await readOutcomes(namespace, "a")).toHaveLength(1);
  });
});
