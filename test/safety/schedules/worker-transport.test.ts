/** A worker with the transport `auto` speaks gRPC. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { putDueSchedule, WORKER_JOINED, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";

const cluster = TestCluster.startForFile({ gateway: false });

test("it works where etcd's JSON gateway is off", async () => {
  const namespace = cluster.createNamespace({
    transport: "grpc",
    env: { SIGNALBOX_TRANSPORT: "auto", SIGNALBOX_CONNECT_TIMEOUT: "5s" },
  });
  const worker = namespace.start("worker");
  await worker.waitForOutput(WORKER_JOINED);
  await putDueSchedule(namespace, "job", { command: ["true"], leases: ["db=1:2"] });
  expect(await waitForOutcomes(namespace, "job")).toMatchObject([{ result: "ok" }]);
  expect((await namespace.execute("ls")).stderr, "and a short command does not").toContain(
    "use transport grpc",
  );
});
