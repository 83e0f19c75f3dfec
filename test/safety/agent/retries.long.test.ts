/** An agent that ends, freezes or is replaced while a run waits for its retry: the claim is kept or lost as while a command runs. */
import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { expireSession } from "../../../fixtures/cluster/expire-session.ts";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS } from "../../../fixtures/cluster/test-namespace.ts";
import { killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();

/** Starts a run whose command prints the number of the attempt, and fails with 7. Returns when it waits for its first retry. */
async function startFailing({ namespace }: HostAgent, wait: string, options: readonly string[] = []) {
  const words = ["-v", "--lock", "job", "--retries", "2", "--retry-wait", wait, ...options];
  const run = namespace.startRun(words, ["sh", "-c", 'echo "attempt $SIGNALBOX_ATTEMPT"; exit 7']);
  await run.waitForOutput("will be retried");
  return run;
}

const readTicket = async ({ namespace }: HostAgent) => (await namespace.readQueue("job"))[0];

/** Waits until an agent has taken over the session of the lock. */
const waitForTakeover = (host: HostAgent) =>
  waitUntil("a takeover", async () => {
    const [ticket, sessions] = [await readTicket(host), await host.namespace.listSharedSessions()];
    return sessions.some(({ id, pid }) => id === ticket?.session && pid === host.process.pid);
  });

describe.concurrent("in the wait for a retry", () => {
  test.each(["SIGTERM", "SIGKILL"] as const)(
    "the agent gets %s and is started again: the lock stays taken by the same run, and each attempt is made once",
    async (signal) => {
      const host = await HostAgent.start(cluster);
      const run = await startFailing(host, "4s");
      const before = await readTicket(host);
      await host.end(signal);
      await host.start();
      await waitForTakeover(host);
      expect((await readTicket(host))?.createRevision).toBe(before?.createRevision);
      expect(await host.namespace.run("--lock job", "echo other")).toExitSilently(75);
      expect(await run.ended).toExit(7, { stdout: /^attempt 1\nattempt 2\nattempt 3\n$/ });
      expect(await host.namespace.listTickets()).toEqual([]);
    },
  );

  test("the agent ends, and none follows: the result is that of the attempt, and nothing falls back", async () => {
    const host = await HostAgent.start(cluster, { ...SHORT_SESSIONS, SIGNALBOX_AGENT: "auto" });
    const run = await startFailing(host, "1h", ["--quiet-success"]);
    await host.end();
    expect(await run.ended).toExit(7, { stdout: /^attempt 1\n$/, stderr: /is not retried/ });
  });

  test("the agent ends, and TERM comes: the result is that of the attempt", async () => {
    const host = await HostAgent.start(cluster);
    const run = await startFailing(host, "1h");
    await host.end();
    run.kill("SIGTERM");
    expect(await run.ended).toExit(7);
  });

  test("the claim is gone when an agent is back: nothing is started beside the next holder", async () => {
    const host = await HostAgent.start(cluster);
    const run = await startFailing(host, "1s");
    await host.end();
    await expireSession(host.namespace, "job");
    const other = await host.namespace.startHolder("--lock job", { env: { SIGNALBOX_AGENT: "never" } });
    await host.start();
    expect(await run.ended).toExit(125, { stdout: /^attempt 1\n$/ });
    expect((await other.end()).code).toBe(143);
  });

  test("the agent freezes while its session ends: nothing is started when it continues", async () => {
    const host = await HostAgent.start(cluster, SHORT_SESSIONS);
    const run = await startFailing(host, "1s");
    host.signal("SIGSTOP");
    const other = await host.namespace.startHolder("--wait --lock job", {
      env: { SIGNALBOX_AGENT: "never" },
    });
    host.signal("SIGCONT");
    expect(await run.ended).toExit(125, { stdout: /^attempt 1\n$/ });
    await other.end();
  });

  test("a frozen agent is replaced: what it still does when it continues has no effect", async () => {
    const host = await HostAgent.start(cluster, SHORT_SESSIONS);
    const run = await startFailing(host, "1h");
    const old = host.process;
    host.signal("SIGSTOP");
    rmSync(host.socket);
    await host.start();
    const other = await host.namespace.startHolder("--wait --lock job"); // when the session has expired
    old.kill("SIGCONT");
    expect(await run.ended).toExit(125, { stdout: /^attempt 1\n$/ });
    expect((await other.end()).code).toBe(143);
    await host.end("SIGTERM");
  });

  test("the launcher freezes past the start of the retry: the attempt is made when it continues", async () => {
    const host = await HostAgent.start(cluster);
    const run = await startFailing(host, "1s");
    const later = performance.now() + 3_000;
    killProcess(run.pid, "SIGSTOP");
    await waitUntil("the order to start was sent", async () => performance.now() > later);
    expect(run.output.stdout).toBe("attempt 1\n");
    killProcess(run.pid, "SIGCONT");
    expect(await run.ended).toExit(7, { stdout: /^attempt 1\nattempt 2\nattempt 3\n$/ });
  });
});

/** Waits for a file in attempt 2, and fails. */
const startSecond = async ({ namespace }: HostAgent) => {
  const path = cluster.createPath("");
  const words = ["--lock", "job", "--retries", "2", "--retry-wait", "1ms"];
  const command = `echo "attempt $SIGNALBOX_ATTEMPT"; test $SIGNALBOX_ATTEMPT != 2 || while test -e ${path}; do sleep 0.05; done; exit 7`;
  const run = namespace.startRun(words, ["sh", "-c", command]);
  await run.waitForOutput("attempt 2");
  return { run, finish: () => rmSync(path) };
};

test("the agent is replaced while a retry runs: the next one counts on, with the same claim", async () => {
  const host = await HostAgent.start(cluster);
  const { run, finish } = await startSecond(host);
  await host.end();
  await host.start();
  await waitForTakeover(host);
  finish();
  expect(await run.ended).toExit(7, { stdout: /^attempt 1\nattempt 2\nattempt 3\n$/ });
  expect(await host.namespace.listTickets()).toEqual([]);
});

test("no agent comes back while a retry runs: it ends at its deadline, and is not retried", async () => {
  const host = await HostAgent.start(cluster, { ...SHORT_SESSIONS, SIGNALBOX_AGENT: "auto" });
  const { run } = await startSecond(host);
  await host.end();
  expect(await run.ended).toExit(125, { stdout: /^attempt 1\nattempt 2\n$/ });
  expect(listMarkedProcesses(run.mark)).toEqual([]);
});
