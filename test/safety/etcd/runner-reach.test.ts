/** What a role for runners can do to other runs, and what it cannot, according to docs/etcd.md. */

import { beforeAll, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { SECURED } from "../../../fixtures/etcd/index.ts";

const cluster = TestCluster.startForFile({ auth: SECURED });
let namespace: TestNamespace;
beforeAll(async () => {
  const collections = ["locks/", "resources/", "history/", "hosts/"];
  await cluster.createUserNamespace("attacker", collections);
  namespace = await cluster.createUserNamespace("victim", collections);
});

const runAsAttacker = (...args: string[]) => cluster.etcd.runEtcdctl("--user", "attacker:secret", ...args);

/** A command of the victim that holds a lock, and the key of its ticket. */
async function startVictim(lock: string) {
  const run = await namespace.startHolder(["--lock", lock]);
  const { kvs } = await cluster.store.readRange(namespace.keys.getFullRange());
  const ticket = kvs.find(({ key }) => key.startsWith(`/jobs/locks/${lock}/`));
  if (ticket === undefined) throw new Error("the victim has no ticket");
  return { run, ticket };
}

test("it deletes the ticket of another user's run, whose command is then terminated", async () => {
  const { run, ticket } = await startVictim("deleted");
  await runAsAttacker("del", ticket.key);
  expect(await run.ended).toExit(125);
});

test("it requests a reset, which leaves no audit record", async () => {
  const { run, ticket } = await startVictim("reset");
  const reset = { by: "nobody", at: Date.now() };
  const value = JSON.stringify({ ...JSON.parse(String(ticket.value)), reset });
  await runAsAttacker("put", "--ignore-lease", ticket.key, value);
  expect(await run.ended).toExit(125);
  expect(await cluster.etcd.runEtcdctl("get", "--prefix", "--keys-only", "/jobs/audit/")).toBe("");
});

test("it forges history and hosts, and takes a lock that no session ends", async () => {
  await runAsAttacker("put", "/jobs/history/deleted", "forged");
  await runAsAttacker("put", "/jobs/hosts/web1.example.com", "forged");
  await runAsAttacker("put", "/jobs/locks/taken/000000000000", "forged");
  expect((await namespace.run("--lock taken", "echo ran")).stdout).toBe("");
});

test.each(["drains/all", "config/groups/web", "schedules/job", "audit/1"])(
  "it cannot write %s",
  async (key) => {
    await expect(runAsAttacker("put", `/jobs/${key}`, "{}")).rejects.toThrow("permission denied");
  },
);
