/** A schedule that pauses itself after failures in a row, while workers die. The worker's role may not write definitions. */

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { readDue } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, type TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { readOutcomes, runShell, waitForFile } from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { type Definition, formatDefinition } from "../../../src/schedule/definition.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";

const cluster = TestCluster.startForFile();

const waitForPause = (namespace: TestNamespace) =>
  waitUntil("pause of job", async () => (await readDue(namespace, "job"))?.pause);

test("the count goes on after a worker is killed between attempts, and the schedule pauses once", async () => {
  const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
  const [log, there] = [cluster.createPath(), cluster.createPath()];
  // The third start is the first attempt of the second occurrence. Its worker is killed.
  const script = `echo >> ${log}; if [ $(wc -l < ${log}) = 3 ]; then touch ${there}; sleep 60; fi; exit 1`;
  const definition: Definition = {
    cron: "* * * * *",
    timezone: "UTC",
    command: runShell(script),
    retries: 1,
    backoff: 10,
    catchup: "all",
    pauseAfterFailures: 2,
  };
  const next = (Math.floor(Date.now() / 60_000) - 10) * 60_000;
  await namespace.put(namespace.keys.due("job"), formatDue({ next, runAt: next, open: [] }));
  await namespace.put(namespace.keys.schedule("job"), formatDefinition(definition));
  const first = namespace.start("worker");
  await waitForFile(there);
  first.kill("SIGKILL");
  expect(await readDue(namespace, "job"))?.toMatchObject({ failed: 1 });
  namespace.start("worker");
  namespace.start("worker");
  expect(await waitForPause(namespace)).toMatchObject({ by: "signalbox", why: "after 2 failures" });

  const paused = await readDue(namespace, "job");
  expect(paused).toMatchObject({ failed: 2, dead: 2, open: [] });
  const scheduled = (await readOutcomes(namespace, "job")).map((one) => (one.scheduled - next) / 60_000);
  expect(scheduled).toEqual([1, 1, 0, 0]);
  const { stdout } = await namespace.execute("ls problems");
  expect(stdout).toContain("it has paused itself after 2 failures");
  expect((await namespace.execute("schedule explain job")).stdout).toContain(
    "the schedule is paused by signalbox (after 2 failures)",
  );
  expect((await namespace.execute("show schedule job")).stdout).toMatch(/paused.*after 2 failures/);
  expect((await namespace.execute("ls schedules")).stdout).toContain("paused by signalbox: after 2 failures");

  expect(await namespace.execute("check schedule --all"), "it is still checked").toExit(2, {
    stdout: "schedule job: no run succeeded",
  });

  // A triggered run that fails changes nothing; an operator ends the pause, and the count starts again.
  await namespace.expectDone("schedule trigger job --yes");
  await waitUntil("triggered run", async () => (await readDue(namespace, "job"))?.failed === 3);
  expect(await readDue(namespace, "job"))?.toMatchObject({ pause: paused?.pause });
  const resumed = await namespace.execute("schedule resume job --yes");
  expect(resumed).toExit(0, { stdout: "schedule job resumed" });
  const after = await readDue(namespace, "job");
  expect([after?.pause, after?.failed]).toEqual([undefined, undefined]);
  expect(after?.next, "what the pause prevented does not run").toBeGreaterThan(Date.now() - 60_000);
  expect(existsSync(there)).toBe(true);
});
