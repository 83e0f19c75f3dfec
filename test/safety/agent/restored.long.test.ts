/** etcd is restored from a backup, under the same address and id, while an agent and its runs go on. */

import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { findEtcd, type RunningEtcd, startCluster } from "../../../fixtures/etcd/index.ts";
import { runTool } from "../../../fixtures/run-tool.ts";

let etcd: RunningEtcd;
let cluster: TestCluster;
beforeAll(async () => {
  etcd = await startCluster(1);
  cluster = await TestCluster.connect(etcd.endpoints);
});
afterAll(async () => {
  await cluster.close();
  await etcd.stop();
});

/** Replaces the data by a backup. */
async function restore(backup: string) {
  const [member] = etcd.members;
  if (member === undefined) throw new Error("the cluster has a member");
  const [peer = ""] = (await member.runEtcdctl("member", "list")).match(/http:\S+?(?=,)/) ?? [];
  await member.terminate();
  renameSync(member.dataDir, `${member.dataDir}.before`);
  const { etcdctl } = await findEtcd();
  const options = ["--data-dir", member.dataDir, "--name", "m1", "--initial-cluster", `m1=${peer}`];
  const env = { PATH: process.env.PATH, ETCDCTL_API: "3" };
  await runTool({
    env,
  })`${etcdctl} snapshot restore ${backup} ${options} --initial-advertise-peer-urls ${peer}`;
  await member.start();
  await member.waitUntilReady();
}

test("a run whose ticket is newer than the backup says so, and queues again", async () => {
  const host = await HostAgent.start(cluster, { SIGNALBOX_TTL: "60s" });
  const { jobs, namespace } = host;
  const first = await jobs.startHolder("first", "--lock x");
  const backup = join(host.folder, "backup.db");
  await etcd.members[0]?.runEtcdctl("snapshot", "save", backup);
  const second = await jobs.startWaiter("second", "--lock x --wait");
  await restore(backup);
  await second.waitForOutput(
    "etcd was restored from a backup, which is older than this wait: queueing again",
  );
  await jobs.waitForTickets("second", "waiting");
  expect(await first.finish()).toExit(0);
  expect(await second.ended).toExit(0);
  expect(jobs.journal.findOveruse()).toEqual([]);
  expect(await namespace.listTickets()).toEqual([]);
}, 90_000);
