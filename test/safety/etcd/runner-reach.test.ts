/** What a role for runners can do to other runs, and what it cannot, according to docs/etcd.md. */

import { beforeAll, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";

const PREFIX = "/jobs/";
const LOGIN = { rootPassword: "r00t", user: "anybody", password: "x", prefix: PREFIX };

const cluster = TestCluster.startForFile({ auth: LOGIN });
let namespace: TestNamespace;
beforeAll(async () => {
  await makeRole("signalbox-runner");
  for (const user of ["victim", "attacker"]) await makeUser(user, "signalbox-runner");
  namespace = cluster.createNamespace({ prefix: PREFIX, env: buildLogin("victim") });
});

const runAsRoot = (...args: string[]) =>
  cluster.etcd.runEtcdctl("--user", `root:${LOGIN.rootPassword}`, ...args);
const runAsAttacker = (...args: string[]) => cluster.etcd.runEtcdctl("--user", "attacker:secret", ...args);

function buildLogin(user: string): Record<string, string> {
  return {
    SIGNALBOX_USER: user,
    SIGNALBOX_PASSWORD: "secret",
    SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "yes",
  };
}

async function makeRole(role: string): Promise<void> {
  const grant = (kind: string, prefix: string) =>
    runAsRoot("role", "grant-permission", "--prefix=true", role, kind, prefix);
  await runAsRoot("role", "add", role);
  await grant("read", PREFIX);
  for (const part of ["locks/", "resources/", "history/", "hosts/"]) await grant("readwrite", PREFIX + part);
}

async function makeUser(user: string, role: string): Promise<void> {
  await runAsRoot("user", "add", `${user}:secret`);
  await runAsRoot("user", "grant-role", user, role);
}

/** A command of the victim that holds a lock, and the key of its ticket. */
async function startVictim(lock: string) {
  const run = await namespace.startHolder(["--lock", lock]);
  const { kvs } = await cluster.store.readRange(namespace.keys.getFullRange());
  const ticket = kvs.find(({ key }) => key.startsWith(`${PREFIX}locks/${lock}/`));
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
  expect(await runAsRoot("get", "--prefix", "--keys-only", `${PREFIX}audit/`)).toBe("");
});

test("it forges history and hosts, and takes a lock that no session ends", async () => {
  await runAsAttacker("put", `${PREFIX}history/deleted`, "forged");
  await runAsAttacker("put", `${PREFIX}hosts/web1.example.com`, "forged");
  await runAsAttacker("put", `${PREFIX}locks/taken/000000000000`, "forged");
  expect((await namespace.run("--lock taken", "echo ran")).stdout).toBe("");
});

test.each(["drains/all", "config/groups/web", "schedules/job", "audit/1"])(
  "it cannot write %s",
  async (key) => {
    await expect(runAsAttacker("put", PREFIX + key, "{}")).rejects.toThrow("permission denied");
  },
);
