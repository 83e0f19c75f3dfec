import { afterAll, expect, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { MemoryCgroup, OBSTACLE } from "../../../fixtures/process/memory-cgroup.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cgroup = MemoryCgroup.create(`signalbox-test-${process.pid}`);
afterAll(() => cgroup?.remove()); // after the cluster, which ends the agents
const cluster = TestCluster.startForFile();
const MIB = 1024 * 1024;
/** Words of almost a mebibyte, which the agent keeps as long as it serves the run. */
const MANY_WORDS = Array(8).fill("x".repeat(120_000));
/** More such calls than an agent of this test has memory for. */
const CALLS = 60;

/** Starts a job that ends when its file is there, and runs that wait for its lock until the agent has ended. */
async function exhaust(host: HostAgent, isFull: () => boolean) {
  const { jobs } = host;
  const first = await jobs.startHolder("first", "--lock x");
  const waiting = [];
  for (let at = 0; at < CALLS && !isFull(); at++) {
    const name = `waiting${at}`;
    waiting.push(jobs.start(name, "--lock x --wait", { hold: [1, ...MANY_WORDS] }));
    const hasTicket = async () =>
      (await host.namespace.readQueue("x")).some(({ ticket }) => ticket?.label === name);
    await waitUntil(`a ticket of ${name}`, async () => isFull() || (await hasTicket()));
  }
  return { first, waiting };
}

/** Makes calls until the agent dies, and starts another one. @returns how the first one ended */
async function replaceExhausted(host: HostAgent) {
  const { namespace } = host;
  let hasEnded = false;
  const ended = host.process.ended.finally(() => {
    hasEnded = true;
  });
  const { first, waiting } = await exhaust(host, () => hasEnded);
  const end = await ended;
  expect(waiting.length).toBeGreaterThan(5); // it has served some before
  await host.start();
  first.finish();
  for (const run of [first, ...waiting.slice(0, -1)]) expect(await run.ended).toExitSilently(0);
  expect(await waiting.at(-1)?.ended).toExit(0); // the agent may not have accepted it
  const { journal } = namespace.jobs;
  const started = journal.listNames();
  expect(started).toEqual(["first", ...waiting.map((_, at) => `waiting${at}`)]);
  expect(journal.findOveruse()).toEqual([]);
  expect(await namespace.listTickets()).toEqual([]);
  return end;
}

const ENV = { SIGNALBOX_TTL: "30s", SIGNALBOX_AGENT: "auto" };

const skipped = cgroup === undefined ? ` (skipped: ${OBSTACLE})` : "";
test.skipIf(skipped !== "")(`the kernel kills it at the limit of its cgroup${skipped}`, async () => {
  const host = await HostAgent.start(cluster, ENV, { before: cgroup?.before ?? [] });
  cgroup?.limitGrowth(40 * MIB);
  expect(await replaceExhausted(host)).toMatchObject({ signal: "SIGKILL" });
  expect(cgroup?.countKills()).toBe(1);
});

test("V8 ends it at the limit of its heap", async () => {
  const host = await HostAgent.start(cluster, ENV, { env: { NODE_OPTIONS: "--max-old-space-size=40" } });
  const { signal, stderr } = await replaceExhausted(host);
  expect([signal, stderr]).toEqual(["SIGABRT", expect.stringContaining("heap out of memory")]);
});
