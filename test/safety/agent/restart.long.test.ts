/** An agent that ends while jobs run and wait: none of them notices. */
import { rmSync, writeFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, SHORT_TTL_MS } from "../../../fixtures/cluster/test-namespace.ts";
import { waitForDeath } from "../../../fixtures/process/wait-for-death.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();

/** A job that holds a lock until its file is there, and one that waits for it. */
async function startTwo(host: HostAgent, options: readonly string[] = []) {
  const { jobs } = host;
  const first = await jobs.startHolder("first", ["--lock", "x", ...options]);
  const second = await jobs.startWaiter("second", "--lock x --wait");
  return { first, second };
}

const listPlaces = async (host: HostAgent) =>
  (await host.namespace.listTickets()).map(({ run, createRevision }) => `${run} ${createRevision}`);

/** Waits until another agent owns the sessions of all tickets. */
async function waitUntilAdopted(host: HostAgent) {
  const { namespace } = host;
  const pid = host.process.pid;
  await waitUntil("sessions of the new agent", async () => {
    const [tickets, all] = await Promise.all([namespace.listTickets(), namespace.listSharedSessions()]);
    return tickets.every(({ session }) => all.some((one) => one.id === session && one.pid === pid));
  });
}

describe.each(["SIGTERM", "SIGKILL", "SIGABRT"] as const)("the agent gets %s", (signal) => {
  test("and is started again: the job goes on, the waiter keeps its place", async () => {
    const host = await HostAgent.start(cluster);
    const { first, second } = await startTwo(host);
    const before = await listPlaces(host);
    await host.end(signal);
    await host.start();
    await waitUntilAdopted(host);
    expect(await listPlaces(host)).toEqual(before);
    expect(await first.finish()).toExit(0, { stderr: "" });
    expect(await second.ended).toExit(0, { stderr: "" });
    expect(host.jobs.journal.findOveruse()).toEqual([]);
    expect(await host.namespace.listTickets()).toEqual([]);
  });

  test("and is not started again: the job dies before its session expires, the waiter goes on without an agent", async () => {
    const host = await HostAgent.start(cluster, { ...SHORT_SESSIONS, SIGNALBOX_AGENT: "auto" });
    const { first, second } = await startTwo(host);
    await host.end(signal);
    expect(await first.ended).toExit(125);
    await waitForDeath(first.mark, 1_000);
    expect(await second.ended).toExit(0);
    expect(host.jobs.journal.findOveruse()).toEqual([]);
  });
});

test("etcd has no space when the agent is replaced: the job is reported as one that lost its claim", async () => {
  const host = await HostAgent.start(cluster);
  const { first } = await startTwo(host);
  await host.end("SIGKILL");
  await cluster.etcd.setAlarm("ACTIVATE");
  onTestFinished(() => cluster.etcd.setAlarm("DEACTIVATE"));
  await host.start();
  expect(await first.ended).toExit(125, { stderr: /cannot be resumed.*space exceeded.*the claim was lost/s });
  await waitForDeath(first.mark, 0);
});

test("the next agent cannot build the run from the present settings: the job is ended as one that lost its claim", async () => {
  const config = cluster.createPath(JSON.stringify({ macros: { GPUS: 2 } }));
  const host = await HostAgent.start(cluster, { SIGNALBOX_CONFIG: config });
  const { jobs } = host;
  const job = await jobs.startHolder("job", "--lease gpu=1:GPUS");
  await host.end("SIGKILL");
  writeFileSync(config, "{}");
  await host.start();
  expect(await job.ended).toExit(125, { stderr: "the command was killed" });
  await waitForDeath(job.mark, 0);
});

test("a job that ends while there is no agent: the next agent frees its lock", async () => {
  const host = await HostAgent.start(cluster);
  const { first, second } = await startTwo(host);
  await host.end();
  first.finish();
  await host.jobs.journal.waitForLine("first", "end");
  await host.start();
  expect(await first.ended).toExit(0, { stderr: "" });
  expect(await second.ended).toExit(0, { stderr: "" });
});

test("the agent is restarted three times, without pause", async () => {
  // Each agent may end before a guardian has reported to it, so all starts together must fit into one time to live.
  const host = await HostAgent.start(cluster);
  const { first, second } = await startTwo(host);
  for (let time = 0; time < 3; time++) {
    await host.end();
    await host.start();
  }
  expect(await first.finish()).toExit(0, { stderr: "" });
  expect(await second.ended).toExit(0, { stderr: "" });
});

test("frozen past the horizon: the job dies in time, and the agent serves again when it wakes up", async () => {
  const host = await HostAgent.start(cluster, SHORT_SESSIONS);
  const { namespace } = host;
  const { first } = await startTwo(host);
  host.signal("SIGSTOP");
  const direct = namespace.jobs.start("direct", "--lock x --wait", { env: { SIGNALBOX_AGENT: "never" } });
  await waitForDeath(first.mark, SHORT_TTL_MS, first.pid);
  expect(await direct.ended).toExit(0);
  host.signal("SIGCONT");
  expect(await first.ended).toExit(125);
  expect(await namespace.run("--lock y")).toExit(0, { stderr: "" });
  expect(namespace.jobs.journal.findOveruse()).toEqual([]);
});

test("a frozen agent, replaced: what it still does when it wakes up has no effect", async () => {
  const host = await HostAgent.start(cluster);
  const { first, second } = await startTwo(host);
  const old = host.process;
  host.signal("SIGSTOP");
  rmSync(host.socket); // its backlog would still accept connections
  await host.start();
  old.kill("SIGCONT");
  expect(await first.finish()).toExit(0, { stderr: "" });
  expect(await second.ended).toExit(0, { stderr: "" });
  await host.end("SIGTERM");
});

test("the session of an idle agent was lost: hosts show the agent again within about a minute", async () => {
  const { namespace } = await HostAgent.start(cluster);
  const waitForAgent = () =>
    waitUntil("an agent", async () => (await namespace.executeJson("ls hosts")).rows[0]?.agents[0], {
      every: 500,
    });
  await waitForAgent();
  const [former] = await namespace.listSharedSessions();
  expect(former).toBeDefined();
  await namespace.store.revoke(former?.id ?? 0n);
  await waitForAgent(); // nothing else than its regular report opens a session
  expect((await namespace.listSharedSessions()).map(({ id }) => id)).not.toContain(former?.id);
});
