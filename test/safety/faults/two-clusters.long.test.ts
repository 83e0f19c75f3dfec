/** Endpoints of two clusters, and hosts that would each use a different one: a lock is granted once, or not at all. */

import { writeFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { openStore } from "../../../src/etcd/open/open.ts";
import { createRealClock } from "../../../src/process/clock.ts";

const cluster = TestCluster.startForFile();
const OPTIONS = ["--lock", "x", "--ttl", "60s"];

let other: EtcdMember;
let namespace: TestNamespace | undefined;
beforeAll(async () => {
  other = await startEtcd();
  return () => other.stop();
});
afterEach(() => namespace?.etcd.unfreeze());

async function readClusterId(endpoint: string): Promise<string> {
  const store = await openStore({ endpoints: [endpoint] }, { clock: createRealClock() });
  const [found] = await store.readMemberStatuses();
  store.close();
  return found?.ok ? (found.clusterId ?? 0n).toString(16) : "";
}

describe.each(TRANSPORTS)("over %s", (transport) => {
  it("a run asks the configured cluster only: 78 while that is away, and no trace in the other", async () => {
    namespace = await cluster.createTestNamespace(transport);
    const [ours, theirs] = [
      await readClusterId(namespace.etcd.clientUrl),
      await readClusterId(other.clientUrl),
    ];
    const over = `${namespace.jobs.journal.folder}/over`;
    const endpoint = `${other.clientUrl},${namespace.etcd.clientUrl}`;
    const options = [...OPTIONS, "--cluster-id", ours];
    const first = await namespace.jobs.startAndWait({
      name: "first",
      options,
      hold: ["until", over],
      endpoints: [endpoint],
    });
    namespace.etcd.freeze();
    const { code, stderr } = await namespace.jobs.start({ name: "second", options, endpoints: [endpoint] })
      .ended;
    expect(code, stderr).toBe(78);
    expect(stderr).toContain(`${other.clientUrl} belongs to cluster ${theirs}, but clusterId is ${ours}`);
    namespace.etcd.unfreeze();
    expect(await namespace.jobs.start({ name: "third", options, endpoints: [endpoint] }).ended).toMatchObject(
      {
        code: 75,
      },
    );
    writeFileSync(over, "");
    expect(await first.ended).toMatchObject({ code: 0 });
    await namespace.jobs.startAndWait({ name: "fourth", options, hold: [1], endpoints: [endpoint] });
    await namespace.waitForProcesses();
    expect(namespace.jobs.journal.listStarts().map(({ name }) => name)).toEqual(["first", "fourth"]);
    expect(await other.runEtcdctl("get", "--prefix", namespace.keys.prefix)).toBe("");
  }, 120_000);

  it("a job outlasts its own cluster being away for a while: the other does not tell it that its session is gone", async () => {
    namespace = await cluster.createTestNamespace(transport);
    const over = `${namespace.jobs.journal.folder}/over`;
    const endpoint = `${namespace.etcd.clientUrl},${other.clientUrl}`;
    const options = [...OPTIONS, "--cluster-id", await readClusterId(namespace.etcd.clientUrl), "-v"];
    const run = await namespace.jobs.startAndWait({
      name: "job",
      options,
      hold: ["until", over],
      endpoints: [endpoint],
    });
    namespace.etcd.freeze();
    await run.waitForOutput(/the session was not renewed.*belongs to cluster/);
    namespace.etcd.unfreeze();
    writeFileSync(over, "");
    expect(await run.ended).toMatchObject({ code: 0 });
  }, 120_000);
});

describe("init and doctor", () => {
  it("say the cluster's id, and what to set", async () => {
    namespace = await cluster.createTestNamespace("http");
    const id = await readClusterId(namespace.etcd.clientUrl);
    const init = await namespace.start(["init"]).ended;
    expect(init, init.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`"clusterId": "${id}"`),
    });
    const set = await namespace.start(["init", "--cluster-id", id]).ended;
    expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining(`id ${id}, as configured`) });
    const decimal = BigInt(`0x${id}`).toString();
    if (decimal.length > 16)
      expect(await namespace.start(["init", "--cluster-id", decimal]).ended).toMatchObject({ code: 0 });
  });

  it("of another cluster than the configured one: 78, and doctor fails", async () => {
    namespace = await cluster.createTestNamespace("http");
    const id = await readClusterId(namespace.etcd.clientUrl);
    const env = { SIGNALBOX_CLUSTER_ID: await readClusterId(other.clientUrl) };
    const init = await namespace.start(["init"], { env }).ended;
    const wrong = `id ${id}, but clusterId is ${env.SIGNALBOX_CLUSTER_ID}`;
    expect(init).toMatchObject({ code: 78, stdout: expect.stringContaining(wrong) });
    const doctor = await namespace.start(["doctor"], { env }).ended;
    expect(doctor.code, doctor.stderr).toBe(2);
    expect(doctor.stdout).toContain(wrong);
    expect(await namespace.start(["ls"], { env }).ended).toMatchObject({
      code: 78,
      stderr: expect.stringContaining(`belongs to cluster ${id}, but clusterId is`),
    });
  });

  it("of two clusters among the endpoints: 78, and doctor fails", async () => {
    namespace = await cluster.createTestNamespace("http");
    const endpoint = `${namespace.etcd.clientUrl},${other.clientUrl}`;
    expect(await namespace.start(["init"], { endpoints: [endpoint] }).ended).toMatchObject({
      code: 78,
      stdout: expect.stringContaining("the endpoints belong to 2 clusters"),
    });
    const doctor = await namespace.start(["doctor"], { endpoints: [endpoint] }).ended;
    expect(doctor, doctor.stdout).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("the endpoints belong to 2 clusters"),
    });
  });
});
