/** Processes that a command leaves behind: on purpose, or after a signal to the run. */

import { writeFileSync } from "node:fs";
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS } from "../../../fixtures/cluster/test-namespace.ts";
import { createSleeper } from "../../../fixtures/process/guarded-processes.ts";
import { waitForDeath } from "../../../fixtures/process/wait-for-death.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("on purpose, while etcd is away: it lives on, and the run says what it could not do", async () => {
  const { etcd } = cluster;
  const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
  const daemon = createSleeper();
  const go = cluster.createPath();
  const job = `setsid ${daemon.words} >/dev/null 2>&1 & echo up; until [ -e ${go} ]; do sleep 0.02; done`;
  const run = namespace.startRun("--lock job", ["sh", "-c", job]);
  await run.waitForOutput("up");
  const pid = await waitUntil("a daemon", daemon.find);
  etcd.freeze();
  try {
    writeFileSync(go, "");
    expect(await run.ended).toExit(0, { stderr: "the claim was not freed" });
    expect(daemon.find()).toBe(pid);
  } finally {
    etcd.unfreeze();
  }
});

test.each(["SIGHUP", "SIGQUIT", "SIGUSR1"] as const)(
  "when %s ends it: the lock is free only when all of it has ended",
  async (signal) => {
    const namespace = cluster.createNamespace();
    const child = createSleeper();
    const slow = `sh -c 'trap "" HUP QUIT; trap "sleep 0.5; exit" TERM; echo up; ${child.words} & wait; wait'`;
    const run = namespace.startRun("--lock job", ["sh", "-c", `setsid ${slow} & wait`]);
    await run.waitForOutput("up");
    await waitUntil("a child", child.find);
    run.kill(signal);
    await namespace.waitForQueue("job", 0);
    expect(child.find(), "a child in a session of its own").toBeUndefined();
    await run.ended;
    await waitForDeath(run.mark, 5_000);
  },
);

test("a command that takes HUP as an order, and later ends by itself, leaves behind what it wants", async ({
  namespace,
}) => {
  const daemon = createSleeper();
  const go = cluster.createPath();
  const job =
    `trap "echo again" HUP; setsid ${daemon.words} >/dev/null 2>&1 & echo up;` +
    ` until [ -e ${go} ]; do sleep 0.02; done; exit 0`;
  const run = namespace.startRun("--lock job", ["sh", "-c", job]);
  await run.waitForOutput("up");
  await waitUntil("a daemon", daemon.find);
  run.kill("SIGHUP");
  await run.waitForOutput("again");
  writeFileSync(go, "");
  expect(await run.ended).toExit(0);
  expect(daemon.find()).toBeDefined();
});

test.each([
  ["dies of KILL", "kill -KILL $$"],
  ["dies of SEGV", "kill -SEGV $$"],
  ["exits with 137, as shells do when KILL ended a process", "exit 137"],
])(
  "a command that %s leaves nothing behind: the lock is free only when all of it has ended",
  async (_, end) => {
    const namespace = cluster.createNamespace();
    const child = createSleeper();
    const slow = `sh -c 'trap "sleep 0.5; exit" TERM; echo up; ${child.words} & wait; wait'`;
    const job = `setsid ${slow} & until [ -e go ]; do sleep 0.02; done; ${end}`;
    const go = cluster.createPath();
    const run = namespace.startRun("--lock job", ["sh", "-c", job.replace("go", go)]);
    await run.waitForOutput("up");
    await waitUntil("a child", child.find);
    writeFileSync(go, "");
    await namespace.waitForQueue("job", 0);
    expect(child.find(), "a child in a session of its own").toBeUndefined();
    expect(await run.ended).toMatchObject({ code: end.startsWith("kill -S") ? 139 : 137 });
  },
);
