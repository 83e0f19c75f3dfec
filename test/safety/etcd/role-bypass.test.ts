/**
 * Whether a role can be bypassed with a nested transaction (GHSA-rfx7-8w68-q57q): `init`, `doctor` and `worker` must say what
 * an attack on the same etcd shows. `npm run test:etcd -- 3.5` attacks an etcd that is not vulnerable.
 */
import { expect, onTestFinished, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SECURED } from "../../../fixtures/etcd/index.ts";
import { WORKER_JOINED } from "../../../fixtures/schedule/due-schedules.ts";
import { openStore } from "../../../src/core/etcd/open.ts";
import { StoreError } from "../../../src/core/etcd/store.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import type { Txn } from "../../../src/core/protocol/txn.ts";
import { formatDefinition } from "../../../src/schedule/definition.ts";

const cluster = TestCluster.startForFile({ auth: SECURED });

/** Writes a schedule as the user, in a nested transaction. @returns whether etcd let it */
async function attack(user: string, key: string, value: string) {
  const login = { user, password: "secret", allowPlaintextPassword: true };
  const store = await openStore(
    { endpoints: [...cluster.endpoints], ...login },
    { clock: createRealClock() },
  );
  onTestFinished(() => store.close());
  const write: Txn = { compare: [], success: [{ op: "put", key, value }], failure: [] };
  try {
    await store.commitTxn({ compare: [], success: [{ op: "txn", txn: write }], failure: [] });
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.kind === "permission") return false;
    throw error;
  }
}

test("init and doctor report it, a worker refuses commands, and probes write nothing", async () => {
  const runner = await cluster.createUserNamespace("runner", [
    "locks/",
    "resources/",
    "history/",
    "hosts/",
    "output/",
  ]);
  const collections = ["due/", "running/", "outcomes/", "workers/", "resources/", "hosts/", "output/"];
  const worker = await cluster.createUserNamespace("worker", collections);
  const operator = await cluster.createUserNamespace("operator", [""]);
  const command = formatDefinition({ cron: "0 0 1 1 *", timezone: "UTC", command: ["true"] });
  const isVulnerable = await attack("runner", "/jobs/schedules/job", command);

  const findings = async (namespace: typeof runner, name: string) => {
    const { code, stdout } = await namespace.execute([name, "--json"]);
    const all: { kind: string; level: string }[] = JSON.parse(stdout).findings;
    return { code, levels: all.filter(({ kind }) => kind === "role-bypass").map(({ level }) => level) };
  };
  const failure = isVulnerable ? ["failure"] : [];
  for (const namespace of [runner, operator]) {
    expect(await findings(namespace, "init")).toEqual({ code: isVulnerable ? 78 : 0, levels: failure });
    expect((await findings(namespace, "doctor")).levels).toEqual(failure);
  }
  const { revision } = await cluster.store.readRange({ key: "a" });
  await findings(runner, "doctor");
  expect((await cluster.store.readRange({ key: "a" })).revision).toBe(revision);

  if (isVulnerable) {
    const { code, stderr } = await worker.execute("worker");
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining("GHSA-rfx7-8w68-q57q") });
  }
  for (const words of [["--no-commands"], ["--accept-role-bypass"], ...(isVulnerable ? [] : [[]])]) {
    const { child, ended, waitForOutput } = worker.start(["worker", ...words]);
    await waitForOutput(WORKER_JOINED);
    child.kill("SIGTERM");
    expect(await ended).toExit(0);
  }

  await cluster.write({ op: "delete", key: "/jobs/schedules/job" });
  for (const name of ["init", "doctor"])
    expect(await findings(runner, name)).toEqual({ code: 0, levels: isVulnerable ? ["hint"] : [] });
});
