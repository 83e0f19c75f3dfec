/** What tasks say about their progress, from a command's file to listings. */
import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import {
  putDueSchedule,
  runShell,
  waitForFile,
  waitForOutcomes,
} from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { parseRunning } from "../../../src/schedule/state/running-record.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const waitForProgress = (namespace: TestNamespace, id: string, wanted: string) =>
  waitUntil(`progress ${wanted}`, async () => {
    const { kvs } = await namespace.store.readRange({ key: namespace.keys.running(id) });
    const parsed = parseRunning(kvs[0]?.value ?? "");
    return "value" in parsed && parsed.value.progress === wanted;
  });

test.concurrent("of a command: its newest text, until it ends", async ({ namespace }) => {
  const gates = [cluster.createPath(), cluster.createPath()];
  const steps = gates.map(
    (gate, n) => `echo '${n + 1} of 2\nmore' > $F; until [ -e ${gate} ]; do sleep 0.1; done`,
  );
  await putDueSchedule(namespace, "a", {
    command: runShell(`F=$SIGNALBOX_PROGRESS_FILE; ${steps.join("; ")}; echo $F`),
  });
  namespace.start("worker");
  await waitForProgress(namespace, "a", "1 of 2");
  const { stdout } = await namespace.execute("show schedule a");
  expect(stdout).toMatch(/PROGRESS.*\n.*1 of 2/);
  const [first = "", second = ""] = gates;
  await namespace.execute("schedule pause a"); // the schedule changes, and the task goes on
  writeFileSync(first, "");
  await waitForProgress(namespace, "a", "2 of 2");
  writeFileSync(second, "");
  const [outcome] = await waitForOutcomes(namespace, "a");
  expect(outcome).toMatchObject({ result: "ok" });
  await waitUntil("no folder", () => !existsSync(dirname(outcome?.tail ?? "/")));
});

test.concurrent("a command that puts a pipe there is not waited for", async ({ namespace }) => {
  const there = cluster.createPath();
  const script = `mkfifo $SIGNALBOX_PROGRESS_FILE; touch ${there}; sleep 2.5`;
  await putDueSchedule(namespace, "a", { command: runShell(script) });
  await putDueSchedule(namespace, "b", {
    command: runShell(`ln -s /etc/hostname $SIGNALBOX_PROGRESS_FILE; sleep 2.5`),
  });
  namespace.start("worker");
  await waitForFile(there);
  for (const id of ["a", "b"]) expect(await waitForOutcomes(namespace, id)).toMatchObject([{ result: "ok" }]);
});
