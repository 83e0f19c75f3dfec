/** A worker with only the role of docs/etcd.md. */

import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SECURED } from "../../../fixtures/etcd/index.ts";
import { putDueSchedule, WORKER_JOINED, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const COLLECTIONS = ["due/", "running/", "outcomes/", "workers/", "resources/", "hosts/"];

const cluster = TestCluster.startForFile({ auth: SECURED });

test("runs what is due, with leases, and remembers it", async () => {
  const namespace = await cluster.createUserNamespace("worker", COLLECTIONS);
  const worker = namespace.start("worker --accept-role-bypass");
  await worker.waitForOutput(WORKER_JOINED);
  await putDueSchedule(namespace, "job", { command: ["true"], leases: ["db=1:2"] });
  expect(await waitForOutcomes(namespace, "job")).toMatchObject([{ result: "ok", attempt: 1 }]);
  await putDueSchedule(namespace, "bad", { command: ["false"], pauseAfterFailures: 1 });
  await waitForOutcomes(namespace, "bad");
  expect((await namespace.execute("ls problems")).stdout, "it may pause what fails").toContain(
    "it has paused itself after 1 failure",
  );
  await putDueSchedule(namespace, "once", {
    command: ["true"],
    cron: "@at 2026-01-01T00:00Z",
    removeAfter: "end",
  });
  expect(await waitForOutcomes(namespace, "once"), "it may not remove it, so it keeps it").toMatchObject([
    { result: "ok", attempt: 1 },
  ]);
  // Not earlier: two ends in one transaction are nested in it, and this etcd checks no role there.
  await putDueSchedule(namespace, "next", { command: ["true"] });
  await waitForOutcomes(namespace, "next");
  await waitUntil("nothing runs", async () => {
    const { kvs } = await namespace.store.readRange(namespace.keys.runnings());
    return kvs.length === 0;
  });
  await worker.waitForOutput("may not remove");
  const { code, stdout } = await namespace.execute("schedule pause job --yes");
  expect({ code, stdout }, "but it may not say what runs").toEqual({ code: 77, stdout: "" });
  expect(await worker.end()).toExit(0);
});

test("without the right to say that it is there, it does not start, and names the reason", async () => {
  const namespace = await cluster.createUserNamespace("stranger", ["due/", "running/", "outcomes/"]);
  expect(await namespace.execute("worker --accept-role-bypass")).toExit(77, { stderr: "permission" });
});
